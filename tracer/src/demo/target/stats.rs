//! What the demo target did, as data: printed as one JSON line at its end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything that was done.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Stats {
    /// Process id, as the process itself sees it.
    pub pid: u32,
    /// The thread that made the pauses.
    pub tid: u32,
    /// Size of a page.
    pub page_bytes: u64,
    /// How many pauses there were: those below, and those of the burst.
    pub total_pauses: u64,
    /// Whether every pause's counters agree with what was expected.
    pub exact: bool,
    /// Kinds that can't be had here and were left out, each with the reason.
    pub left_out: Vec<String>,
    /// Pauses, in order, without those of the burst.
    pub pauses: Vec<PauseStats>,
    /// The burst of empty pauses, which came after the others.
    pub burst: Option<BurstStats>,
    /// Threads that faulted all the time: their whole lives.
    pub bystanders: Vec<BystanderStats>,
}

/// One pause. What a pause that ended the process would have measured is `null`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct PauseStats {
    /// From 1, in order.
    pub number: u64,
    /// From 1; 0 for a pause outside the rounds.
    pub round: u64,
    /// The argument of `pauselens_demo_stop_world`.
    pub reason: u32,
    /// Its name.
    pub reason_name: String,
    /// Pages touched, by the demo's own names of the kinds.
    pub touched: BTreeMap<String, u64>,
    /// Faults of the driver, in the words of pauselens; `swap` stands for `swap_in` and `swap_cache` together.
    pub expected: BTreeMap<String, u64>,
    /// Faults of other threads that end inside the pause, bystanders left aside.
    pub expected_others: BTreeMap<String, u64>,
    /// Pages populated with `madvise`: in the thread's counters, but no faults.
    pub populated: u64,
    /// What the touches of each kind added to the thread's own counters, by the demo's names of the kinds. Of `swap`, the
    /// major ones are `swap_in` and the minor ones `swap_cache`.
    pub counted: BTreeMap<String, CountedStats>,
    /// From just before the stop to just after the start, `CLOCK_MONOTONIC`.
    pub duration_ns: Option<u64>,
    /// From just before the stop to just after it.
    pub stopping_ns: Option<u64>,
    /// What the pause added to the thread's minor faults.
    pub minflt: Option<u64>,
    /// What the pause added to the thread's major faults.
    pub majflt: Option<u64>,
    /// Faults that the tracer itself caused here: 1 when the page appeared that the kernel steps probed instructions
    /// in.
    pub probe_page_faults: Option<u64>,
    /// CPU time of the driver, from just before the stop to just after the start.
    pub cpu_ns: Option<u64>,
    /// How often the driver gave the CPU up to wait for something.
    pub voluntary_switches: Option<u64>,
    /// How often the CPU was taken from the driver.
    pub involuntary_switches: Option<u64>,
    /// What the driver did besides touching pages, by the option's name.
    pub acts: BTreeMap<String, ActStats>,
    /// Its wait on a futex.
    pub futex_wait: Option<FutexWaitStats>,
    /// Whether the counters agree with what was expected, kind by kind and as a whole.
    pub exact: Option<bool>,
    /// Delays of the driver's userfaultfd faults.
    pub userfault_delay: Option<DelayStats>,
    /// The mutator that was in a fault when the stop was requested.
    pub mutator: Option<MutatorStats>,
    /// The mutator that computed when the stop was requested.
    pub computing_mutator: Option<ComputingMutatorStats>,
    /// The process ended in the middle of this pause, after the touches.
    pub ends_process: bool,
}

/// Faults in a thread's own counters.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct CountedStats {
    /// Minor ones.
    pub minflt: u64,
    /// Major ones.
    pub majflt: u64,
}

/// Something that the driver did, as it measured it itself.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct ActStats {
    /// From its begin to its end.
    pub elapsed_ns: u64,
    /// The driver's CPU time in it.
    pub cpu_ns: u64,
}

/// A wait on a futex, from just before the driver asked another thread to wake it later.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct FutexWaitStats {
    /// The thread that woke the driver.
    pub waker_tid: u32,
    /// Until just before the wake-up, measured by that thread.
    pub woken_after_ns: u64,
    /// Until the driver went on, measured by the driver.
    pub waited_ns: u64,
}

/// A mutator that computed after it had seen that a stop was requested.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct ComputingMutatorStats {
    /// The thread.
    pub tid: u32,
    /// From then until it was ready to stop.
    pub elapsed_ns: u64,
    /// Its CPU time meanwhile.
    pub cpu_ns: u64,
}

/// Delays as the userfaultfd handler measured them, from reading an event to just before the answer: a fault takes
/// longer than its delay.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct DelayStats {
    /// How many.
    pub count: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The mean.
    pub mean_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Their sum.
    pub sum_ns: u64,
}

/// A mutator's fault that began before the pause.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct MutatorStats {
    /// The thread.
    pub tid: u32,
    /// From the handler's reading of the event to its answer.
    pub delay_ns: u64,
    /// From the handler's reading of the event to just before the stop.
    pub lead_ns: u64,
}

/// Empty pauses without a sleep between them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct BurstStats {
    /// How many.
    pub count: u64,
    /// From before the first to after the last.
    pub elapsed_ns: u64,
    /// The sum of their durations.
    pub sum_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// What the burst added to the thread's minor faults.
    pub minflt: u64,
    /// What the burst added to the thread's major faults.
    pub majflt: u64,
}

/// A thread that faulted all the time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct BystanderStats {
    /// The thread.
    pub tid: u32,
    /// Its minor faults.
    pub minflt: u64,
    /// Its major faults.
    pub majflt: u64,
}
