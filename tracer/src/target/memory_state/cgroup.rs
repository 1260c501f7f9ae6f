//! A memory cgroup: what it uses, and the least limit of it and those above it.
//!
//! Version 2 has a file for each thing. Version 1 has usage and limit, and the same of memory and swap together
//! (`memory.memsw.*`, where swap is accounted for): what is in swap is the difference, without pages that are in memory
//! as well. It has no limit of swap alone and no `memory.high`; those are absent.

use super::{model::Cgroup, pressure, source::Source};
use crate::target::cgroup::{Place, UNLIMITED_BYTES, hierarchies_of};

/// The files that tell of it, kept open.
#[derive(Debug)]
pub(super) struct CgroupMemory {
    path: String,
    used: Source,
    swapped: Option<Source>,
    /// Version 1: memory and swap together.
    used_and_swapped: Option<Source>,
    pressure: Option<Source>,
    high: Vec<Source>,
    max: Vec<Source>,
    swap_max: Vec<Source>,
}

impl CgroupMemory {
    /// The process's; `None` when none can be seen.
    pub(super) fn of(pid: u32) -> Option<Self> {
        hierarchies_of(pid, "memory").ok()?.iter().find_map(|places| Self::in_hierarchy(places))
    }

    /// `places`: the process's cgroup in a hierarchy, and those above it. The process's memory is accounted for in the
    /// first of them that has the controller.
    fn in_hierarchy(places: &[Place]) -> Option<Self> {
        let open = |place: &Place, name: &str| Source::open(&place.folder.join(name));
        let (index, used) = places.iter().enumerate().find_map(|(index, place)| {
            let used = open(place, "memory.current").or_else(|| open(place, "memory.usage_in_bytes"))?;
            Some((index, used))
        })?;
        let places = &places[index..];
        let own = places.first()?;
        let all = |names: &[&str]| {
            let of_names = |place: &Place| names.iter().find_map(|name| open(place, name));
            places.iter().filter_map(of_names).collect()
        };
        Some(Self {
            path: own.cgroup.clone(),
            used,
            swapped: open(own, "memory.swap.current"),
            used_and_swapped: open(own, "memory.memsw.usage_in_bytes"),
            pressure: open(own, "memory.pressure"),
            high: all(&["memory.high"]),
            max: all(&["memory.max", "memory.limit_in_bytes"]),
            swap_max: all(&["memory.swap.max"]),
        })
    }

    /// Reads them; `None` when the cgroup is gone.
    pub(super) fn read(&self, buffer: &mut Vec<u8>) -> Option<Cgroup> {
        let used = self.used.number(buffer)?;
        let number = |source: &Option<Source>, buffer: &mut Vec<u8>| source.as_ref()?.number(buffer);
        let both = number(&self.used_and_swapped, buffer);
        let swapped = number(&self.swapped, buffer);
        let pressure = self.pressure.as_ref().and_then(|file| file.read(buffer)).and_then(pressure::parse);
        let mut least = |limits: &[Source]| {
            let limits = limits.iter().filter_map(|limit| limit.number(buffer));
            limits.filter(|bytes| *bytes < UNLIMITED_BYTES).min()
        };
        Some(Cgroup {
            path: self.path.clone(),
            used_bytes: Some(used),
            high_bytes: least(&self.high),
            max_bytes: least(&self.max),
            // The two are read one after the other, so a little can seem to be negative.
            swapped_bytes: swapped.or_else(|| both.map(|both| both.saturating_sub(used))),
            swap_max_bytes: least(&self.swap_max),
            pressure,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    /// A folder that looks like a cgroup.
    fn place(root: &Path, path: &str, files: &[(&str, &str)]) -> Place {
        let folder = root.join(path);
        fs::create_dir_all(&folder).unwrap();
        for (name, contents) in files {
            fs::write(folder.join(name), contents).unwrap();
        }
        Place { folder, cgroup: format!("/{path}") }
    }

    #[test]
    fn limits_above_bind_as_well_and_files_that_are_missing_are_absent() {
        let root = tempfile::tempdir().unwrap();
        let pressure = "some avg10=2.00 avg60=0 avg300=0 total=5\nfull avg10=0 avg60=0 avg300=0 total=4\n";
        let places = [
            // The controller is not on here.
            place(root.path(), "a/b/c", &[("memory.pressure", "some avg10=9.00 total=9\n")]),
            place(
                root.path(),
                "a/b",
                &[
                    ("memory.current", "1000\n"),
                    ("memory.max", "max\n"),
                    ("memory.high", "5000\n"),
                    ("memory.swap.current", "0\n"),
                    ("memory.swap.max", "7000\n"),
                    ("memory.pressure", pressure),
                ],
            ),
            place(
                root.path(),
                "a",
                &[
                    ("memory.current", "9000\n"),
                    ("memory.max", "9999\n"),
                    ("memory.high", "max\n"),
                    ("memory.swap.max", "6000\n"),
                ],
            ),
            place(root.path(), "", &[]),
        ];
        let cgroup = CgroupMemory::in_hierarchy(&places).unwrap();
        let read = cgroup.read(&mut Vec::new()).unwrap();
        let expected = Cgroup {
            path: "/a/b".to_owned(),
            used_bytes: Some(1000),
            high_bytes: Some(5000),
            max_bytes: Some(9999),
            swapped_bytes: Some(0),
            swap_max_bytes: Some(6000),
            pressure: pressure::parse(pressure.as_bytes()),
        };
        assert_eq!(read, expected);
        assert!(expected.pressure.is_some());
    }

    #[test]
    fn version_1_has_swap_as_a_difference_and_its_largest_number_is_no_limit() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("memory.usage_in_bytes", "4096\n"),
            ("memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory.memsw.usage_in_bytes", "12288\n"),
        ];
        let places = [place(root.path(), "m", &files)];
        let read = CgroupMemory::in_hierarchy(&places).unwrap().read(&mut Vec::new()).unwrap();
        assert_eq!((read.used_bytes, read.swapped_bytes), (Some(4096), Some(8192)));
        assert_eq!((read.max_bytes, read.high_bytes, read.swap_max_bytes), (None, None, None));
        fs::remove_file(root.path().join("m/memory.memsw.usage_in_bytes")).unwrap();
        let read = CgroupMemory::in_hierarchy(&places).unwrap().read(&mut Vec::new()).unwrap();
        assert_eq!(read.swapped_bytes, None);
    }
}
