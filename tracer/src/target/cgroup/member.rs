//! Which processes are in a cgroup: by its path, in any hierarchy that it is in.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use thiserror::Error;

use super::places::{Hierarchy, hierarchies};

/// A cgroup that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupPath {
    /// Its path as `/proc/PID/cgroup` has it.
    cgroup: String,
    /// Where it is.
    places: Vec<InHierarchy>,
}

/// The cgroup in one hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct InHierarchy {
    /// The controllers as `/proc/PID/cgroup` names them, empty for version 2.
    controllers: String,
    folder: PathBuf,
}

impl CgroupPath {
    /// For messages.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.cgroup
    }

    /// The processes that are in it now, and in those below it, in the tracer's pid namespace.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        let mut found = BTreeSet::new();
        let mut folders: Vec<PathBuf> = self.places.iter().map(|place| place.folder.clone()).collect();
        while let Some(folder) = folders.pop() {
            // A process of another pid namespace has the id 0 there.
            let ids = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            found.extend(ids.lines().filter_map(|id| id.parse::<u32>().ok()).filter(|id| *id != 0));
            let below = fs::read_dir(&folder).into_iter().flatten().flatten();
            folders.extend(
                below
                    .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                    .map(|entry| entry.path()),
            );
        }
        found.into_iter().collect()
    }
}

/// There is no such cgroup.
#[derive(Debug, Error)]
#[error(
    "there is no cgroup {path} in the mounted hierarchies ({looked}); give its folder, such as \
     /sys/fs/cgroup/system.slice/x.service, or its path as `cat /proc/PID/cgroup` shows it"
)]
pub struct CgroupPathError {
    path: String,
    looked: String,
}

/// The cgroup with this folder, or with this path in `/proc/PID/cgroup`.
///
/// # Errors
/// When there is none.
pub fn resolve_cgroup(path: &Path) -> Result<CgroupPath, CgroupPathError> {
    let hierarchies = hierarchies(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default());
    resolve_in(path, &hierarchies, |folder| folder.join("cgroup.procs").is_file())
}

fn resolve_in(
    path: &Path,
    all: &[Hierarchy],
    exists: impl Fn(&Path) -> bool,
) -> Result<CgroupPath, CgroupPathError> {
    // By its folder: the one hierarchy that is mounted there, the innermost one if one is mounted inside of another.
    let folder = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let by_folder = all
        .iter()
        .filter_map(|hierarchy| Some((hierarchy, folder.strip_prefix(&hierarchy.mount).ok()?)))
        .max_by_key(|(hierarchy, _)| hierarchy.mount.as_os_str().len());
    if let Some((hierarchy, below)) = by_folder
        && exists(&folder)
    {
        let cgroup = Path::new(&hierarchy.root).join(below);
        let place = InHierarchy { controllers: hierarchy.controllers.clone(), folder };
        return Ok(CgroupPath { cgroup: shown(&cgroup), places: vec![place] });
    }
    // By its path: in every hierarchy that has it.
    let cgroup = Path::new("/").join(path);
    let having = all.iter().filter_map(|hierarchy| {
        let folder = hierarchy.mount.join(cgroup.strip_prefix(&hierarchy.root).ok()?);
        exists(&folder).then(|| InHierarchy { controllers: hierarchy.controllers.clone(), folder })
    });
    let places: Vec<InHierarchy> = having.collect();
    if places.is_empty() {
        let looked: Vec<_> = all.iter().map(|hierarchy| hierarchy.mount.display().to_string()).collect();
        return Err(CgroupPathError {
            path: path.display().to_string(),
            looked: if looked.is_empty() { "none".to_owned() } else { looked.join(", ") },
        });
    }
    Ok(CgroupPath { cgroup: shown(&cgroup), places })
}

/// Without a slash at the end, which a folder can be typed with.
fn shown(cgroup: &Path) -> String {
    cgroup.components().collect::<PathBuf>().to_string_lossy().into_owned()
}

/// Whether the process is in the cgroup, or in one below it. `false` also when it is gone.
#[must_use]
pub fn is_in_cgroup(pid: u32, cgroup: &CgroupPath) -> bool {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).is_ok_and(|lines| holds(&lines, cgroup))
}

fn holds(lines: &str, wanted: &CgroupPath) -> bool {
    lines.lines().any(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { return false };
        wanted.places.iter().any(|place| place.controllers == controllers)
            && Path::new(path).starts_with(&wanted.cgroup)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 none rw
32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup none rw,cpu,cpuacct
33 30 0:29 /docker/ab /sys/fs/cgroup/memory rw - cgroup none rw,memory";

    fn resolve(path: &str, existing: &[&str]) -> Result<CgroupPath, CgroupPathError> {
        resolve_in(Path::new(path), &hierarchies(MOUNTS), |folder| {
            existing.iter().any(|one| Path::new(one) == folder)
        })
    }

    #[test]
    fn a_folder_and_a_path_name_the_same() {
        let folder = "/sys/fs/cgroup/unified/a.slice/b.service";
        for path in [folder, "/sys/fs/cgroup/unified/a.slice/b.service/", "/a.slice/b.service"] {
            let found = resolve(path, &[folder]).unwrap();
            assert_eq!((found.shown(), found.places.len()), ("/a.slice/b.service", 1));
            assert!(found.places[0].controllers.is_empty() && found.places[0].folder == Path::new(folder));
            assert!(holds("3:cpu,cpuacct:/x\n0::/a.slice/b.service\n", &found));
            assert!(holds("0::/a.slice/b.service/below", &found));
            assert!(!holds("0::/a.slice/b.service2", &found));
            assert!(!holds("3:cpu,cpuacct:/a.slice/b.service", &found), "another hierarchy");
        }
    }

    #[test]
    fn a_path_counts_in_each_hierarchy_that_has_it() {
        let existing = ["/sys/fs/cgroup/unified/x", "/sys/fs/cgroup/cpu,cpuacct/x"];
        let found = resolve("/x", &existing).unwrap();
        assert!(holds("0::/x", &found) && holds("3:cpu,cpuacct:/x", &found) && !holds("4:memory:/x", &found));
    }

    #[test]
    fn a_mount_that_shows_a_part_is_below_its_root() {
        let found = resolve("/sys/fs/cgroup/memory/inner", &["/sys/fs/cgroup/memory/inner"]).unwrap();
        assert_eq!(found.shown(), "/docker/ab/inner");
        let found = resolve("/docker/ab/inner", &["/sys/fs/cgroup/memory/inner"]).unwrap();
        assert!(holds("4:memory:/docker/ab/inner/x", &found));
    }

    #[test]
    fn the_root_holds_everything() {
        let found = resolve("/sys/fs/cgroup/unified", &["/sys/fs/cgroup/unified"]).unwrap();
        assert!(holds("0::/", &found) && holds("0::/a/b", &found));
    }

    #[test]
    fn none_is_an_error_that_says_where_it_was_looked_for() {
        let error = resolve("/nowhere", &[]).unwrap_err().to_string();
        assert!(error.contains("/nowhere") && error.contains("cpu,cpuacct"), "{error}");
    }
}
