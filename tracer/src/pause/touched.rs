//! What the faults of a group of threads have touched in one window, and from where: added up in bounded memory.

use std::collections::{BTreeMap, HashMap};

use tracer_common::fault::{FaultRecord, seen};

use super::{
    kind::{Kind, KindCount},
    places::{PlaceTotal, Places},
    refine::Refined,
};
use crate::memory::{Placed, Region};

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

    fn ns(&self) -> u64 {
        self.by_kind.values().map(|(_, ns, _)| ns).sum()
    }
}

/// The group's faults so far.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// By stack id; 0 stands for a lost stack, [`StackTotal::PAST_THE_BOUND`] for those past the bound.
    stacks: HashMap<u64, StackTotal>,
    /// By what they touched: count, time in ns, and how many are placed by inference.
    pub(super) regions: BTreeMap<Region, (u64, u64, u64)>,
    /// The same, closer.
    places: Places,
}

impl Touched {
    /// Adds a fault with its time inside the window, in ns.
    pub(super) fn add(&mut self, record: &FaultRecord, refined: Refined, ns: u64) {
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

    /// Adds what one of them has touched.
    pub(super) fn add_place(&mut self, placed: &Placed, ns: u64) {
        self.places.add(placed, ns);
        let (count, sum_ns, inferred) = self.regions.entry(placed.region).or_default();
        *count += 1;
        *sum_ns += ns;
        *inferred += u64::from(placed.inferred);
    }

    /// Where in the kernel its faults were blocked: kernel stacks, each with its time in ns.
    pub(super) fn blocked(&self) -> impl Iterator<Item = (u64, u64)> {
        self.stacks.values().flat_map(|total| &total.kernel).map(|(stack, (_, ns))| (*stack, *ns))
    }

    /// The faults by kind, as far as there are details.
    pub(super) fn by_kind(&self) -> BTreeMap<Kind, KindCount> {
        let mut kinds: BTreeMap<Kind, KindCount> = BTreeMap::new();
        for (kind, (count, ns, inferred)) in self.stacks.values().flat_map(|total| &total.by_kind) {
            let total = kinds.entry(*kind).or_default();
            total.count += count;
            total.ns += ns;
            total.inferred += inferred;
        }
        kinds
    }

    /// Places, most time first, which add up to the regions; and stacks, most time first.
    pub(super) fn finish(
        self,
        by_region: &BTreeMap<Region, KindCount>,
    ) -> (Vec<PlaceTotal>, Vec<(u64, StackTotal)>) {
        let mut stacks: Vec<_> = self.stacks.into_iter().collect();
        stacks.sort_by_key(|(stack, total)| (std::cmp::Reverse(total.ns()), *stack));
        (self.places.finish(by_region), stacks)
    }
}
