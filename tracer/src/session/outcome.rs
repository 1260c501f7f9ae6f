//! Everything that a trace has brought in, before it is named and reported.

use std::{collections::BTreeMap, path::PathBuf};

use tracer_common::{pause::ProcessTotals, thread::ThreadState};

use super::{sampling::Sampled, subject::Subject};
use crate::{
    memory::AddressSpace,
    pause::{Collected, Losses, MemoryPressure, StampDifferences, Surroundings, Throttling},
    probe::{Detaching, Plan},
    recording::ProcessRecorder,
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
    /// The target runs another program from now on, which is traced by itself.
    ProgramReplaced,
    /// Windows began more often than was allowed.
    TooOften,
}

/// How a process, or the program that it runs, came to be traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Began {
    /// It was there when the trace began.
    #[default]
    Before,
    /// It began while the trace ran, at this moment (`CLOCK_MONOTONIC` in ns).
    At(u64),
    /// It was there before, and was found to be one to trace at this moment: its runtime's library had been mapped, or it
    /// had come into the cgroup.
    FoundAt(u64),
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
    /// The trace's start, from which all times are counted, `CLOCK_MONOTONIC` in ns.
    pub zero_ns: u64,
    /// The same moment, milliseconds since 1970.
    pub zero_unix_ms: u64,
    /// When the process's gate opened, `CLOCK_MONOTONIC` in ns: from here on its pauses are covered.
    pub opened_ns: u64,
    /// How it came to be traced.
    pub began: Began,
    /// When the gate closed, `CLOCK_MONOTONIC` in ns.
    pub closed_ns: u64,
    /// Why.
    pub ended: Ended,
    /// How many windows began in a second when that was too many, and the trace was stopped.
    pub too_often: Option<u64>,
    /// What was watched, when it was a share of the time only.
    pub sampled: Option<Sampled>,
    /// CPU throttling of the target's cgroups over the trace.
    pub throttling: Option<Throttling>,
    /// The memory limit that binds the target.
    pub memory_pressure: Option<MemoryPressure>,
    /// Why the kernel's functions have no names; `None` when they have.
    pub kernel_names_missing: Option<String>,
    /// Other processes were traced as well: the losses are those of all.
    pub others_traced: bool,
    /// From the start of the attachment to the gate's opening, in ns.
    pub attach_ns: u64,
    /// Cost of the kernel-side programs; `None` when it was not measured.
    pub programs: Option<ProgramCost>,
    /// The target runs another program by now: pauses since then were not seen.
    pub program_replaced: bool,
    /// Its part of the recording, when there is one.
    pub recording: Option<ProcessRecorder>,
    /// Things to tell the user.
    pub notes: Vec<String>,
}

/// What a trace of any number of processes has brought in.
#[derive(Debug)]
pub struct Traced {
    /// Each process, or program of a process, in the order in which they ended or, at last, of their ids.
    pub processes: Vec<(Subject, Outcome)>,
    /// Processes that were asked for and could not be traced.
    pub unrecognised: Vec<Unrecognised>,
    /// How many more there were than are kept.
    pub unrecognised_more: u64,
    /// What is missing from the whole, in words.
    pub incomplete: Vec<String>,
    /// Things to tell the user.
    pub notes: Vec<String>,
    /// The trace's start, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// How long it was, in ns.
    pub duration_ns: u64,
    /// Why it ended.
    pub ended: Ended,
    /// What was dropped, of all processes.
    pub losses: Losses,
    /// The probes on their way out: gone when this has been dropped.
    pub detaching: Option<Detaching>,
}

/// A process that was asked for and could not be traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecognised {
    /// Its id in the tracer's pid namespace.
    pub pid: u32,
    /// Its executable as it sees it; `None` when that could not be read.
    pub exe: Option<PathBuf>,
    /// Why.
    pub why: String,
}
