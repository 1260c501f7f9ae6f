//! The memory limit of the target's cgroups over the trace.

use crate::{
    pause::MemoryPressure,
    target::{MemoryLimit, MemoryUse},
};

/// The limits as they were at the trace's start.
#[derive(Debug)]
pub(super) struct LimitsAtStart(Vec<(MemoryLimit, MemoryUse)>);

impl LimitsAtStart {
    pub(super) fn of(pid: u32) -> Self {
        let limits = MemoryLimit::of(pid).unwrap_or_default();
        Self(limits.into_iter().filter_map(|limit| limit.read().map(|read| (limit, read))).collect())
    }

    /// The one that was hit most often since, or else the one that is nearest to being hit. `None` without limits.
    pub(super) fn now(&self) -> Option<MemoryPressure> {
        let pressure = |(limit, before): &(MemoryLimit, MemoryUse)| {
            let now = limit.read()?;
            Some(MemoryPressure {
                cgroup: limit.cgroup().to_owned(),
                limit_bytes: limit.limit_bytes,
                used_bytes: now.used_bytes,
                hits: now.hits.saturating_sub(before.hits),
            })
        };
        let free_bytes = |pressure: &MemoryPressure| pressure.limit_bytes.saturating_sub(pressure.used_bytes);
        self.0
            .iter()
            .filter_map(pressure)
            .max_by_key(|pressure| (pressure.hits, std::cmp::Reverse(free_bytes(pressure))))
    }
}
