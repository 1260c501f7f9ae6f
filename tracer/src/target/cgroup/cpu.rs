//! The target's CPU quota: which of its cgroups has one, and how often it was used up.

use std::io;

use super::places::{Place, places_of};

/// One cgroup whose CPU time is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuQuota(Place);

/// What the kernel has counted of a quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Periods in which it was used up.
    pub times: u64,
    /// How long CPUs were held back in all, in ns.
    pub ns: u64,
}

impl CpuQuota {
    /// Every cgroup of the process, its own and those above, that has a quota.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn of(pid: u32) -> io::Result<Vec<Self>> {
        Ok(places_of(pid, "cpu")?.into_iter().filter(has_quota).map(Self).collect())
    }

    /// The cgroup's own path.
    #[must_use]
    pub fn cgroup(&self) -> &str {
        &self.0.cgroup
    }

    /// Reads the counts; `None` when the cgroup is gone.
    #[must_use]
    pub fn throttled(&self) -> Option<Throttled> {
        parse_stat(&self.0.read("cpu.stat")?)
    }
}

fn has_quota(place: &Place) -> bool {
    let v2 = place.read("cpu.max").is_some_and(|text| !text.starts_with("max"));
    let v1 = place.read("cpu.cfs_quota_us");
    v2 || v1.is_some_and(|text| text.trim().parse::<i64>().is_ok_and(|quota| quota > 0))
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

    #[test]
    fn counts_of_both_versions_are_read() {
        let v1 = parse_stat("nr_periods 10\nnr_throttled 3\nthrottled_time 70000000\n");
        assert_eq!(v1, Some(Throttled { times: 3, ns: 70_000_000 }));
        let v2 = parse_stat("usage_usec 5\nnr_periods 10\nnr_throttled 3\nthrottled_usec 70000\n");
        assert_eq!(v2, v1);
        assert_eq!(parse_stat("usage_usec 5\n"), None);
    }
}
