//! CPU throttling of the target's cgroups over time: read often enough to say it of a single pause.

use std::collections::VecDeque;

use crate::{
    clock::monotonic_ns,
    pause::Throttling,
    target::{CpuQuota, Throttled},
};

/// Readings kept: a minute of them.
const KEPT: usize = 3000;

/// Readings of one cgroup.
#[derive(Debug)]
struct Readings {
    quota: CpuQuota,
    /// When, `CLOCK_MONOTONIC` in ns, and what; ordered by time.
    at: VecDeque<(u64, Throttled)>,
    first: Option<(u64, Throttled)>,
}

/// Watches all quotas that bind the target.
#[derive(Debug)]
pub(super) struct Watch(Vec<Readings>);

impl Watch {
    /// Looks for quotas, and reads them for the first time. A target without any costs nothing later on.
    pub(super) fn new(pid: u32) -> Self {
        let quotas = CpuQuota::of(pid).unwrap_or_default();
        let mut watch = Self(
            quotas.into_iter().map(|quota| Readings { quota, at: VecDeque::new(), first: None }).collect(),
        );
        watch.read();
        watch
    }

    /// Reads all counts.
    pub(super) fn read(&mut self) {
        for readings in &mut self.0 {
            let Some(throttled) = readings.quota.throttled() else { continue };
            let reading = (monotonic_ns(), throttled);
            readings.first.get_or_insert(reading);
            if readings.at.len() >= KEPT {
                readings.at.pop_front();
            }
            readings.at.push_back(reading);
        }
    }

    /// What was throttled around this time: between the last reading before it and the first one after it. The most
    /// throttled cgroup is told; `None` when none was.
    pub(super) fn around(&self, from_ns: u64, to_ns: u64) -> Option<Throttling> {
        let of = |readings: &Readings| {
            let before = readings.at.iter().rev().find(|(at, _)| *at <= from_ns)?;
            let after = readings.at.iter().find(|(at, _)| *at >= to_ns)?;
            difference(readings, *before, *after)
        };
        self.0.iter().filter_map(of).max_by_key(|throttling| throttling.ns)
    }

    /// What was throttled over the whole trace.
    pub(super) fn whole(&self) -> Option<Throttling> {
        let of = |readings: &Readings| difference(readings, readings.first?, *readings.at.back()?);
        self.0.iter().filter_map(of).max_by_key(|throttling| throttling.ns)
    }
}

fn difference(readings: &Readings, before: (u64, Throttled), after: (u64, Throttled)) -> Option<Throttling> {
    let times = after.1.times.checked_sub(before.1.times)?;
    let ns = after.1.ns.saturating_sub(before.1.ns);
    (times > 0 || ns > 0).then(|| Throttling {
        cgroup: readings.quota.cgroup().to_owned(),
        times,
        ns,
        over_ns: after.0 - before.0,
    })
}
