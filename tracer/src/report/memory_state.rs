//! The state of memory that a pause is read against: as it was at the pause's end, and what had changed until then.

use serde::{Deserialize, Serialize};

pub use crate::target::{Cgroup, Pressure, Stalls, System};

/// The state of memory at a pause's end, or as it was read last before that.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct MemoryState {
    /// When it was read, from the start of the trace.
    pub at_ns: i64,
    /// Resident memory of the process (`VmRSS`); `null` when it could not be read, as everywhere here.
    pub resident_bytes: Option<u64>,
    /// Its memory in swap (`VmSwap`).
    pub swapped_bytes: Option<u64>,
    /// Its memory cgroup.
    pub cgroup: Option<Cgroup>,
    /// The host.
    pub system: Option<System>,
    /// What had happened since it was read the time before; `null` when this was the first time.
    pub since: Option<Since>,
}

/// What happened between two readings.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Since {
    /// The time between them.
    pub ns: u64,
    /// What the host read from swap.
    pub swapped_in_bytes: Option<u64>,
    /// What it wrote to swap.
    pub swapped_out_bytes: Option<u64>,
    /// How long at least one task of the cgroup stalled on memory.
    pub cgroup_stalled_ns: Option<u64>,
    /// How long at least one task of the host did.
    pub system_stalled_ns: Option<u64>,
}

impl MemoryState {
    /// What had changed since `before`, which was read earlier; `None` when it was not.
    #[must_use]
    pub fn since(&self, before: &Self) -> Option<Since> {
        let ns = i128::from(self.at_ns) - i128::from(before.at_ns);
        let ns = u64::try_from(ns).ok().filter(|ns| *ns > 0)?;
        let systems = self.system.as_ref().zip(before.system.as_ref());
        let cgroups = self.cgroup.as_ref().zip(before.cgroup.as_ref());
        // The numbers of another cgroup say nothing of this one's.
        let cgroups = cgroups.filter(|(now, before)| now.path == before.path);
        let system =
            |of: fn(&System) -> Option<u64>| systems.and_then(|(now, before)| grown(of(now), of(before)));
        Some(Since {
            ns,
            swapped_in_bytes: system(|system| system.swapped_in_bytes),
            swapped_out_bytes: system(|system| system.swapped_out_bytes),
            cgroup_stalled_ns: cgroups
                .and_then(|(now, before)| grown(stalled_ns(now.pressure), stalled_ns(before.pressure))),
            system_stalled_ns: system(|system| stalled_ns(system.pressure)),
        })
    }
}

/// How long at least one task has stalled.
fn stalled_ns(pressure: Option<Pressure>) -> Option<u64> {
    pressure.map(|pressure| pressure.some.total_ns)
}

fn grown(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    now?.checked_sub(before?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(at_ns: i64, path: &str, stalled_ns: u64, swapped_in_bytes: Option<u64>) -> MemoryState {
        let pressure = Pressure { some: Stalls { avg10_percent: 0.0, total_ns: stalled_ns }, full: None };
        MemoryState {
            at_ns,
            cgroup: Some(Cgroup { path: path.to_owned(), pressure: Some(pressure), ..Cgroup::default() }),
            system: Some(System { swapped_in_bytes, pressure: Some(pressure), ..System::default() }),
            ..MemoryState::default()
        }
    }

    #[test]
    fn what_had_changed_needs_both_readings() {
        let before = state(1_000, "/a", 10, Some(4_096));
        let since = state(3_000, "/a", 25, Some(12_288)).since(&before).unwrap();
        assert_eq!((since.ns, since.swapped_in_bytes, since.swapped_out_bytes), (2_000, Some(8_192), None));
        assert_eq!((since.cgroup_stalled_ns, since.system_stalled_ns), (Some(15), Some(15)));
        let since = state(3_000, "/b", 25, None).since(&before).unwrap();
        assert_eq!((since.swapped_in_bytes, since.cgroup_stalled_ns), (None, None));
        assert_eq!(state(1_000, "/a", 10, None).since(&before), None, "nothing lies between");
        let since = state(2_000, "/a", 5, Some(0)).since(&before).unwrap();
        assert_eq!(
            (since.swapped_in_bytes, since.cgroup_stalled_ns),
            (None, None),
            "counters that went back"
        );
    }
}
