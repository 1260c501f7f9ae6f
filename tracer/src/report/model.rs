//! The report as data: what the JSON output holds, field by field, and what the text is rendered from.
//!
//! Rules: times are nanoseconds counted from the start of the trace, so that no integer reaches 2^53 however long
//! the host has been up; what is not known is `null`, never 0; what is inferred is counted as such.
//! `docs/json.md` describes the same fields for readers of the output.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use super::memory_state::MemoryState;

pub use super::anatomy::*;
pub use super::exposure::Exposures;
pub use super::windows::{Call, KeyedBy, Sampled, Short, Unit, Windows};
pub use crate::{
    memory::Region,
    pause::{Kind, State},
};

/// The schema's name and version: changed whenever a field changes its meaning or goes away.
pub const SCHEMA: &str = "pauselens.report/1";

/// A whole report.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// What made the report.
    pub tool: Tool,
    /// The traced process.
    pub target: Target,
    /// What its windows are; everywhere else they are called pauses, whatever they are.
    #[serde(default)]
    pub windows: Windows,
    /// How it was traced, and what was lost.
    pub trace: Trace,
    /// What of the target's memory was out before and after the trace, and what the next pause would take.
    pub exposure: Exposures,
    /// What all completed pauses add up to.
    pub summary: Summary,
    /// Pauses, longest first: the worst ones, or all of them.
    pub pauses: Vec<Pause>,
    /// What the numbers say, most important first.
    pub diagnosis: Vec<Diagnosis>,
}

/// The program that made the report.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Tool {
    /// `pauselens`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The traced process.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Target {
    /// Process id, as the user typed it.
    pub pid: u32,
    /// Path of the executable as the target sees it.
    pub exe: String,
    /// Its id in its own pid namespace, when that is another one.
    pub pid_in_namespace: Option<u32>,
    /// The container that it is of, as far as the path of its cgroup tells.
    pub container: Option<Container>,
    /// The systemd service that it is of, inside the container if there is one.
    pub unit: Option<String>,
    /// GNU build id of the executable in hexadecimal, when it has one.
    pub build_id: Option<String>,
    /// The runtime that was recognised.
    pub runtime: Runtime,
}

/// A container.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Container {
    /// `docker`, `containerd`, `cri-o`, `podman`, `lxc`, `systemd-nspawn`; `null` when the path does not say.
    pub runtime: Option<String>,
    /// Its id, or its name where the engine uses names.
    pub id: String,
    /// The unique id of its Kubernetes pod.
    pub pod_uid: Option<String>,
}

/// The recognised runtime.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Runtime {
    /// `go`, `pauselens-demo`.
    pub name: String,
    /// Its version, such as `1.27.3`.
    pub version: String,
}

/// How the trace was made and what it covers.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Trace {
    /// Start, milliseconds since 1970-01-01 UTC: the zero of all other times.
    pub started_unix_ms: u64,
    /// The clock that all times were read from.
    pub clock: String,
    /// From the gate's opening to its closing.
    pub duration_ns: u64,
    /// From when on the process's pauses are covered, from the start of the trace: 0 for one that was there.
    pub covered_from_ns: u64,
    /// Why the trace ended.
    pub ended: Ended,
    /// The target's exit status or signal in words, when it ended and pauselens had started it.
    pub exit: Option<String>,
    /// What was probed, and how.
    pub plan: Vec<PlanStep>,
    /// Details dropped in the kernel, by cause. Every cause is listed; totals are not affected unless said.
    pub dropped: BTreeMap<String, u64>,
    /// How many faults inside windows have their details, of how many.
    pub fault_details: Part,
    /// Whether everything was seen. When false, `incomplete` says what was not.
    pub complete: bool,
    /// What is missing, in words.
    pub incomplete: Vec<String>,
    /// Things to know that don't make the result incomplete.
    pub notes: Vec<String>,
    /// Parts that can't be had here, with the reason; what belongs to them is `null` or empty.
    pub unavailable: Vec<Unavailable>,
    /// Faults of the whole process against the kernel's own counters, over the whole trace.
    pub reconciliation: Reconciliation,
    /// The same for each thread that drove a pause or has something left over.
    pub threads: Vec<ThreadReconciliation>,
    /// The runtime's own stamps against the probes' times, when the runtime carries them.
    pub runtime_stamps: Option<StampCheck>,
    /// What tracing cost: see the fields.
    pub overhead: Overhead,
}

/// Why a trace ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The asked-for time was over.
    Duration,
    /// Ctrl-C, or a termination request.
    Interrupted,
    /// The target ended.
    TargetExited,
    /// The target runs another program from then on, which has a report of its own.
    ProgramReplaced,
    /// Windows began more often than `--max-rate` allows.
    TooOften,
    /// Not known: the recording ends before.
    RecordingCutOff,
}

/// One step of the plan.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct PlanStep {
    /// What is needed: `fault begin`, `pause stopped`, ...
    pub need: String,
    /// What serves it: `tracepoint exceptions:page_fault_user`, `uprobe runtime.stopTheWorldWithSema`, ...
    pub source: String,
    /// Why this one, or why nothing serves it.
    pub why: String,
    /// Whether it is in use.
    pub used: bool,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Part {
    /// How many there are.
    pub of: u64,
    /// How many of them are covered.
    pub have: u64,
}

/// Faults as pauselens counted them against the kernel's per-task counters.
///
/// The kernel's counters can be read only shortly before and after the trace, so they give a range.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Reconciliation {
    /// Minor faults counted by pauselens; `null` when a recording ends before that is told.
    pub minor: Option<u64>,
    /// Major faults counted by pauselens.
    pub major: Option<u64>,
    /// The fewest minor faults that the kernel counted during the trace.
    pub kernel_minor_least: Option<u64>,
    /// The most.
    pub kernel_minor_most: Option<u64>,
    /// The fewest major faults that the kernel counted during the trace.
    pub kernel_major_least: Option<u64>,
    /// The most.
    pub kernel_major_most: Option<u64>,
    /// What the range leaves over: positive when the kernel counted faults that pauselens did not see (such as
    /// `MADV_POPULATE_WRITE`, which takes no fault), negative when pauselens counted more. `null` when the
    /// kernel's counters could not be read.
    pub left_over: Option<i64>,
}

/// One thread's reconciliation.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct ThreadReconciliation {
    /// Thread id.
    pub tid: u32,
    /// The thread's name, when it could be read.
    pub name: Option<String>,
    /// How many pauses it drove.
    pub drove: u64,
    /// Its counts.
    #[serde(flatten)]
    pub counts: Reconciliation,
}

/// How far the probes' times are from the stamps that the runtime carries in its own arguments.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct StampCheck {
    /// Pauses compared.
    pub pauses: u64,
    /// Largest |probe's requested - runtime's started stopping|, ns.
    pub requested_worst_ns: Option<u64>,
    /// Median of the same.
    pub requested_median_ns: Option<u64>,
    /// Largest |probe's stopped - runtime's finished stopping|, ns.
    pub stopped_worst_ns: Option<u64>,
    /// Median of the same.
    pub stopped_median_ns: Option<u64>,
}

/// What tracing cost.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Overhead {
    /// CPU time spent in the kernel-side programs on all CPUs, `null` when it was not measured.
    pub programs_ns: Option<u64>,
    /// How often they ran, `null` when it was not measured.
    pub program_runs: Option<u64>,
    /// CPU time of pauselens itself.
    pub tracer_cpu_ns: Option<u64>,
    /// Its peak resident memory.
    pub tracer_peak_bytes: Option<u64>,
    /// From start to probes in place; `null` when a recording ends before that is told.
    pub attach_ns: Option<u64>,
}

/// Count and time of one kind of fault.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct KindTotal {
    /// How many.
    pub count: u64,
    /// Their time inside the pause.
    pub ns: u64,
    /// How many of them have this kind by inference (from the mapping and the major flag).
    pub inferred: u64,
}

/// By region of memory; only regions where faults were.
pub type ByRegion = BTreeMap<Region, KindTotal>;

/// By kind of fault; only kinds that occurred. The keys are design.md's kinds.
pub type ByKind = BTreeMap<Kind, KindTotal>;

/// What all completed pauses add up to. Pauses with an unknown begin or end are counted in `by_state` only.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Summary {
    /// Completed pauses.
    pub pauses: u64,
    /// Of them, collections; the others are stops for other reasons. Pauses of unknown reason are in neither.
    pub collections: u64,
    /// Stops that were no collections.
    pub other_stops: u64,
    /// Completed pauses by reason.
    pub by_reason: BTreeMap<String, u64>,
    /// All pauses by state.
    pub by_state: BTreeMap<State, u64>,
    /// Pauses whose record was lost; the totals below hold them, the quantiles don't.
    pub records_lost: u64,
    /// Median length; `null` without pauses.
    pub median_ns: Option<u64>,
    /// 90th percentile.
    pub p90_ns: Option<u64>,
    /// 99th percentile.
    pub p99_ns: Option<u64>,
    /// The longest.
    pub worst_ns: Option<u64>,
    /// Whether the quantiles are exact, or within 0.1 % because there were too many pauses to keep each length.
    pub quantiles_exact: bool,
    /// Sum of lengths.
    pub paused_ns: u64,
    /// Time of the drivers in faults: wall time, never more than `paused_ns`.
    pub in_faults_ns: u64,
    /// `in_faults_ns`, plus stopping time during which another thread was in a fault while the driver was not, plus time
    /// after it during which the driver was blocked and a worker was in a fault.
    pub explained_by_faults_ns: u64,
    /// Faults on the drivers.
    pub faults: u64,
    /// Of them, what the kernel called major.
    pub major: u64,
    /// And minor. A fault that ended in a signal is neither.
    pub minor: u64,
    /// The drivers' faults by kind.
    pub by_kind: ByKind,
    /// The drivers' faults by what they touched.
    pub by_region: ByRegion,
    /// Time of the drivers reclaiming memory inside faults.
    pub reclaim_ns: u64,
    /// Time outside faults that pauselens's own programs took after each fault of the driver: measured, and not all
    /// that tracing costs.
    pub tracing_ns: u64,
    /// Sum of requested → stopped, over the pauses where it is known.
    pub stopping_ns: Option<u64>,
    /// How long drivers waited for workers, as in the pauses; `null` when there are none, or it is unavailable.
    #[serde(default)]
    pub waited_for_workers_ns: Option<u64>,
    /// The pauses' budgets, added up: the parts add up to `paused_ns`, unless records were lost. `null` when the budget
    /// is unavailable.
    pub budget: Option<Budget>,
    /// The pauses' stopping phases, added up.
    pub stopping: Option<StoppingTotal>,
    /// What the drivers' faults read, by device.
    pub reads: Vec<DeviceReads>,
    /// CPU throttling of the target's cgroup over the whole trace; `null` when there was none, or no quota.
    pub throttling: Option<Throttling>,
    /// The memory limit that binds the target; `null` when it has none, or had ended before it could be read.
    pub memory_limit: Option<MemoryPressure>,
    /// Faults of other threads during pauses.
    pub bystanders: Bystanders,
}

/// Faults of threads that did not drive the pause.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Bystanders {
    /// How many ended inside the pause.
    pub faults: u64,
    /// Major ones.
    pub major: u64,
    /// Minor ones.
    pub minor: u64,
    /// A plain sum over threads, clipped to the pause: it can exceed the pause.
    pub sum_ns: u64,
    /// By kind; `ns` is a plain sum as well.
    pub by_kind: ByKind,
}

/// One pause.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Pause {
    /// Its number in the order of time, from 1.
    pub id: u64,
    /// The runtime's reason, in its own words.
    pub reason: String,
    /// Whether it was a collection; `null` when that can't be told.
    pub is_gc: Option<bool>,
    /// How much of it was seen.
    pub state: State,
    /// When the stop was requested; `null` when not seen. From the start of the trace, can be negative.
    pub requested_ns: Option<i64>,
    /// When the world had stopped.
    pub stopped_ns: Option<i64>,
    /// When the restart began.
    pub restarting_ns: Option<i64>,
    /// When the world ran again.
    pub resumed_ns: Option<i64>,
    /// When the runtime itself says that it began to stop the world; `null` when it doesn't carry that along.
    pub runtime_requested_ns: Option<i64>,
    /// When the runtime itself says that the world had stopped.
    pub runtime_stopped_ns: Option<i64>,
    /// requested → resumed; `null` unless both are known.
    pub duration_ns: Option<u64>,
    /// requested → stopped; `null` unless both are known.
    pub stopping_ns: Option<u64>,
    /// The thread that drove it.
    pub driver_tid: u32,
    /// The code path that asked for the stop: function names, innermost first; `null` when it could not be walked.
    pub requested_by: Option<Vec<String>>,
    /// The thread that resumed the world, when it was another one.
    pub resumed_by_tid: Option<u32>,
    /// What is known of a call; `null` for pauses and other windows.
    #[serde(default)]
    pub call: Option<Call>,
    /// Faults on the driver inside the pause.
    pub faults: u64,
    /// What the kernel called major.
    pub major: u64,
    /// And minor.
    pub minor: u64,
    /// Time of the driver in faults: wall time.
    pub in_faults_ns: u64,
    /// As in the summary.
    pub explained_by_faults_ns: u64,
    /// Time of the driver reclaiming memory inside faults.
    pub reclaim_ns: u64,
    /// Time outside faults that pauselens's own programs took after each fault of the driver: measured, and not all
    /// that tracing costs.
    pub tracing_ns: u64,
    /// The driver's faults by kind.
    pub by_kind: ByKind,
    /// The driver's faults by what they touched.
    pub by_region: ByRegion,
    /// The same, as exactly as the memory can be named, longest time first. Each fault is in exactly one, unless its
    /// detail was dropped.
    pub places: Vec<Place>,
    /// Where the time went; `null` when that is unavailable, or the pause was not seen whole.
    pub budget: Option<Budget>,
    /// Threads that worked for the pause besides the driver; the runtime decides which those are (none in Go). Those of
    /// which nothing was seen in it are left out.
    pub workers: Vec<Worker>,
    /// How many were left out.
    #[serde(default)]
    pub workers_unseen: u64,
    /// What these threads' faults were, all together; `null` when there are none.
    #[serde(default)]
    pub worker_faults: Option<WorkerFaults>,
    /// How long the driver waited for workers; `null` when there are none, or it is unavailable.
    #[serde(default)]
    pub waited_for_workers: Option<WaitedForWorkers>,
    /// Where the driver was blocked outside faults, longest first.
    pub blocked: Vec<Blocked>,
    /// The driver's waits for a CPU; `null` when unavailable.
    pub cpu_waits: Option<CpuWaits>,
    /// CPU throttling around the pause; `null` when there was none, or no quota.
    pub throttling: Option<Throttling>,
    /// What the driver's faults read, by device, longest time first.
    pub reads: Vec<DeviceReads>,
    /// How many of the driver's and bystanders' faults have their details.
    pub fault_details: Part,
    /// The longest single fault of the driver.
    pub longest_fault: Option<LongestFault>,
    /// Code paths of the driver's faults, by time, longest first. Each fault is in exactly one.
    pub stacks: Vec<Stack>,
    /// How the world came to a stop; `null` when requested or stopped is not known, or it is unavailable.
    pub stopping: Option<Stopping>,
    /// Faults of other threads that overlap requested → stopped: what kept the world from stopping.
    pub stopping_faults: Vec<StoppingFault>,
    /// Faults of other threads in the whole pause.
    pub bystanders: Bystanders,
    /// The state of memory at its end; absent unless the trace was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Box<MemoryState>>,
}

/// The longest single fault of a pause's driver.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct LongestFault {
    /// Its kind.
    pub kind: Kind,
    /// Its length.
    pub ns: u64,
    /// The address, in hexadecimal.
    pub address: String,
    /// What is mapped there, such as `[heap]` or a file's path; `null` when not known.
    pub mapping: Option<String>,
}

/// Faults of all threads that work for a pause besides its driver.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct WorkerFaults {
    /// How many ended in the pause.
    pub faults: u64,
    /// Their time inside the pause: a plain sum over the threads, which can exceed the pause.
    pub sum_ns: u64,
    /// How many of them have their details. What follows is added up from these alone.
    pub fault_details: Part,
    /// By kind.
    pub by_kind: ByKind,
    /// By what they touched.
    pub by_region: ByRegion,
    /// The same, as exactly as the memory can be named, longest time first.
    pub places: Vec<Place>,
    /// Code paths, by time, longest first.
    pub stacks: Vec<Stack>,
}

/// One code path's faults.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Stack {
    /// Function names, innermost first: the first one faulted. A lost or cut part is a frame in square brackets.
    pub frames: Vec<String>,
    /// How many faults.
    pub faults: u64,
    /// Their time inside the pause.
    pub ns: u64,
    /// By kind.
    pub by_kind: ByKind,
    /// Where in the kernel these faults were blocked, longest first.
    pub kernel: Vec<KernelPath>,
}

/// Where in the kernel faults were blocked.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct KernelPath {
    /// On what.
    pub on: BlockedOn,
    /// How many faults.
    pub faults: u64,
    /// How long they were blocked in all.
    pub ns: u64,
    /// The kernel's functions, innermost first.
    pub frames: Vec<String>,
}

/// A fault of another thread during requested → stopped.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct StoppingFault {
    /// The thread.
    pub tid: u32,
    /// Its kind.
    pub kind: Kind,
    /// How long it had been in the fault when the stop was requested; 0 when it began later.
    pub before_request_ns: u64,
    /// The fault's full length.
    pub full_ns: u64,
    /// The part inside the stopping phase.
    pub in_stopping_ns: u64,
    /// Function names, innermost first.
    pub frames: Vec<String>,
}

/// One finding.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Diagnosis {
    /// A short stable name, such as `swap_in_during_pause`.
    pub rule: String,
    /// One plain sentence that follows from the numbers.
    pub finding: String,
    /// The numbers that it rests on.
    pub evidence: Vec<String>,
    /// What usually helps.
    pub remedies: Vec<String>,
}
