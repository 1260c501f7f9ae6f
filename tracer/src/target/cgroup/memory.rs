//! The target's memory limit: which of its cgroups has one, how near it is, and how often it was hit.

use std::io;

use super::places::{Place, places_of};

/// A limit of at least this is none (v1 shows the largest number of pages there is).
pub(in crate::target) const UNLIMITED_BYTES: u64 = 1 << 62;

/// One cgroup whose memory is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    place: Place,
    /// The lower one of its limits (v2: `memory.high`, `memory.max`), in bytes.
    pub limit_bytes: u64,
}

/// What the kernel says of a limit at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// What the cgroup uses, in bytes.
    pub used_bytes: u64,
    /// How often it was at its limit and had to free memory.
    pub hits: u64,
}

impl MemoryLimit {
    /// Every cgroup of the process, its own and those above, that has a limit.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn of(pid: u32) -> io::Result<Vec<Self>> {
        let limited = |place: Place| limit_bytes(&place).map(|limit_bytes| Self { place, limit_bytes });
        Ok(places_of(pid, "memory")?.into_iter().filter_map(limited).collect())
    }

    /// The cgroup's own path.
    #[must_use]
    pub fn cgroup(&self) -> &str {
        &self.place.cgroup
    }

    /// Reads its use; `None` when the cgroup is gone.
    #[must_use]
    pub fn read(&self) -> Option<MemoryUse> {
        let number = |name: &str| self.place.read(name)?.trim().parse().ok();
        let v1 = || {
            Some(MemoryUse { used_bytes: number("memory.usage_in_bytes")?, hits: number("memory.failcnt")? })
        };
        let v2 = || {
            let hits = parse_events(&self.place.read("memory.events")?);
            Some(MemoryUse { used_bytes: number("memory.current")?, hits })
        };
        v1().or_else(v2)
    }
}

fn limit_bytes(place: &Place) -> Option<u64> {
    ["memory.limit_in_bytes", "memory.max", "memory.high"]
        .iter()
        .filter_map(|name| place.read(name)?.trim().parse::<u64>().ok())
        .filter(|bytes| *bytes < UNLIMITED_BYTES)
        .min()
}

/// How often `high` and `max` were reached.
fn parse_events(text: &str) -> u64 {
    let value = |line: &str| match line.split_once(' ') {
        Some(("high" | "max", value)) => value.trim().parse().unwrap_or(0),
        _ => 0,
    };
    text.lines().map(value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_limits_count() {
        assert_eq!(parse_events("low 5\nhigh 3\nmax 4\noom 9\noom_kill 0\n"), 7);
        assert_eq!(parse_events(""), 0);
    }
}
