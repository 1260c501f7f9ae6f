//! The details of one window as they arrive, added up so that a million faults take no more room than a thousand.

use std::collections::{BTreeMap, HashMap};

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
    longest::LongestFault,
    places::Places,
    reads::{self, Reads},
    refine::{Refined, Surroundings, plain, refine},
    span::FaultSpan,
    waits::DriverWaits,
};
use crate::{
    memory::{AddressSpace, Region},
    target::Backing,
};

/// Intervals kept for the stopping phase of one window; the stopping phase comes first, so the first ones count.
const INTERVALS_KEPT: usize = 4096;
/// Faults whose places are looked up together, when their window has closed or there are that many: what the target has
/// mapped meanwhile is read once then.
const UNPLACED: usize = 4096;
/// Kernel stacks kept of one code path; further ones are added up as unknown.
const KERNEL_STACKS_KEPT: usize = 64;
/// Code paths kept of one window; further ones are added up under one name.
const STACKS_KEPT: usize = 4096;

/// Faults that share a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackTotal {
    /// By kind: count, time inside the window in ns, and how many are inferred.
    pub by_kind: BTreeMap<Kind, (u64, u64, u64)>,
    /// Where in the kernel these faults were blocked: by kernel stack, how many faults and for how long in ns.
    pub kernel: BTreeMap<u64, (u64, u64)>,
    /// The stack's outermost frames are missing.
    pub cut: bool,
}

impl StackTotal {
    /// In place of a stack's identity: the stacks past the bound, added up.
    pub const PAST_THE_BOUND: u64 = u64::MAX;
}

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
    /// Driver's faults by stack id; 0 stands for a lost stack, [`StackTotal::PAST_THE_BOUND`] for those past the bound.
    pub(super) stacks: HashMap<u64, StackTotal>,
    pub(super) driver_moves: BTreeMap<(fault::Kind, Kind), Moved>,
    pub(super) other_moves: BTreeMap<(fault::Kind, Kind), Moved>,
    /// The driver's faults by what they touched: count, time in ns, and how many are placed by inference.
    pub(super) regions: BTreeMap<Region, (u64, u64, u64)>,
    /// The same, closer.
    pub(super) places: Places,
    /// The driver's faults that are in neither yet: address, begin and end, time in ns.
    unplaced: Vec<(u64, (u64, u64), u64)>,
    pub(super) waits: DriverWaits,
    pub(super) reads: Reads,
    /// What each worker did, at most [`tracer_common::thread::WORKERS`] of them.
    pub(super) workers: Vec<WorkerRecord>,
    /// Intervals of all threads, for the stopping phase and the workers.
    pub(super) intervals: Vec<IntervalRecord>,
    pub(super) longest: Option<LongestFault>,
    pub(super) driver_spans: Vec<(u64, u64)>,
    pub(super) other_spans: Vec<FaultSpan>,
    /// Faults of other threads are in no span from here on: the earliest begin of those.
    pub(super) spans_lost_from_ns: Option<u64>,
    /// Faults that began before the window: how much of them is inside is known when the window's record is.
    edges: Vec<(FaultRecord, Refined)>,
}

impl Building {
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
        }
        if by_driver {
            self.add_stack(record, refined, ns);
            self.unplaced.push((record.address, span, ns));
            if self.unplaced.len() >= UNPLACED {
                self.place(space);
            }
            if around.devices_seen {
                reads::add(&mut self.reads, record, refined.kind, ns);
            }
            if self.longest.as_ref().is_none_or(|longest| ns > longest.ns) {
                let mapping = space.find(record.address, span).map(|mapping| mapping.name.clone());
                self.longest =
                    Some(LongestFault { kind: refined.kind, ns, address: record.address, mapping });
            }
            if self.driver_spans.len() < INTERVALS_KEPT {
                self.driver_spans.push(span);
            }
        } else if self.other_spans.len() < INTERVALS_KEPT {
            self.other_spans.push(FaultSpan {
                tid: record.tid,
                begin_ns: span.0,
                end_ns: span.1,
                kind: refined.kind,
                stack: record.stack,
            });
        } else {
            let earliest = self.spans_lost_from_ns.unwrap_or(u64::MAX).min(record.begin_ns);
            self.spans_lost_from_ns = Some(earliest);
        }
    }

    /// Looks up what the faults have touched.
    pub(super) fn place(&mut self, space: &mut AddressSpace) {
        for (address, span, ns) in std::mem::take(&mut self.unplaced) {
            let placed = space.place(address, span);
            self.places.add(&placed, ns);
            let (count, sum_ns, inferred) = self.regions.entry(placed.region).or_default();
            *count += 1;
            *sum_ns += ns;
            *inferred += u64::from(placed.inferred);
        }
    }

    fn add_stack(&mut self, record: &FaultRecord, refined: Refined, ns: u64) {
        let known = self.stacks.contains_key(&record.stack) || self.stacks.len() < STACKS_KEPT;
        let stack = if known { record.stack } else { StackTotal::PAST_THE_BOUND };
        let total = self.stacks.entry(stack).or_default();
        total.cut |= record.seen & seen::STACK_CUT != 0;
        let (count, sum_ns, inferred) = total.by_kind.entry(refined.kind).or_default();
        *count += 1;
        *sum_ns += ns;
        *inferred += u64::from(refined.inferred);
        if record.blocked_ns > 0 {
            let full =
                total.kernel.len() >= KERNEL_STACKS_KEPT && !total.kernel.contains_key(&record.kernel_stack);
            let kernel_stack = if full { 0 } else { record.kernel_stack };
            let (count, blocked_ns) = total.kernel.entry(kernel_stack).or_default();
            *count += 1;
            *blocked_ns += record.blocked_ns;
        }
    }

    /// Adds an interval of a thread.
    pub(super) fn interval(&mut self, record: &IntervalRecord) {
        if record.doing & doing::DRIVER != 0 {
            self.waits.add(record);
        }
        if self.intervals.len() < INTERVALS_KEPT {
            self.intervals.push(*record);
        }
    }

    /// What the driver's faults were blocked on, as far as the details tell.
    pub(super) fn known(&self, kernel_stacks: &KernelStacks) -> KnownBlocks {
        let mut known = KnownBlocks::default();
        for (kernel_stack, (_, ns)) in self.stacks.values().flat_map(|total| &total.kernel) {
            match kernel_stacks.on(*kernel_stack) {
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
