//! A pause with everything that is known of it.

use std::collections::{BTreeMap, HashMap};

use tracer_common::pause::{Totals, WindowRecord};

use super::{
    budget::{Budget, budget},
    building::{Building, Moved},
    intervals::union_length,
    kernel_stacks::KernelStacks,
    kind::{Kind, KindCount},
    longest::LongestFault,
    places::PlaceTotal,
    reads::Reads,
    refine::{Surroundings, plain},
    span::FaultSpan,
    state::State,
    stopping::{Stopping, Told},
    throttling::Throttling,
    touched::StackTotal,
    waited::Waited,
    waits::DriverWaits,
    workers::{Worker, WorkerFaults},
};
use crate::{
    memory::Region,
    runtime::{Reason, RuntimeStamps},
};

/// Faults of other threads during the stopping phase that are listed; the longest come first.
const STOPPING_FAULTS_LISTED: usize = 16;

/// A fault of another thread during requested → stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppingFault {
    /// The thread.
    pub tid: u32,
    /// Its kind.
    pub kind: Kind,
    /// How long it had been in the fault when the stop was requested, in ns.
    pub before_request_ns: u64,
    /// Its full length in ns.
    pub full_ns: u64,
    /// The part inside the stopping phase, in ns.
    pub in_stopping_ns: u64,
    /// The stack's identity, 0 when it was lost.
    pub stack: u64,
}

/// A window that has closed, or was found open at the end.
#[derive(Clone, Debug)]
pub struct Closed {
    /// The kernel side's record.
    pub record: WindowRecord,
    /// How much of it was seen.
    pub state: State,
    /// Why the world was stopped, as the runtime's registers tell.
    pub reason: Reason,
    /// The runtime's own stamps.
    pub stamps: RuntimeStamps,
    /// CPU throttling around it.
    pub throttling: Option<Throttling>,
}

/// One pause.
#[derive(Clone, Debug)]
pub struct FinishedPause {
    /// Marks, registers and the kernel side's totals.
    pub record: WindowRecord,
    /// How much of it was seen.
    pub state: State,
    /// Why the world was stopped.
    pub reason: Reason,
    /// The runtime's own stamps.
    pub stamps: RuntimeStamps,
    /// Whether `explained_ns` rests on every fault of other threads that it could; otherwise it is a lower bound.
    pub stopping_whole: bool,
    /// The driver's faults by kind.
    pub by_kind: BTreeMap<Kind, KindCount>,
    /// The other threads' faults by kind; times are plain sums.
    pub others_by_kind: BTreeMap<Kind, KindCount>,
    /// The driver's faults by what they touched. Faults without details are in [`Region::Unknown`].
    pub by_region: BTreeMap<Region, KindCount>,
    /// The same, as exactly as it can be named; most time first. Each region's places add up to it.
    pub places: Vec<PlaceTotal>,
    /// The driver's faults by stack.
    pub stacks: Vec<(u64, StackTotal)>,
    /// How many details arrived, of all threads.
    pub details: u64,
    /// The driver's longest fault.
    pub longest: Option<LongestFault>,
    /// What kept the world from stopping, longest first.
    pub stopping_faults: Vec<StoppingFault>,
    /// Time of the driver in faults, plus stopping time when another thread was in a fault and the driver was not, plus
    /// time after it in which the driver was blocked and a worker was in a fault.
    pub explained_ns: u64,
    /// Where the time went; `None` when switches are not seen, or the pause was not seen whole.
    pub budget: Option<Budget>,
    /// The accounts of the workers of which anything was seen in the pause; empty when switches are not seen.
    pub workers: Vec<Worker>,
    /// How many workers nothing was seen of in the pause.
    pub workers_unseen: u64,
    /// How long the driver waited for workers; `None` without workers, or when switches are not seen.
    pub waited: Option<Waited>,
    /// What all workers' faults were; `None` when none is known to work for it.
    pub worker_faults: Option<WorkerFaults>,
    /// CPU throttling around it, when the driver waited for a CPU.
    pub throttling: Option<Throttling>,
    /// The driver's waits.
    pub waits: DriverWaits,
    /// What the driver's faults read.
    pub reads: Reads,
    /// How the world came to a stop; `None` when switches are not seen, or a mark is missing.
    pub stopping: Option<Stopping>,
}

impl FinishedPause {
    /// Puts the kernel side's record and the details together.
    pub(super) fn new(
        closed: Closed,
        mut building: Building,
        kernel_stacks: &KernelStacks,
        around: Surroundings,
    ) -> Self {
        let Closed { mut record, state, reason, stamps, throttling } = closed;
        building.others_seen.settle(&mut record.other_totals, &mut building.workers);
        let by_kind = kinds(&record.driver_totals, &building.driver_moves, around);
        let others_by_kind = kinds(&record.other_totals, &building.other_moves, around);
        let in_faults_ns: u64 = by_kind.values().map(|kind| kind.ns).sum();
        let stopping = stopping_phase(&record);
        let stopping_faults = stopping.map_or_else(Vec::new, |phase| listed(&building.other_spans, phase));
        let by_region = regions(&building.driver.regions, &by_kind);
        let whole = around.schedule_seen && state == State::Complete;
        let budget = whole.then(|| {
            let duration_ns = record.resumed_ns.saturating_sub(record.requested_ns);
            budget(&record, duration_ns, in_faults_ns, building.known(kernel_stacks))
        });
        let workers: Vec<Worker> = match budget {
            Some(_) => {
                let duration_ns = record.resumed_ns.saturating_sub(record.requested_ns);
                let account = |worker| {
                    super::workers::worker(worker, &record, duration_ns, &building.intervals, kernel_stacks)
                };
                let seen = building.workers.iter().filter(|worker| super::workers::was_seen(worker));
                seen.map(account).collect()
            }
            None => Vec::new(),
        };
        let workers_unseen = budget.map_or(0, |_| (building.workers.len() - workers.len()) as u64);
        let waiting = std::mem::take(&mut building.waiting);
        let waited = budget
            .filter(|_| !building.workers.is_empty())
            .map(|_| waiting.finish(&building.workers, &record));
        let explained_ns = in_faults_ns
            + stopping.map_or(0, |phase| others_only_ns(&building, phase))
            + waited.map_or(0, |waited| waited.for_their_faults_ns);
        let how_stopped = stopping.filter(|_| around.schedule_seen).map(|phase| {
            let told = Told {
                intervals: &building.intervals,
                all_kept: !building.intervals_lost,
                workers: &building.workers,
            };
            super::stopping::stopping(
                phase,
                record.driver,
                told,
                &building.other_spans,
                &building.driver_spans,
            )
        });
        let worker_faults = WorkerFaults::of(&building.workers, building.of_workers);
        let (places, stacks) = building.driver.finish(&by_region);
        Self {
            record,
            state,
            reason,
            stamps,
            stopping_whole: stopping
                .zip(building.spans_lost_from_ns)
                .is_none_or(|((_, to), lost)| lost >= to)
                && waited.is_none_or(|waited| !waited.faults_at_least),
            by_kind,
            others_by_kind,
            by_region,
            places,
            stacks,
            details: building.details,
            longest: building.longest,
            stopping_faults,
            explained_ns,
            budget,
            workers,
            workers_unseen,
            waited,
            worker_faults,
            // What did not wait for a CPU was not held up by a quota.
            throttling: throttling
                .filter(|_| budget.is_some_and(|budget| budget.all_waiting_for_cpu_ns() > 0)),
            waits: building.waits,
            reads: building.reads,
            stopping: how_stopped,
        }
    }

    /// The frames of the stack that asked for the stop, innermost first, as far as they are known.
    #[must_use]
    pub fn requested_frames(&self, stacks: &HashMap<u64, Vec<u64>>) -> Option<Vec<u64>> {
        requested_frames(&self.record, stacks)
    }

    /// requested → resumed in ns; `None` unless both were seen.
    #[must_use]
    pub fn duration_ns(&self) -> Option<u64> {
        let (from, to) = (self.record.requested_ns, self.record.resumed_ns);
        (from != 0 && to >= from).then(|| to - from)
    }

    /// requested → stopped in ns; `None` unless both were seen.
    #[must_use]
    pub fn stopping_ns(&self) -> Option<u64> {
        stopping_phase(&self.record).map(|(from, to)| to - from)
    }

    /// Faults on the driver.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.by_kind.values().map(|kind| kind.count).sum()
    }

    /// Time of the driver in faults, in ns.
    #[must_use]
    pub fn in_faults_ns(&self) -> u64 {
        self.by_kind.values().map(|kind| kind.ns).sum()
    }

    /// Faults of the other threads.
    #[must_use]
    pub fn other_faults(&self) -> u64 {
        self.others_by_kind.values().map(|kind| kind.count).sum()
    }
}

/// The frames at `requested`, innermost first. The kernel's walk can lack the caller, which has its own field: it is
/// put in once.
#[must_use]
pub fn requested_frames(record: &WindowRecord, stacks: &HashMap<u64, Vec<u64>>) -> Option<Vec<u64>> {
    let mut frames = stacks.get(&record.requested_stack)?.clone();
    if record.requested_caller != 0 && frames.get(1) != Some(&record.requested_caller) {
        frames.insert(frames.len().min(1), record.requested_caller);
    }
    Some(frames)
}

fn stopping_phase(record: &WindowRecord) -> Option<(u64, u64)> {
    let (from, to) = (record.requested_ns, record.stopped_ns);
    (from != 0 && to >= from).then_some((from, to))
}

/// The kernel side's totals, with the moves that the mappings called for. Totals stay whole when details are lost:
/// a fault without its detail keeps the kind that the kernel side gave it.
fn kinds(
    totals: &Totals,
    moves: &BTreeMap<(tracer_common::fault::Kind, Kind), Moved>,
    around: Surroundings,
) -> BTreeMap<Kind, KindCount> {
    let mut kinds: BTreeMap<Kind, KindCount> = BTreeMap::new();
    let mut add = |kind: Kind, count: u64, ns: u64, inferred: u64| {
        if count > 0 {
            let total = kinds.entry(kind).or_default();
            total.count += count;
            total.ns += ns;
            total.inferred += inferred;
        }
    };
    for kernel_kind in tracer_common::fault::Kind::ALL {
        let total = totals.by_kind[kernel_kind as usize];
        let (mut count, mut ns) = (total.count, total.sum_ns);
        for ((from, to), moved) in moves {
            if *from == kernel_kind {
                // Never more than there is: a detail can outlive its window's totals.
                let (moved_count, moved_ns) = (moved.count.min(count), moved.ns.min(ns));
                add(*to, moved_count, moved_ns, moved.inferred.min(moved_count));
                count -= moved_count;
                ns -= moved_ns;
            }
        }
        let rest = plain(kernel_kind, around);
        add(rest.kind, count, ns, if rest.inferred { count } else { 0 });
    }
    kinds
}

/// What the details tell of where the faults were; the rest of the totals is unknown.
fn regions(
    seen: &BTreeMap<Region, (u64, u64, u64)>,
    by_kind: &BTreeMap<Kind, KindCount>,
) -> BTreeMap<Region, KindCount> {
    let mut regions: BTreeMap<Region, KindCount> = seen
        .iter()
        .map(|(region, (count, ns, inferred))| {
            (*region, KindCount { count: *count, ns: *ns, inferred: *inferred })
        })
        .collect();
    let whole = |of: fn(&KindCount) -> u64| by_kind.values().map(of).sum::<u64>();
    let placed = |of: fn(&KindCount) -> u64| regions.values().map(of).sum::<u64>();
    let (count, ns) = (
        whole(|kind| kind.count).saturating_sub(placed(|region| region.count)),
        whole(|kind| kind.ns).saturating_sub(placed(|region| region.ns)),
    );
    if count > 0 {
        let unknown = regions.entry(Region::Unknown).or_default();
        unknown.count += count;
        unknown.ns += ns;
    }
    regions
}

/// Wall time of the stopping phase in which another thread was in a fault and the driver was not.
fn others_only_ns(building: &Building, (from, to): (u64, u64)) -> u64 {
    let clip = |(begin, end): (u64, u64)| (begin.clamp(from, to), end.clamp(from, to));
    let mut driver: Vec<_> = building.driver_spans.iter().copied().map(clip).collect();
    let mut all: Vec<_> = building
        .other_spans
        .iter()
        .map(|span| clip((span.begin_ns, span.end_ns)))
        .chain(driver.clone())
        .collect();
    union_length(&mut all) - union_length(&mut driver)
}

fn listed(spans: &[FaultSpan], (from, to): (u64, u64)) -> Vec<StoppingFault> {
    let mut faults: Vec<_> = spans
        .iter()
        .filter(|span| span.begin_ns < to && span.end_ns > from)
        .map(|span| StoppingFault {
            tid: span.tid,
            kind: span.kind,
            before_request_ns: from.saturating_sub(span.begin_ns),
            full_ns: span.end_ns - span.begin_ns,
            in_stopping_ns: span.end_ns.min(to) - span.begin_ns.max(from),
            stack: span.stack,
        })
        .collect();
    faults.sort_by_key(|fault| std::cmp::Reverse(fault.in_stopping_ns));
    faults.truncate(STOPPING_FAULTS_LISTED);
    faults
}
