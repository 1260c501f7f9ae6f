//! Workers: threads that work for a pause besides its driver, each with a budget of its own.

use std::collections::BTreeMap;

use tracer_common::{
    pause::{Outside, WindowRecord},
    schedule::{IntervalRecord, doing},
    thread::{WorkerRecord, cpu},
};

use super::{
    blocked::BlockedOn,
    budget::{Budget, KnownBlocks, budget},
    kernel_stacks::KernelStacks,
    kind::{Kind, KindCount},
    places::PlaceTotal,
    touched::{StackTotal, Touched},
    waits::split,
};
use crate::memory::Region;

/// One worker in one pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// The thread.
    pub tid: u32,
    /// Faults that ended in the pause.
    pub faults: u64,
    /// Time in faults inside the pause, in ns.
    pub in_faults_ns: u64,
    /// Where its time went, from requested to resumed: parts that add up to the pause's length.
    pub budget: Budget,
}

/// What the workers' faults of one pause were, all together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerFaults {
    /// How many ended in the pause.
    pub faults: u64,
    /// Their time inside the pause, in ns: a plain sum over the workers, which can exceed the pause.
    pub sum_ns: u64,
    /// How many of them have details. The rest is added up from these alone.
    pub details: u64,
    /// By kind.
    pub by_kind: BTreeMap<Kind, KindCount>,
    /// By what they touched.
    pub by_region: BTreeMap<Region, KindCount>,
    /// The same, as exactly as it can be named; most time first.
    pub places: Vec<PlaceTotal>,
    /// By stack, most time first.
    pub stacks: Vec<(u64, StackTotal)>,
}

impl WorkerFaults {
    /// Puts the kernel side's sums and the details together.
    pub(super) fn of(sums: &[WorkerRecord], touched: Touched) -> Option<Self> {
        let by_kind = touched.by_kind();
        let details = by_kind.values().map(|kind| kind.count).sum();
        let by_region = touched.regions.iter().map(|(region, (count, ns, inferred))| {
            (*region, KindCount { count: *count, ns: *ns, inferred: *inferred })
        });
        let by_region = by_region.collect();
        let (places, stacks) = touched.finish(&by_region);
        (!sums.is_empty()).then(|| Self {
            faults: sums.iter().map(|worker| worker.faults).sum(),
            sum_ns: sums.iter().map(|worker| worker.fault_ns).sum(),
            details,
            by_kind,
            by_region,
            places,
            stacks,
        })
    }
}

/// Whether anything was seen of the worker: in this window, or what it was doing when that began.
pub(super) fn was_seen(record: &WorkerRecord) -> bool {
    record.cpu != cpu::UNKNOWN || record.faults > 0 || record.blocked_ns + record.waiting_ns > 0
}

/// The worker's account of a pause of this length. What it was blocked on is told by its intervals.
pub(super) fn worker(
    record: &WorkerRecord,
    window: &WindowRecord,
    duration_ns: u64,
    intervals: &[IntervalRecord],
    stacks: &KernelStacks,
) -> Worker {
    let (blocked_ns, waiting_ns) = off_at_the_end(record, window);
    let in_fault = record.begin_ns != 0 && record.begin_ns < window.resumed_ns;
    let fault_ns = if in_fault { window.resumed_ns - record.begin_ns.max(window.requested_ns) } else { 0 };
    let (off_inside, off_outside) =
        if in_fault { ((blocked_ns, waiting_ns), (0, 0)) } else { ((0, 0), (blocked_ns, waiting_ns)) };
    let mut account = *window;
    account.driver_totals.blocked_ns = record.fault_blocked_ns + off_inside.0;
    account.driver_totals.waiting_ns = record.fault_waiting_ns + off_inside.1;
    account.driver_totals.reclaiming_ns = record.fault_reclaiming_ns;
    account.driver_totals.compacting_ns = record.fault_compacting_ns;
    account.outside = Outside {
        blocked_ns: record.blocked_ns + off_outside.0,
        waiting_ns: record.waiting_ns + off_outside.1,
        ..Outside::default()
    };
    let in_faults_ns = (record.fault_ns + fault_ns).min(duration_ns);
    let mut parts = budget(&account, duration_ns, in_faults_ns, known(record.tid, window, intervals, stacks));
    if record.cpu == cpu::UNKNOWN {
        // Whether it runs has not been seen since the trace began.
        parts.unknown_ns += std::mem::take(&mut parts.on_cpu_ns);
    }
    Worker { tid: record.tid, faults: record.faults, in_faults_ns, budget: parts }
}

/// A worker that has no CPU when the window closes: how long it has been blocked, and ready to run, inside the window.
fn off_at_the_end(record: &WorkerRecord, window: &WindowRecord) -> (u64, u64) {
    let (from_ns, to_ns) = (record.switched_ns.max(window.requested_ns), window.resumed_ns);
    if from_ns > to_ns {
        return (0, 0);
    }
    match record.cpu {
        cpu::PREEMPTED => (0, to_ns - from_ns),
        cpu::BLOCKED => {
            let woken = record.woken_ns != 0 && record.woken_ns <= to_ns;
            let ready_ns = if woken { record.woken_ns.max(from_ns) } else { to_ns };
            (ready_ns - from_ns, to_ns - ready_ns)
        }
        _ => (0, 0),
    }
}

fn known(
    tid: u32,
    window: &WindowRecord,
    intervals: &[IntervalRecord],
    stacks: &KernelStacks,
) -> KnownBlocks {
    let mut known = KnownBlocks::default();
    let blocks = |interval: &&IntervalRecord| {
        interval.tid == tid
            && interval.doing & doing::BLOCKED != 0
            && interval.doing & (doing::RUNNING | doing::FREEING) == 0
    };
    for interval in intervals.iter().filter(blocks) {
        // Clipped to the window, as the kernel side does.
        let from_ns = interval.from_ns.max(window.requested_ns);
        let clipped = IntervalRecord { from_ns, ..*interval };
        let (ns, _) = split(&clipped);
        let in_fault = interval.fault_begin_ns != 0;
        match (stacks.on(interval.kernel_stack), in_fault) {
            (BlockedOn::Unknown, _) => {}
            (BlockedOn::Io, true) => known.fault_io_ns += ns,
            (_, true) => known.fault_other_ns += ns,
            (BlockedOn::Io, false) => known.io_ns += ns,
            (BlockedOn::Futex, false) => known.futex_ns += ns,
            (_, false) => known.other_ns += ns,
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable as _;

    #[test]
    fn a_worker_s_parts_add_up_to_the_pause() {
        let window = WindowRecord { requested_ns: 1000, resumed_ns: 3000, ..WindowRecord::zeroed() };
        let mut record = WorkerRecord { tid: 7, faults: 3, fault_ns: 900, ..WorkerRecord::zeroed() };
        record.fault_blocked_ns = 600;
        record.blocked_ns = 500;
        record.waiting_ns = 100;
        let seen = worker(&record, &window, 2000, &[], &KernelStacks::default());
        assert_eq!(
            (seen.budget.sum_ns(), seen.budget.on_cpu_ns, seen.budget.fault_on_cpu_ns),
            (2000, 500, 300)
        );
        record.cpu = cpu::UNKNOWN;
        let unseen = worker(&record, &window, 2000, &[], &KernelStacks::default());
        assert_eq!(
            (unseen.budget.sum_ns(), unseen.budget.on_cpu_ns, unseen.budget.unknown_ns),
            (2000, 0, 500)
        );
    }

    #[test]
    fn what_a_worker_is_in_the_middle_of_counts() {
        let window = WindowRecord { requested_ns: 1000, resumed_ns: 3000, ..WindowRecord::zeroed() };
        let parked = WorkerRecord { cpu: cpu::BLOCKED, switched_ns: 400, ..WorkerRecord::zeroed() };
        let seen = worker(&parked, &window, 2000, &[], &KernelStacks::default());
        assert_eq!((seen.budget.sum_ns(), seen.budget.blocked_unknown_ns), (2000, 2000));
        let woken = WorkerRecord { woken_ns: 2500, begin_ns: 300, ..parked };
        let seen = worker(&woken, &window, 2000, &[], &KernelStacks::default());
        assert_eq!((seen.in_faults_ns, seen.budget.fault_blocked_unknown_ns), (2000, 1500));
        assert_eq!((seen.budget.fault_waiting_for_cpu_ns, seen.budget.sum_ns()), (500, 2000));
    }
}
