//! Where time went, in parts that add up: of a pause on its driver, and of the stopping phase on one thread.

use serde::{Deserialize, Serialize};
use tracer_common::pause::WindowRecord;

use super::remainder::Remainder;

/// Where a pause's time went on its driver, in parts that add up to its `duration_ns`.
///
/// Exclusive parts: waiting for a CPU goes before all others, reclaim and compaction go before being blocked. What
/// begins with `fault_` is inside page faults.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Budget {
    /// In faults, blocked until a device had answered.
    pub fault_blocked_io_ns: u64,
    /// In faults, blocked on something else: a `userfaultfd` handler, a lock of the kernel's.
    pub fault_blocked_other_ns: u64,
    /// In faults, blocked, and the kernel stack that would tell on what is missing.
    pub fault_blocked_unknown_ns: u64,
    /// In faults, freeing memory: direct and memory-cgroup reclaim.
    pub fault_reclaiming_ns: u64,
    /// In faults, moving memory together for a larger piece.
    pub fault_compacting_ns: u64,
    /// In faults, ready to run, without a CPU.
    pub fault_waiting_for_cpu_ns: u64,
    /// In faults, the rest: running.
    pub fault_on_cpu_ns: u64,
    /// Outside faults, the rest: running, the work of the pause itself. Includes `tracing_ns`.
    pub on_cpu_ns: u64,
    /// Outside faults, ready to run, without a CPU: others had it, or a CPU quota was used up.
    pub waiting_for_cpu_ns: u64,
    /// Outside faults, blocked on a futex: a lock or condition of the program.
    pub blocked_futex_ns: u64,
    /// Outside faults, blocked until a device had answered.
    pub blocked_io_ns: u64,
    /// Outside faults, blocked on something else.
    pub blocked_other_ns: u64,
    /// Outside faults, blocked, and the kernel stack that would tell on what is missing.
    pub blocked_unknown_ns: u64,
    /// Outside faults, in system calls: freeing memory.
    pub reclaiming_ns: u64,
    /// Outside faults, in system calls: moving memory together for a larger piece.
    pub compacting_ns: u64,
    /// On no thread: a goroutine that waits for something, or for its turn among the other goroutines.
    #[serde(default)]
    pub parked_ns: u64,
    /// Not known: from the begin of a fault whose end was not seen.
    pub unknown_ns: u64,
}

/// One part of a [`Budget`]: its name in the JSON without the unit, its words, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetPart {
    /// Such as `fault_blocked_io`.
    pub name: &'static str,
    /// Such as `in faults: blocked on I/O`.
    pub words: &'static str,
    /// Its time.
    pub ns: u64,
}

impl Budget {
    /// All parts, those inside faults first.
    #[must_use]
    pub fn parts(&self) -> [BudgetPart; 17] {
        let part = |name, words, ns| BudgetPart { name, words, ns };
        [
            part("fault_blocked_io", "in faults, blocked on I/O", self.fault_blocked_io_ns),
            part("fault_blocked_other", "in faults, blocked otherwise", self.fault_blocked_other_ns),
            part(
                "fault_blocked_unknown",
                "in faults, blocked, unknown on what",
                self.fault_blocked_unknown_ns,
            ),
            part("fault_reclaiming", "in faults, reclaiming memory", self.fault_reclaiming_ns),
            part("fault_compacting", "in faults, compacting memory", self.fault_compacting_ns),
            part("fault_waiting_for_cpu", "in faults, waiting for a CPU", self.fault_waiting_for_cpu_ns),
            part("fault_on_cpu", "in faults, on CPU", self.fault_on_cpu_ns),
            part("on_cpu", "on CPU", self.on_cpu_ns),
            part("waiting_for_cpu", "waiting for a CPU", self.waiting_for_cpu_ns),
            part("blocked_futex", "blocked on a futex", self.blocked_futex_ns),
            part("blocked_io", "blocked on I/O", self.blocked_io_ns),
            part("blocked_other", "blocked otherwise", self.blocked_other_ns),
            part("blocked_unknown", "blocked, unknown on what", self.blocked_unknown_ns),
            part("reclaiming", "reclaiming memory", self.reclaiming_ns),
            part("compacting", "compacting memory", self.compacting_ns),
            part("parked", "parked, on no thread", self.parked_ns),
            part("unknown", "unknown", self.unknown_ns),
        ]
    }

    /// What the parts add up to.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        self.parts().iter().fold(0, |sum, part| sum.saturating_add(part.ns))
    }

    /// The largest part; the first of equals.
    #[must_use]
    pub fn largest(&self) -> BudgetPart {
        let parts = self.parts();
        parts.into_iter().reduce(|most, part| if part.ns > most.ns { part } else { most }).unwrap_or(parts[0])
    }

    /// Waiting for a CPU, in faults or not.
    #[must_use]
    pub fn all_waiting_for_cpu_ns(&self) -> u64 {
        self.fault_waiting_for_cpu_ns.saturating_add(self.waiting_for_cpu_ns)
    }

    /// Adds another one, part by part.
    pub fn add(&mut self, other: &Self) {
        self.fault_blocked_io_ns = self.fault_blocked_io_ns.saturating_add(other.fault_blocked_io_ns);
        self.fault_blocked_other_ns =
            self.fault_blocked_other_ns.saturating_add(other.fault_blocked_other_ns);
        self.fault_blocked_unknown_ns =
            self.fault_blocked_unknown_ns.saturating_add(other.fault_blocked_unknown_ns);
        self.fault_reclaiming_ns = self.fault_reclaiming_ns.saturating_add(other.fault_reclaiming_ns);
        self.fault_compacting_ns = self.fault_compacting_ns.saturating_add(other.fault_compacting_ns);
        self.fault_waiting_for_cpu_ns =
            self.fault_waiting_for_cpu_ns.saturating_add(other.fault_waiting_for_cpu_ns);
        self.fault_on_cpu_ns = self.fault_on_cpu_ns.saturating_add(other.fault_on_cpu_ns);
        self.on_cpu_ns = self.on_cpu_ns.saturating_add(other.on_cpu_ns);
        self.waiting_for_cpu_ns = self.waiting_for_cpu_ns.saturating_add(other.waiting_for_cpu_ns);
        self.blocked_futex_ns = self.blocked_futex_ns.saturating_add(other.blocked_futex_ns);
        self.blocked_io_ns = self.blocked_io_ns.saturating_add(other.blocked_io_ns);
        self.blocked_other_ns = self.blocked_other_ns.saturating_add(other.blocked_other_ns);
        self.blocked_unknown_ns = self.blocked_unknown_ns.saturating_add(other.blocked_unknown_ns);
        self.reclaiming_ns = self.reclaiming_ns.saturating_add(other.reclaiming_ns);
        self.compacting_ns = self.compacting_ns.saturating_add(other.compacting_ns);
        self.parked_ns = self.parked_ns.saturating_add(other.parked_ns);
        self.unknown_ns = self.unknown_ns.saturating_add(other.unknown_ns);
    }
}

/// How one thread spent the stopping phase, in parts that add up to it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct StoppingBudget {
    /// Inside page faults, whether running, blocked or waiting.
    pub fault_ns: u64,
    /// Running: it had not reached a point at which it can stop.
    pub on_cpu_ns: u64,
    /// Ready to run, without a CPU.
    pub waiting_for_cpu_ns: u64,
    /// Blocked in a system call.
    pub blocked_ns: u64,
    /// Not seen.
    pub unknown_ns: u64,
}

impl StoppingBudget {
    /// What the parts add up to.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        [self.fault_ns, self.on_cpu_ns, self.waiting_for_cpu_ns, self.blocked_ns, self.unknown_ns]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Adds another one, part by part.
    pub fn add(&mut self, other: &Self) {
        self.fault_ns = self.fault_ns.saturating_add(other.fault_ns);
        self.on_cpu_ns = self.on_cpu_ns.saturating_add(other.on_cpu_ns);
        self.waiting_for_cpu_ns = self.waiting_for_cpu_ns.saturating_add(other.waiting_for_cpu_ns);
        self.blocked_ns = self.blocked_ns.saturating_add(other.blocked_ns);
        self.unknown_ns = self.unknown_ns.saturating_add(other.unknown_ns);
    }
}

/// What the details tell of the driver's blocks; the rest of the kernel side's totals is blocked on something unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownBlocks {
    pub(super) fault_io_ns: u64,
    pub(super) fault_other_ns: u64,
    pub(super) futex_ns: u64,
    pub(super) io_ns: u64,
    pub(super) other_ns: u64,
}

/// The budget of a pause of this length: the kernel side's exact totals; what runs is what they leave.
///
/// The kernel side's parts can exceed what they are parts of only if they were read while they changed, by nanoseconds:
/// then what runs is 0 and the last of them is cut.
#[must_use]
pub(super) fn budget(
    record: &WindowRecord,
    duration_ns: u64,
    in_faults_ns: u64,
    known: KnownBlocks,
) -> Budget {
    let (inside, outside) = (&record.driver_totals, &record.outside);
    let mut left = Remainder(in_faults_ns.min(duration_ns));
    let mut budget = Budget {
        fault_reclaiming_ns: left.take(inside.reclaiming_ns),
        fault_compacting_ns: left.take(inside.compacting_ns),
        fault_waiting_for_cpu_ns: left.take(inside.waiting_ns),
        ..Budget::default()
    };
    let mut blocked = Remainder(left.take(inside.blocked_ns));
    budget.fault_blocked_io_ns = blocked.take(known.fault_io_ns);
    budget.fault_blocked_other_ns = blocked.take(known.fault_other_ns);
    budget.fault_blocked_unknown_ns = blocked.0;
    budget.fault_on_cpu_ns = left.0;

    let mut left = Remainder(duration_ns.saturating_sub(in_faults_ns));
    budget.unknown_ns = left.take(outside.unknown_ns);
    budget.parked_ns = left.take(outside.parked_ns);
    budget.reclaiming_ns = left.take(outside.reclaiming_ns);
    budget.compacting_ns = left.take(outside.compacting_ns);
    budget.waiting_for_cpu_ns = left.take(outside.waiting_ns);
    let mut blocked = Remainder(left.take(outside.blocked_ns));
    budget.blocked_futex_ns = blocked.take(known.futex_ns);
    budget.blocked_io_ns = blocked.take(known.io_ns);
    budget.blocked_other_ns = blocked.take(known.other_ns);
    budget.blocked_unknown_ns = blocked.0;
    budget.on_cpu_ns = left.0;
    budget
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable as _;

    #[test]
    fn parts_add_up_whatever_the_totals_say() {
        let mut record = WindowRecord::zeroed();
        record.driver_totals.blocked_ns = 500;
        record.driver_totals.waiting_ns = 100;
        record.driver_totals.reclaiming_ns = 50;
        record.outside.blocked_ns = 300;
        record.outside.waiting_ns = 40;
        let known = KnownBlocks { fault_io_ns: 480, fault_other_ns: 0, futex_ns: 290, io_ns: 0, other_ns: 4 };
        let whole = budget(&record, 2000, 800, known);
        assert_eq!(whole.sum_ns(), 2000);
        assert_eq!((whole.fault_on_cpu_ns, whole.on_cpu_ns), (150, 860));
        assert_eq!((whole.fault_blocked_io_ns, whole.fault_blocked_unknown_ns), (480, 20));
        assert_eq!((whole.blocked_futex_ns, whole.blocked_other_ns, whole.blocked_unknown_ns), (290, 4, 6));
        assert_eq!(whole.largest().name, "on_cpu");
        for (duration_ns, in_faults_ns) in [(0, 0), (100, 100), (400, 90), (100, 5000)] {
            assert_eq!(
                budget(&record, duration_ns, in_faults_ns, known).sum_ns(),
                duration_ns.max(in_faults_ns.min(duration_ns))
            );
        }
    }
}
