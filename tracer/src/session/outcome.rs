//! Everything that a trace has brought in, before it is named and reported.

use std::collections::BTreeMap;

use tracer_common::{pause::ProcessTotals, thread::ThreadState};

use crate::{
    memory::AddressSpace,
    pause::{Collected, Losses, MemoryPressure, StampDifferences, Surroundings, Throttling},
    probe::{Detaching, Plan},
    symbols::Modules,
    target::Reading,
};

/// Why a trace ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The asked-for time was over.
    Duration,
    /// It was interrupted.
    Interrupted,
    /// The target ended.
    TargetExited,
}

/// The kernel's own fault counters around the trace: shortly before and after the gate's opening and its closing.
#[derive(Clone, Debug, Default)]
pub struct CounterReadings {
    /// Before the gate opened.
    pub before_open: Reading,
    /// After.
    pub after_open: Reading,
    /// Before the gate closed.
    pub before_close: Reading,
    /// After.
    pub after_close: Reading,
}

/// What the kernel-side programs cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramCost {
    /// CPU time in ns, all CPUs.
    pub run_ns: u64,
    /// How often they ran.
    pub runs: u64,
}

/// What a trace has brought in.
#[derive(Debug)]
pub struct Outcome {
    /// What was done.
    pub plan: Plan,
    /// Pauses and sums.
    pub collected: Collected,
    /// The target's mappings.
    pub space: AddressSpace,
    /// The target's executable files, still open.
    pub modules: Modules,
    /// The kernel side's totals.
    pub totals: ProcessTotals,
    /// The threads that were alive at the end.
    pub threads: BTreeMap<u32, ThreadState>,
    /// What was dropped.
    pub losses: Losses,
    /// The kernel's own counters.
    pub counters: CounterReadings,
    /// Probes' times against the runtime's stamps.
    pub stamps: StampDifferences,
    /// What is known of host and target, for inferred kinds.
    pub surroundings: Surroundings,
    /// When the gate opened, `CLOCK_MONOTONIC` in ns.
    pub opened_ns: u64,
    /// The same moment, milliseconds since 1970.
    pub opened_unix_ms: u64,
    /// When the gate closed, `CLOCK_MONOTONIC` in ns.
    pub closed_ns: u64,
    /// Why.
    pub ended: Ended,
    /// CPU throttling of the target's cgroups over the trace.
    pub throttling: Option<Throttling>,
    /// The memory limit that binds the target.
    pub memory_pressure: Option<MemoryPressure>,
    /// Why the kernel's functions have no names; `None` when they have.
    pub kernel_names_missing: Option<String>,
    /// From the start of the attachment to the gate's opening, in ns.
    pub attach_ns: u64,
    /// Cost of the kernel-side programs; `None` when it was not measured.
    pub programs: Option<ProgramCost>,
    /// The target runs another program by now: pauses since then were not seen.
    pub program_replaced: bool,
    /// Things to tell the user.
    pub notes: Vec<String>,
    /// The probes on their way out: gone when this has been dropped.
    pub detaching: Option<Detaching>,
}
