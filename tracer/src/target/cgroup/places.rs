//! The target's cgroups in the mounted hierarchies of a controller.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A cgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::target) struct Place {
    /// Its folder in a mounted hierarchy.
    pub(in crate::target) folder: PathBuf,
    /// Its own path, as `/proc/PID/cgroup` has it.
    pub(in crate::target) cgroup: String,
}

impl Place {
    /// The contents of one of its files.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok()
    }
}

/// The process's cgroups with the controller, and those above them; the own ones first. Empty also when no hierarchy with
/// the controller is mounted.
///
/// # Errors
/// When `/proc` can't be read.
pub(super) fn places_of(pid: u32, controller: &str) -> io::Result<Vec<Place>> {
    Ok(hierarchies_of(pid, controller)?.into_iter().flatten().collect())
}

/// The same, for each hierarchy by itself: the process's cgroup comes first, the root last.
///
/// # Errors
/// When `/proc` can't be read.
pub(in crate::target) fn hierarchies_of(pid: u32, controller: &str) -> io::Result<Vec<Vec<Place>>> {
    let cgroups = fs::read_to_string(format!("/proc/{pid}/cgroup"))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    Ok(places(&cgroups, &mounts, controller).iter().map(ancestors).collect())
}

/// The process's cgroups with the controller, where they are mounted.
fn places(cgroups: &str, mounts: &str, wanted: &str) -> Vec<Place> {
    let mut found = Vec::new();
    for line in cgroups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|controller| controller == wanted) {
            continue;
        }
        if let Some((mount, root)) = mounts.lines().find_map(|line| mounted(line, unified, wanted)) {
            // A mount can show a part of the hierarchy: what is not below its root can't be seen.
            let Some(below) = path.strip_prefix(root.trim_end_matches('/')) else { continue };
            let folder = Path::new(&mount).join(below.trim_start_matches('/'));
            found.push(Place { folder, cgroup: path.to_owned() });
        }
    }
    found
}

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    /// Where it is mounted.
    pub(super) mount: PathBuf,
    /// The cgroup that is seen there.
    pub(super) root: String,
    /// Its controllers (or its name) as `/proc/PID/cgroup` has them; empty for version 2.
    pub(super) controllers: String,
}

/// All hierarchies in a mountinfo file.
pub(super) fn hierarchies(mounts: &str) -> Vec<Hierarchy> {
    let hierarchy = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (root, mount) = (unescape(before.next()?), unescape(before.next()?));
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1)?);
        let controllers = match kind {
            "cgroup2" => String::new(),
            "cgroup" => {
                // A hierarchy with a name and without controllers is `name=x` in both.
                let controllers = options.split(',').filter(|option| !is_option(option));
                controllers.collect::<Vec<_>>().join(",")
            }
            _ => return None,
        };
        Some(Hierarchy { mount: PathBuf::from(mount), root, controllers })
    };
    mounts.lines().filter_map(hierarchy).collect()
}

fn is_option(option: &str) -> bool {
    NO_CONTROLLERS.contains(&option) || option.starts_with("release_agent=")
}

/// Options of a mounted hierarchy that are no controllers.
const NO_CONTROLLERS: [&str; 8] =
    ["rw", "ro", "xattr", "noprefix", "clone_children", "cpuset_v2_mode", "nsdelegate", "favordynmods"];

/// The mount point and root of a line of mountinfo, when it is a hierarchy with the controller.
fn mounted(line: &str, unified: bool, wanted: &str) -> Option<(String, String)> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let (root, mount) = (before.next()?, before.next()?);
    let mut after = after.split(' ');
    let (kind, options) = (after.next()?, after.nth(1)?);
    let fits = if unified {
        kind == "cgroup2"
    } else {
        kind == "cgroup" && options.split(',').any(|option| option == wanted)
    };
    fits.then(|| (unescape(mount), unescape(root)))
}

/// Blanks are `\040` there.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

/// The cgroup and those above it that are mounted.
fn ancestors(place: &Place) -> Vec<Place> {
    let depth = place.cgroup.split('/').filter(|part| !part.is_empty()).count();
    place
        .folder
        .ancestors()
        .zip(Path::new(&place.cgroup).ancestors())
        .take(depth + 1)
        .map(|(folder, cgroup)| Place {
            folder: folder.to_owned(),
            cgroup: cgroup.to_string_lossy().into_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
30 24 0:26 / /sys/fs/cgroup rw - tmpfs none rw
31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 none rw
32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup none rw,cpu,cpuacct
33 30 0:29 / /sys/fs/cgroup/mem\\040ory rw - cgroup none rw,memory";

    #[test]
    fn each_hierarchy_with_the_controller_is_found() {
        let cgroups = "4:memory:/m\n3:cpu,cpuacct:/a/b\n0::/u\nodd\n";
        let found = places(cgroups, MOUNTS, "cpu");
        let folders: Vec<_> = found.iter().map(|place| place.folder.to_string_lossy().into_owned()).collect();
        assert_eq!(folders, ["/sys/fs/cgroup/cpu,cpuacct/a/b", "/sys/fs/cgroup/unified/u"]);
        let memory = places(cgroups, MOUNTS, "memory");
        assert_eq!(memory[0].folder.to_string_lossy(), "/sys/fs/cgroup/mem ory/m");
        let above: Vec<_> = ancestors(&found[0]).into_iter().map(|place| place.cgroup).collect();
        assert_eq!(above, ["/a/b", "/a", "/"]);
    }
}
