//! Collects records into pauses: the worst are kept in full, all are added up.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use tracer_common::{
    fault::{self, FaultRecord, classify},
    pause::{ShortRecord, Totals},
    schedule::IntervalRecord,
    stack::StackRecord,
    thread::WorkerRecord,
};

use super::{
    budget::{Budget, StoppingBudget},
    building::Building,
    durations::Durations,
    finished::{Closed, FinishedPause},
    kernel_stacks::{KernelStack, KernelStacks},
    kind::{Kind, KindCount},
    listed::{ListedFault, Unplaced},
    reads::{self, Reads},
    refine::Surroundings,
    state::State,
};
use crate::memory::{AddressSpace, Region};

/// Pauses without a length that are kept in full.
const PARTIAL_KEPT: usize = 64;
/// Details of windows whose record never comes (it was lost) are given up beyond this many windows: more than can be open
/// on the kernel side.
const WINDOWS_OPEN: usize = 10_240;

/// Which pauses are kept in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The longest so many.
    Worst(usize),
    /// All. Memory grows with their number.
    All,
}

/// Takes records in the order in which the rings give them.
#[derive(Debug)]
pub struct Collector {
    keep: Keep,
    around: Surroundings,
    space: AddressSpace,
    open: HashMap<u64, Building>,
    stacks: HashMap<u64, Vec<u64>>,
    kernel_stacks: KernelStacks,
    renumber: bool,
    /// How many windows have been given numbers.
    numbered: u64,
    /// How many windows' details have begun to come.
    begun: u64,
    listing: bool,
    listed: Vec<ListedFault>,
    collected: Collected,
}

/// What has been seen when a window closes.
#[derive(Debug)]
pub struct Seen<'a> {
    /// Frames of each stack that was sent.
    pub stacks: &'a HashMap<u64, Vec<u64>>,
    /// The kernel's stacks.
    pub kernel_stacks: &'a KernelStacks,
    /// The faults that were listed since the last time.
    pub faults: Vec<ListedFault>,
}

/// Looks up what a window's faults have touched.
fn place(
    building: &mut Building,
    pause: u64,
    space: &mut AddressSpace,
    mut listed: Option<&mut Vec<ListedFault>>,
) {
    building.place(space, |fault, placed| {
        if let Some(listed) = &mut listed {
            let Unplaced { record, refined, ns } = fault;
            listed.push(ListedFault { record, pause, refined, ns, placed });
        }
    });
}

/// What has been collected.
#[derive(Debug, Default)]
pub struct Collected {
    /// Kept pauses, in no order.
    pub pauses: Vec<FinishedPause>,
    /// Lengths of complete pauses.
    pub durations: Durations,
    /// The longest, in ns.
    pub worst_ns: Option<u64>,
    /// Sum of lengths, in ns.
    pub paused_ns: u64,
    /// Time of drivers in faults, in ns.
    pub in_faults_ns: u64,
    /// See [`FinishedPause::explained_ns`].
    pub explained_ns: u64,
    /// Windows that have closed, in any state.
    pub closed: u64,
    /// Complete windows that were too short to be told of; their lengths are among the lengths.
    pub short: Uncounted,
    /// Windows of which the runtime says that they were none; they are in no other sum.
    pub discarded: Uncounted,
    /// All pauses by state.
    pub by_state: BTreeMap<State, u64>,
    /// Complete pauses by reason.
    pub by_reason: BTreeMap<String, u64>,
    /// Complete pauses that were collections.
    pub collections: u64,
    /// Complete pauses that were not.
    pub other_stops: u64,
    /// Whether `explained_ns` rests on every fault; otherwise it is a lower bound.
    pub explained_partly: bool,
    /// Major faults on drivers of complete pauses.
    pub major: u64,
    /// Minor ones.
    pub minor: u64,
    /// Reclaim time of drivers, in ns.
    pub reclaim_ns: u64,
    /// Time of drivers in pauselens's own programs after faults, in ns.
    pub tracing_ns: u64,
    /// requested → stopped, summed where it is known, in ns.
    pub stopping_ns: Option<u64>,
    /// Drivers' faults by kind.
    pub by_kind: BTreeMap<Kind, KindCount>,
    /// Drivers' faults by what they touched.
    pub by_region: BTreeMap<Region, KindCount>,
    /// Other threads' faults by kind.
    pub others_by_kind: BTreeMap<Kind, KindCount>,
    /// Other threads' major faults.
    pub others_major: u64,
    /// Other threads' minor faults.
    pub others_minor: u64,
    /// How many pauses each thread drove.
    pub drove: BTreeMap<u32, u64>,
    /// Details that arrived.
    pub details: u64,
    /// Those of them that were given up, because the ends of their windows had not been told.
    pub given_up: u64,
    /// Time in which drivers waited for workers, in ns; `None` without workers, or when switches are not seen.
    pub waited_for_workers_ns: Option<u64>,
    /// Faults in all windows whose records arrived, of drivers and other threads, and details of those that were too short
    /// to be told of: as many should have details.
    pub counted: u64,
    /// The budgets of complete pauses; `None` when switches are not seen.
    pub budget: Option<Budget>,
    /// Stopping phases: how many, their time in ns, and how the last thread of each spent it.
    pub stopping: Option<(u64, u64, StoppingBudget)>,
    /// What the drivers' faults read.
    pub reads: Reads,
    /// The kernel's stacks.
    pub kernel_stacks: KernelStacks,
    /// Frames of each stack that was sent, runtime addresses, innermost first.
    pub stacks: HashMap<u64, Vec<u64>>,
}

/// Windows that are in the kernel side's sums, and not among the pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// How many.
    pub count: u64,
    /// Their time in ns.
    pub ns: u64,
    /// Faults on their drivers.
    pub faults: u64,
    /// Time of these in ns.
    pub in_faults_ns: u64,
}

impl Uncounted {
    fn add(&mut self, ns: u64, faults: u64, in_faults_ns: u64) {
        self.count += 1;
        self.ns += ns;
        self.faults += faults;
        self.in_faults_ns += in_faults_ns;
    }
}

impl Collected {
    /// Complete pauses.
    #[must_use]
    pub fn complete(&self) -> u64 {
        self.by_state.get(&State::Complete).copied().unwrap_or(0)
    }

    /// All windows that were told from their begin to their end: what the kernel side's sums must be.
    #[must_use]
    pub fn told(&self) -> Uncounted {
        let faults = self.by_kind.values().map(|kind| kind.count).sum::<u64>();
        let (short, discarded) = (self.short, self.discarded);
        Uncounted {
            count: self.complete() + short.count + discarded.count,
            ns: self.paused_ns + short.ns + discarded.ns,
            faults: faults + short.faults + discarded.faults,
            in_faults_ns: self.in_faults_ns + short.in_faults_ns + discarded.in_faults_ns,
        }
    }
}

impl Collector {
    /// An empty one.
    #[must_use]
    pub fn new(keep: Keep, around: Surroundings, space: AddressSpace) -> Self {
        Self {
            keep,
            around,
            space,
            open: HashMap::new(),
            stacks: HashMap::new(),
            kernel_stacks: KernelStacks::default(),
            renumber: false,
            numbered: 0,
            begun: 0,
            listing: false,
            listed: Vec::new(),
            collected: Collected::default(),
        }
    }

    /// With the kernel stacks that were sent before: each is sent once, whichever process was on it first.
    #[must_use]
    pub fn with_kernel_stacks(mut self, kernel_stacks: KernelStacks) -> Self {
        self.kernel_stacks = kernel_stacks;
        self
    }

    /// The target's mappings.
    pub fn space_mut(&mut self) -> &mut AddressSpace {
        &mut self.space
    }

    /// What is known of host and target.
    #[must_use]
    pub fn surroundings(&self) -> Surroundings {
        self.around
    }

    /// The stacks that have been sent so far.
    #[must_use]
    pub fn stacks(&self) -> &HashMap<u64, Vec<u64>> {
        &self.stacks
    }

    /// What there is so far, for the live line.
    #[must_use]
    pub fn so_far(&self) -> &Collected {
        &self.collected
    }

    /// A fault inside a window.
    pub fn fault(&mut self, record: &FaultRecord) {
        self.collected.details += 1;
        if !self.around.userfaultfd && classify(record.seen) == fault::Kind::Waited {
            self.around.userfaultfd = self.space.userfaultfd();
        }
        let listing = self.listing;
        self.make_room_for(record.window);
        let building = self.open.entry(record.window).or_insert_with(|| Building::begun(&mut self.begun));
        building.listing = listing;
        building.add(record, &mut self.space, &self.kernel_stacks, self.around);
        if building.should_place() {
            let number = match self.renumber {
                true => *building.number.get_or_insert_with(|| {
                    self.numbered += 1;
                    self.numbered
                }),
                false => record.window,
            };
            place(building, number, &mut self.space, self.listing.then_some(&mut self.listed));
        }
    }

    /// An interval of a thread inside a window.
    pub fn interval(&mut self, record: &IntervalRecord) {
        self.building(record.window).interval(record);
    }

    /// What a worker did in a window.
    pub fn worker(&mut self, record: &WorkerRecord) {
        self.building(record.window).workers.push(*record);
    }

    /// A kernel stack's names.
    pub fn kernel_stack(&mut self, stack: u64, named: impl Into<Arc<KernelStack>>) {
        self.kernel_stacks.insert(stack, named);
    }

    fn building(&mut self, window: u64) -> &mut Building {
        self.make_room_for(window);
        self.open.entry(window).or_insert_with(|| Building::begun(&mut self.begun))
    }

    fn make_room_for(&mut self, window: u64) {
        if self.open.len() >= WINDOWS_OPEN && !self.open.contains_key(&window) {
            // The kernel side's numbers are no order where several windows are open at a time.
            let oldest =
                self.open.iter().min_by_key(|(_, building)| building.begun).map(|(window, _)| *window);
            let given_up = oldest.and_then(|window| self.open.remove(&window));
            self.collected.given_up += given_up.map_or(0, |building| building.details);
        }
    }

    /// A stack's frames.
    pub fn stack(&mut self, record: &StackRecord) {
        let count = (record.frame_count as usize).min(record.frames.len());
        self.stacks.insert(record.stack, record.frames[..count].to_vec());
    }

    /// The frames of a stack that was unwound.
    pub fn unwound(&mut self, stack: u64, frames: Vec<u64>) {
        self.stacks.entry(stack).or_insert(frames);
    }

    /// A window has closed, or was found open at the end. Its details must have been given before. `tell` is given the
    /// pause, whether it is kept or not.
    pub fn window(&mut self, mut closed: Closed, tell: impl FnOnce(&FinishedPause, Seen<'_>)) {
        let mut building = self.open.remove(&closed.record.window).unwrap_or_default();
        self.collected.closed += 1;
        if self.renumber {
            closed.record.window = building.number.unwrap_or_else(|| {
                self.numbered += 1;
                self.numbered
            });
        }
        let opened = [closed.record.requested_ns, closed.record.stopped_ns, closed.record.restarting_ns];
        let opened_ns = opened.into_iter().find(|ns| *ns != 0).unwrap_or(0);
        building.settle(opened_ns, self.around);
        let listed = self.listing.then_some(&mut self.listed);
        place(&mut building, closed.record.window, &mut self.space, listed);
        let pause = FinishedPause::new(closed, building, &self.kernel_stacks, self.around);
        self.collected.add(&pause);
        let (stacks, kernel_stacks) = (&self.stacks, &self.kernel_stacks);
        let faults = std::mem::take(&mut self.listed);
        tell(&pause, Seen { stacks, kernel_stacks, faults });
        if pause.state != State::Discarded {
            self.collected.keep(pause, self.keep);
        }
    }

    /// A window has closed that was too short to be told of: its details are forgotten.
    pub fn short(&mut self, record: &ShortRecord) {
        let building = self.open.remove(&record.window);
        self.collected.counted += building.as_ref().map_or(0, |building| building.details);
        if building.is_none_or(|building| building.number.is_none()) {
            self.numbered += 1;
        }
        self.collected.closed += 1;
        self.collected.short.add(record.ns, record.faults, record.in_faults_ns);
        self.collected.durations.add(record.ns);
    }

    /// Lists every fault from here on, for [`Self::listed`].
    pub fn set_listing(&mut self, listing: bool) {
        self.listing = listing;
    }

    /// The faults that were listed since the last time, as far as it is known what they touched, and the stacks so far.
    pub fn listed(&mut self) -> (Vec<ListedFault>, &HashMap<u64, Vec<u64>>) {
        (std::mem::take(&mut self.listed), &self.stacks)
    }

    /// How many faults are listed.
    #[must_use]
    pub fn listed_count(&self) -> usize {
        self.listed.len()
    }

    /// Numbers windows in the order in which they close: where several are open at a time the kernel side's numbers are
    /// no order.
    #[must_use]
    pub fn renumbering(mut self, renumber: bool) -> Self {
        self.renumber = renumber;
        self
    }

    /// How many windows have details but no record yet.
    #[must_use]
    pub fn windows_open(&self) -> usize {
        self.open.len()
    }

    /// Everything, at the end.
    #[must_use]
    pub fn finish(mut self) -> (Collected, AddressSpace) {
        self.collected.stacks = self.stacks;
        self.collected.kernel_stacks = self.kernel_stacks;
        (self.collected, self.space)
    }
}

impl Collected {
    /// Keeps the pause, perhaps instead of the shortest one.
    fn keep(&mut self, pause: FinishedPause, keep: Keep) {
        let has_length = pause.duration_ns().is_some();
        self.pauses.push(pause);
        let limit = match (keep, has_length) {
            (Keep::All, _) => return,
            (Keep::Worst(_), false) => PARTIAL_KEPT,
            (Keep::Worst(limit), true) => limit,
        };
        let same_sort = || {
            let pauses = self.pauses.iter().enumerate();
            pauses.filter(|(_, other)| other.duration_ns().is_some() == has_length)
        };
        if same_sort().count() > limit
            && let Some((shortest, _)) = same_sort().min_by_key(|(_, other)| other.duration_ns())
        {
            self.pauses.swap_remove(shortest);
        }
    }

    fn add(&mut self, pause: &FinishedPause) {
        *self.by_state.entry(pause.state).or_default() += 1;
        let of = |totals: &Totals| totals.by_kind.iter().map(|kind| kind.count).sum::<u64>();
        self.counted += of(&pause.record.driver_totals) + of(&pause.record.other_totals);
        *self.drove.entry(pause.record.driver).or_default() += 1;
        if pause.state == State::Discarded {
            let faults = pause.by_kind.values().map(|kind| kind.count).sum();
            self.discarded.add(pause.duration_ns().unwrap_or(0), faults, pause.in_faults_ns());
        }
        let Some(ns) = pause.duration_ns().filter(|_| pause.state == State::Complete) else { return };
        *self.by_reason.entry(pause.reason.name.clone()).or_default() += 1;
        match pause.reason.is_gc {
            Some(true) => self.collections += 1,
            Some(false) => self.other_stops += 1,
            None => {}
        }
        self.explained_partly |= !pause.stopping_whole;
        self.durations.add(ns);
        self.worst_ns = self.worst_ns.max(Some(ns));
        self.paused_ns += ns;
        self.in_faults_ns += pause.in_faults_ns();
        self.explained_ns += pause.explained_ns;
        self.major += pause.record.driver_totals.major;
        self.minor += pause.record.driver_totals.minor;
        self.reclaim_ns += pause.record.driver_totals.reclaim_ns;
        self.tracing_ns += pause.record.driver_totals.tracing_ns;
        self.others_major += pause.record.other_totals.major;
        self.others_minor += pause.record.other_totals.minor;
        if let Some(stopping_ns) = pause.stopping_ns() {
            self.stopping_ns = Some(self.stopping_ns.unwrap_or(0) + stopping_ns);
        }
        if let Some(waited) = &pause.waited {
            *self.waited_for_workers_ns.get_or_insert_default() += waited.for_workers_ns;
        }
        if let Some(budget) = &pause.budget {
            self.budget.get_or_insert_default().add(budget);
        }
        if let Some(stopping) = &pause.stopping {
            let (count, ns, budget) = self.stopping.get_or_insert_default();
            *count += 1;
            *ns += stopping.ns;
            budget.add(&stopping.budget);
        }
        reads::add_all(&mut self.reads, &pause.reads);
        add_counts(&mut self.by_kind, &pause.by_kind);
        add_counts(&mut self.by_region, &pause.by_region);
        add_counts(&mut self.others_by_kind, &pause.others_by_kind);
    }
}

fn add_counts<K: Copy + Ord>(to: &mut BTreeMap<K, KindCount>, from: &BTreeMap<K, KindCount>) {
    for (key, count) in from {
        let total = to.entry(*key).or_default();
        total.count += count.count;
        total.ns += count.ns;
        total.inferred += count.inferred;
    }
}
