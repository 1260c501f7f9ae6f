//! The report's anatomy of a pause: what its driver was blocked on, what kept the world from
//! stopping, which devices were read, and which memory was touched.

use serde::{Deserialize, Serialize};

use super::model::KindTotal;
pub use crate::pause::{
    AtRequest, BlockedOn, Budget, BudgetPart, MemoryPressure, StoppingBudget, Throttling,
};

/// A place in the code at which the driver was blocked outside faults.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Blocked {
    /// On what, by the kernel stack.
    pub on: BlockedOn,
    /// How often.
    pub count: u64,
    /// For how long, within the pause, until the wake-up; what passed from there to the CPU is waiting for a CPU.
    pub ns: u64,
    /// Thread that ended the longest one; `null` when it was not a thread of the target (a timer, a device) or not seen.
    pub woken_by_tid: Option<u32>,
    /// The kernel's functions, innermost first.
    pub kernel_frames: Vec<String>,
    /// The program's functions, innermost first.
    pub frames: Vec<String>,
}

/// A thread that works for a pause besides its driver, such as a parallel collector's.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Worker {
    /// The thread.
    pub tid: u32,
    /// Its name; `null` when it had ended before it could be read.
    pub name: Option<String>,
    /// Its faults that ended in the pause.
    pub faults: u64,
    /// Its time in faults: wall time, clipped to the pause.
    pub in_faults_ns: u64,
    /// Where its time went from requested to resumed: the parts add up to the pause's `duration_ns`.
    pub budget: Budget,
}

/// How long the driver waited for workers. Lower bounds: only what was seen counts.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct WaitedForWorkers {
    /// After the world had stopped, the driver was blocked outside faults while at least one worker ran, was ready to run,
    /// or was in a fault.
    pub ns: u64,
    /// Of it, at least one worker was in a fault.
    pub in_their_faults_ns: u64,
    /// Wall time of the pause in which at least one worker was in a fault, whatever the driver did.
    pub faults_wall_ns: u64,
    /// More was seen than is kept: it was longer.
    pub at_least: bool,
}

/// The driver's waits for a CPU in a pause, in faults or not.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct CpuWaits {
    /// How often the driver lost its CPU, because it was blocked or because others were to have it.
    pub switches: u64,
    /// How often.
    pub count: u64,
    /// Their time.
    pub ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// Who ran on the CPU until the driver got it, most time first. Idle CPUs are not among them.
    pub after: Vec<Neighbour>,
}

/// A thread that had the CPU for which the driver waited.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Neighbour {
    /// Its name.
    pub name: String,
    /// Its thread id, in the initial pid namespace.
    pub tid: u32,
    /// Whether it is a thread of the target itself.
    pub of_target: bool,
    /// How many of the driver's waits ended when it left the CPU.
    pub count: u64,
    /// Their time; it need not have had the CPU all the time.
    pub ns: u64,
}

/// What made the world stop so late: requested → stopped, by its threads.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Stopping {
    /// The whole phase.
    pub ns: u64,
    /// The thread that stopped last, as far as it can be told: the one that woke the driver up for the last time in the
    /// phase.
    pub last_tid: Option<u32>,
    /// How that thread spent the phase (the driver itself where it waited for nobody), in parts that add up to it.
    pub budget: StoppingBudget,
    /// Threads whose state changed while the world was stopping, the last one first.
    pub threads: Vec<StoppingThread>,
}

/// One thread while the world was stopping.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct StoppingThread {
    /// The thread.
    pub tid: u32,
    /// Its name; `null` when it had ended before it could be read.
    pub name: Option<String>,
    /// What it was doing when the stop was requested.
    pub at_request: AtRequest,
    /// For how long it had been doing that; `null` when it had begun before the trace.
    pub since_ns: Option<u64>,
    /// How it spent the phase.
    pub budget: StoppingBudget,
    /// What it was blocked on, when the kernel stack was seen.
    pub blocked_on: Option<BlockedOn>,
    /// The kernel's functions where it left the CPU, innermost first; empty when not seen.
    pub kernel_frames: Vec<String>,
    /// The program's functions there.
    pub frames: Vec<String>,
}

/// What was read from a device inside the driver's faults.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct DeviceReads {
    /// The device's name, such as `vda`, `zram0`; `zswap` for what was found in the compressed cache before swap;
    /// `another thread's read` where the fault waited for a page that somebody else was reading.
    pub device: String,
    /// What it serves here: `swap partition`, `swap file /var/swap`, `files`; `null` when that can't be told.
    pub serves: Option<String>,
    /// How many faults read from it.
    pub faults: u64,
    /// Their time.
    pub ns: u64,
    /// How many requests they made.
    pub requests: u64,
    /// How much they read.
    pub bytes: u64,
    /// How many pages beyond the one that each fault was about: read-ahead.
    pub read_ahead_pages: u64,
    /// How many of the faults are assigned by inference.
    pub inferred: u64,
}

/// Memory that the driver's faults touched, as exactly as it can be named.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Place {
    /// What it belongs to.
    pub region: crate::memory::Region,
    /// What it is within that, such as `span sets`, `/usr/lib/libc.so.6, offset 0x1000..0x9000`.
    pub what: String,
    /// The faults.
    #[serde(flatten)]
    pub total: KindTotal,
}

/// What all pauses' stopping phases add up to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct StoppingTotal {
    /// Over how many pauses.
    pub pauses: u64,
    /// The phases.
    pub ns: u64,
    /// How the last thread of each spent it.
    pub budget: StoppingBudget,
}

/// A part of the report that can't be had here.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Unavailable {
    /// The part, such as `budget`, `kernel stacks`.
    pub part: String,
    /// Why, and what would help.
    pub why: String,
}
