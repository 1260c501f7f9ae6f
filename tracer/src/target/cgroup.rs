//! The target's CPU quota: which of its cgroups has one, and how often it was used up.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// One cgroup whose CPU time is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuQuota {
    /// The cgroup's folder in a mounted hierarchy.
    folder: PathBuf,
    /// The cgroup's own path, as `/proc/PID/cgroup` has it.
    pub cgroup: String,
}

/// What the kernel has counted of a quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Periods in which it was used up.
    pub times: u64,
    /// How long CPUs were held back in all, in ns.
    pub ns: u64,
}

impl CpuQuota {
    /// Every cgroup of the process, its own and those above, that has a quota. Empty also when no hierarchy with the cpu
    /// controller is mounted.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn of(pid: u32) -> io::Result<Vec<Self>> {
        let cgroups = fs::read_to_string(format!("/proc/{pid}/cgroup"))?;
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        Ok(places(&cgroups, &mounts)
            .into_iter()
            .flat_map(|place| ancestors(&place))
            .filter(|place| has_quota(&place.folder))
            .collect())
    }

    /// Reads the counts; `None` when the cgroup is gone.
    #[must_use]
    pub fn throttled(&self) -> Option<Throttled> {
        parse_stat(&fs::read_to_string(self.folder.join("cpu.stat")).ok()?)
    }
}

/// The process's cgroups with the cpu controller, where they are mounted.
fn places(cgroups: &str, mounts: &str) -> Vec<CpuQuota> {
    let mut found = Vec::new();
    for line in cgroups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|controller| controller == "cpu") {
            continue;
        }
        if let Some((mount, root)) = mounts.lines().find_map(|line| mounted(line, unified)) {
            // A mount can show a part of the hierarchy: what is not below its root can't be seen.
            let Some(below) = path.strip_prefix(root.trim_end_matches('/')) else { continue };
            let folder = Path::new(&mount).join(below.trim_start_matches('/'));
            found.push(CpuQuota { folder, cgroup: path.to_owned() });
        }
    }
    found
}

/// The mount point and root of a line of mountinfo, when it is a hierarchy with the cpu controller.
fn mounted(line: &str, unified: bool) -> Option<(String, String)> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let (root, mount) = (before.next()?, before.next()?);
    let mut after = after.split(' ');
    let (kind, options) = (after.next()?, after.nth(1)?);
    let fits = if unified {
        kind == "cgroup2"
    } else {
        kind == "cgroup" && options.split(',').any(|option| option == "cpu")
    };
    fits.then(|| (unescape(mount), unescape(root)))
}

/// Blanks are `\040` there.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

/// The cgroup and those above it that are mounted.
fn ancestors(place: &CpuQuota) -> Vec<CpuQuota> {
    let depth = place.cgroup.split('/').filter(|part| !part.is_empty()).count();
    place
        .folder
        .ancestors()
        .zip(Path::new(&place.cgroup).ancestors())
        .take(depth + 1)
        .map(|(folder, cgroup)| CpuQuota {
            folder: folder.to_owned(),
            cgroup: cgroup.to_string_lossy().into_owned(),
        })
        .collect()
}

fn has_quota(folder: &Path) -> bool {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let v2 = read("cpu.max").is_some_and(|text| !text.starts_with("max"));
    let v1 =
        read("cpu.cfs_quota_us").is_some_and(|text| text.trim().parse::<i64>().is_ok_and(|quota| quota > 0));
    v1 || v2
}

/// `nr_throttled`, and `throttled_usec` (v2) or `throttled_time` (v1, in ns).
fn parse_stat(text: &str) -> Option<Throttled> {
    let value = |name: &str| {
        let line = text.lines().find(|line| line.split(' ').next() == Some(name))?;
        line.split(' ').nth(1)?.parse::<u64>().ok()
    };
    let ns = value("throttled_time").or_else(|| value("throttled_usec").map(|us| us.saturating_mul(1000)));
    Some(Throttled { times: value("nr_throttled")?, ns: ns.unwrap_or(0) })
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
        let found = places(cgroups, MOUNTS);
        let folders: Vec<_> = found.iter().map(|place| place.folder.to_string_lossy().into_owned()).collect();
        assert_eq!(folders, ["/sys/fs/cgroup/cpu,cpuacct/a/b", "/sys/fs/cgroup/unified/u"]);
        let above: Vec<_> = ancestors(&found[0]).into_iter().map(|place| place.cgroup).collect();
        assert_eq!(above, ["/a/b", "/a", "/"]);
    }

    #[test]
    fn counts_of_both_versions_are_read() {
        let v1 = parse_stat("nr_periods 10\nnr_throttled 3\nthrottled_time 70000000\n");
        assert_eq!(v1, Some(Throttled { times: 3, ns: 70_000_000 }));
        let v2 = parse_stat("usage_usec 5\nnr_periods 10\nnr_throttled 3\nthrottled_usec 70000\n");
        assert_eq!(v2, v1);
        assert_eq!(parse_stat("usage_usec 5\n"), None);
    }
}
