//! The details of one window as they arrive, added up so that a million faults take no more room than a thousand.

use std::collections::BTreeMap;

use tracer_common::{
    fault::{self, FaultRecord, seen},
    schedule::{IntervalRecord, doing},
    thread::WorkerRecord,
};

use super::{
    blocked::BlockedOn,
    budget::KnownBlocks,
    kernel_stacks::KernelStacks,
    kind::Kind,
    late::OthersSeen,
    listed::Unplaced,
    longest::LongestFault,
    reads::{self, Reads},
    refine::{Refined, Surroundings, plain, refine},
    span::FaultSpan,
    touched::Touched,
    waited::Waiting,
    waits::DriverWaits,
};
use crate::{
    memory::{AddressSpace, Placed},
    target::Backing,
};

/// Intervals kept for the stopping phase of one window; the stopping phase comes first, so the first ones count.
const INTERVALS_KEPT: usize = 1 << 14;

/// Faults kept of one window, of its driver and of other threads: they tell what kept the world from stopping. On many CPUs
/// there are many in a moment.
const FAULTS_KEPT: usize = 1 << 16;

/// Faults whose places are looked up together, when their window has closed or there are that many: what the target has
/// mapped meanwhile is read once then.
const UNPLACED: usize = 4096;

/// A correction of the kernel side's totals: so many faults are of another kind than it could tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) count: u64,
    pub(super) ns: u64,
    pub(super) inferred: u64,
}

/// What is known so far.
#[derive(Debug, Default)]
pub(super) struct Building {
    pub(super) details: u64,
    /// Where it is among all, in the order in which their details began to come.
    pub(super) begun: u64,
    pub(super) driver: Touched,
    pub(super) of_workers: Touched,
    pub(super) others_seen: OthersSeen,
    pub(super) driver_moves: BTreeMap<(fault::Kind, Kind), Moved>,
    pub(super) other_moves: BTreeMap<(fault::Kind, Kind), Moved>,
    pub(super) waits: DriverWaits,
    pub(super) reads: Reads,
    /// What each worker did, at most [`tracer_common::thread::WORKERS`] of them.
    pub(super) workers: Vec<WorkerRecord>,
    /// Intervals of all threads, for the stopping phase and the workers.
    pub(super) intervals: Vec<IntervalRecord>,
    /// More came than are kept.
    pub(super) intervals_lost: bool,
    /// Whom the driver waited for.
    pub(super) waiting: Waiting,
    pub(super) longest: Option<LongestFault>,
    pub(super) driver_spans: Vec<(u64, u64)>,
    pub(super) other_spans: Vec<FaultSpan>,
    /// Faults are in no span from here on: the earliest begin of those.
    pub(super) spans_lost_from_ns: Option<u64>,
    /// Faults that began before the window: how much of them is inside is known when the window's record is.
    edges: Vec<(FaultRecord, Refined)>,
    /// Faults of which it is not known yet what they touched.
    unplaced: Vec<Unplaced>,
    /// Every fault is to be listed, also those of which no place is reported.
    pub(super) listing: bool,
    /// The window's number, when it has been given one.
    pub(super) number: Option<u64>,
}

impl Building {
    /// The next one.
    pub(super) fn begun(begun: &mut u64) -> Self {
        *begun += 1;
        Self { begun: *begun, ..Self::default() }
    }

    /// Adds one detail.
    pub(super) fn add(
        &mut self,
        record: &FaultRecord,
        space: &mut AddressSpace,
        kernel_stacks: &KernelStacks,
        around: Surroundings,
    ) {
        self.details += 1;
        let on = (record.kernel_stack != 0).then(|| kernel_stacks.on(record.kernel_stack));
        let refined = refined(record, space, on, around);
        let by_driver = record.seen & seen::DRIVER != 0;
        let span = (record.begin_ns, record.end_ns);
        let ns = record.end_ns.saturating_sub(record.begin_ns);
        if record.seen & seen::BEGAN_BEFORE != 0 {
            self.edges.push((*record, refined));
        } else {
            self.note_move(record, refined, ns, around);
            self.touched(record, refined, ns);
        }
        if record.seen & seen::WORKER != 0 {
            self.waiting.fault(span.0, span.1);
        }
        if by_driver {
            if around.devices_seen {
                reads::add(&mut self.reads, record, refined.kind, ns);
            }
            if self.longest.as_ref().is_none_or(|longest| ns > longest.ns) {
                let mapping = space.find(record.address, span).map(|mapping| mapping.name.clone());
                self.longest =
                    Some(LongestFault { kind: refined.kind, ns, address: record.address, mapping });
            }
            if self.driver_spans.len() < FAULTS_KEPT {
                self.driver_spans.push(span);
            } else {
                self.lose_span(record.begin_ns);
            }
        } else if self.other_spans.len() < FAULTS_KEPT {
            self.other_spans.push(FaultSpan {
                tid: record.tid,
                begin_ns: span.0,
                end_ns: span.1,
                kind: refined.kind,
                stack: record.stack,
            });
        } else {
            self.lose_span(record.begin_ns);
        }
    }

    fn lose_span(&mut self, begin_ns: u64) {
        self.spans_lost_from_ns = Some(self.spans_lost_from_ns.unwrap_or(u64::MAX).min(begin_ns));
    }

    /// Adds a fault to what its thread touched.
    fn touched(&mut self, record: &FaultRecord, refined: Refined, ns: u64) {
        let by_driver = record.seen & seen::DRIVER != 0;
        let by_worker = record.seen & seen::WORKER != 0;
        if by_driver {
            self.driver.add(record, refined, ns);
        } else {
            self.others_seen.add(record, ns);
        }
        if by_worker {
            self.of_workers.add(record, refined, ns);
        }
        if by_driver || by_worker || self.listing {
            self.unplaced.push(Unplaced { record: *record, refined, ns });
        }
    }

    /// Whether there are so many faults without a place that it is time to look them up.
    pub(super) fn should_place(&self) -> bool {
        self.unplaced.len() >= UNPLACED
    }

    /// Looks up what the faults have touched, and gives each to `list`.
    pub(super) fn place(&mut self, space: &mut AddressSpace, mut list: impl FnMut(Unplaced, Placed)) {
        for fault in std::mem::take(&mut self.unplaced) {
            let record = &fault.record;
            let placed = space.place(record.address, (record.begin_ns, record.end_ns));
            if record.seen & seen::DRIVER != 0 {
                self.driver.add_place(&placed, fault.ns);
            }
            if record.seen & seen::WORKER != 0 {
                self.of_workers.add_place(&placed, fault.ns);
            }
            list(fault, placed);
        }
    }

    /// Adds an interval of a thread.
    pub(super) fn interval(&mut self, record: &IntervalRecord) {
        if record.doing & doing::DRIVER != 0 {
            self.waits.add(record);
            self.waiting.driver(record);
        } else {
            self.waiting.other(record);
        }
        if self.intervals.len() < INTERVALS_KEPT {
            self.intervals.push(*record);
        } else {
            self.intervals_lost = true;
        }
    }

    /// What the driver's faults were blocked on, as far as the details tell.
    pub(super) fn known(&self, kernel_stacks: &KernelStacks) -> KnownBlocks {
        let mut known = KnownBlocks::default();
        for (kernel_stack, ns) in self.driver.blocked() {
            match kernel_stacks.on(kernel_stack) {
                BlockedOn::Io => known.fault_io_ns += ns,
                BlockedOn::Unknown => {}
                _ => known.fault_other_ns += ns,
            }
        }
        self.waits.known(kernel_stacks, &mut known);
        known
    }

    /// The window opened at this time: faults that began before are clipped as the kernel side clipped them.
    pub(super) fn settle(&mut self, opened_ns: u64, around: Surroundings) {
        for (record, refined) in std::mem::take(&mut self.edges) {
            let ns = record.end_ns.saturating_sub(record.begin_ns.max(opened_ns));
            self.note_move(&record, refined, ns, around);
            self.touched(&record, refined, ns);
        }
    }

    /// Where the refined kind differs from what the totals say without the detail, it is remembered as a move.
    fn note_move(&mut self, record: &FaultRecord, refined: Refined, ns: u64, around: Surroundings) {
        let kernel_kind = fault::classify(record.seen);
        if plain(kernel_kind, around) == refined {
            return;
        }
        let by_driver = record.seen & seen::DRIVER != 0;
        let moves = if by_driver { &mut self.driver_moves } else { &mut self.other_moves };
        let moved = moves.entry((kernel_kind, refined.kind)).or_default();
        moved.count += 1;
        moved.ns += ns;
        moved.inferred += u64::from(refined.inferred);
    }
}

/// What the mapping tells counts against the kernel side's observations only if it was there when the fault was.
fn refined(
    record: &FaultRecord,
    space: &mut AddressSpace,
    on: Option<BlockedOn>,
    around: Surroundings,
) -> Refined {
    let observed = refine(record.seen, None, on, around);
    let span = (record.begin_ns, record.end_ns);
    let Some(backing) = space.find(record.address, span).map(|mapping| mapping.backing) else {
        return observed;
    };
    let refined = refine(record.seen, Some(backing), on, around);
    // Where the counters tell the kind, what they leave open is anybody's guess anyhow; where they don't, the mapping is
    // all there is, and a wrong one makes a wrong kind.
    let counters_exact = record.seen & seen::COUNTERS_EXACT != 0;
    let guess_at_worst = (observed.kind == Kind::Other && counters_exact) || backing == Backing::ProbeSteps;
    if refined == observed || guess_at_worst || space.held(record.address, span) { refined } else { observed }
}
