//! The report's anatomy of a pause: the budget of its driver, what it was blocked on, what kept the world from
//! stopping, which devices were read, and which memory was touched.

use serde::{Deserialize, Serialize};

use super::model::{ByRegion, KindTotal};
pub use crate::pause::{AtRequest, BlockedOn};

/// Where a pause's time went on its driver, in parts that add up to its `duration_ns`.
///
/// Exclusive parts: waiting for a CPU goes before all others, reclaim and compaction go before being blocked. What
/// begins with `fault_` is inside page faults.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Budget {
    /// In faults, blocked until a device had answered.
    pub fault_blocked_io_ns: u64,
    /// In faults, blocked on something else: a `userfaultfd` handler, a lock of the kernel's.
    pub fault_blocked_other_ns: u64,
    /// In faults, blocked, and the kernel stack that would tell on what is missing.
    pub fault_blocked_unknown_ns: u64,
    /// In faults, freeing memory: direct and memory-cgroup reclaim.
    pub fault_reclaiming_ns: u64,
    /// In faults, moving memory together for a larger piece.
    pub fault_compacting_ns: u64,
    /// In faults, ready to run, without a CPU.
    pub fault_waiting_for_cpu_ns: u64,
    /// In faults, the rest: running.
    pub fault_on_cpu_ns: u64,
    /// Outside faults, the rest: running, the work of the pause itself. Includes `tracing_ns`.
    pub on_cpu_ns: u64,
    /// Outside faults, ready to run, without a CPU: others had it, or a CPU quota was used up.
    pub waiting_for_cpu_ns: u64,
    /// Outside faults, blocked on a futex: a lock or condition of the program.
    pub blocked_futex_ns: u64,
    /// Outside faults, blocked until a device had answered.
    pub blocked_io_ns: u64,
    /// Outside faults, blocked on something else.
    pub blocked_other_ns: u64,
    /// Outside faults, blocked, and the kernel stack that would tell on what is missing.
    pub blocked_unknown_ns: u64,
    /// Outside faults, in system calls: freeing memory.
    pub reclaiming_ns: u64,
    /// Outside faults, in system calls: moving memory together for a larger piece.
    pub compacting_ns: u64,
    /// Not known: from the begin of a fault whose end was not seen.
    pub unknown_ns: u64,
}

/// One part of a [`Budget`]: its name in the JSON without the unit, its words, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetPart {
    /// Such as `fault_blocked_io`.
    pub name: &'static str,
    /// Such as `in faults: blocked on I/O`.
    pub words: &'static str,
    /// Its time.
    pub ns: u64,
}

impl Budget {
    /// All parts, those inside faults first.
    #[must_use]
    pub fn parts(&self) -> [BudgetPart; 16] {
        let part = |name, words, ns| BudgetPart { name, words, ns };
        [
            part("fault_blocked_io", "in faults, blocked on I/O", self.fault_blocked_io_ns),
            part("fault_blocked_other", "in faults, blocked otherwise", self.fault_blocked_other_ns),
            part(
                "fault_blocked_unknown",
                "in faults, blocked, unknown on what",
                self.fault_blocked_unknown_ns,
            ),
            part("fault_reclaiming", "in faults, reclaiming memory", self.fault_reclaiming_ns),
            part("fault_compacting", "in faults, compacting memory", self.fault_compacting_ns),
            part("fault_waiting_for_cpu", "in faults, waiting for a CPU", self.fault_waiting_for_cpu_ns),
            part("fault_on_cpu", "in faults, on CPU", self.fault_on_cpu_ns),
            part("on_cpu", "on CPU", self.on_cpu_ns),
            part("waiting_for_cpu", "waiting for a CPU", self.waiting_for_cpu_ns),
            part("blocked_futex", "blocked on a futex", self.blocked_futex_ns),
            part("blocked_io", "blocked on I/O", self.blocked_io_ns),
            part("blocked_other", "blocked otherwise", self.blocked_other_ns),
            part("blocked_unknown", "blocked, unknown on what", self.blocked_unknown_ns),
            part("reclaiming", "reclaiming memory", self.reclaiming_ns),
            part("compacting", "compacting memory", self.compacting_ns),
            part("unknown", "unknown", self.unknown_ns),
        ]
    }

    /// What the parts add up to.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        self.parts().iter().fold(0, |sum, part| sum.saturating_add(part.ns))
    }

    /// The largest part; the first of equals.
    #[must_use]
    pub fn largest(&self) -> BudgetPart {
        let parts = self.parts();
        parts.into_iter().reduce(|most, part| if part.ns > most.ns { part } else { most }).unwrap_or(parts[0])
    }

    /// Waiting for a CPU, in faults or not.
    #[must_use]
    pub fn all_waiting_for_cpu_ns(&self) -> u64 {
        self.fault_waiting_for_cpu_ns.saturating_add(self.waiting_for_cpu_ns)
    }

    /// Adds another one, part by part.
    pub fn add(&mut self, other: &Self) {
        self.fault_blocked_io_ns = self.fault_blocked_io_ns.saturating_add(other.fault_blocked_io_ns);
        self.fault_blocked_other_ns =
            self.fault_blocked_other_ns.saturating_add(other.fault_blocked_other_ns);
        self.fault_blocked_unknown_ns =
            self.fault_blocked_unknown_ns.saturating_add(other.fault_blocked_unknown_ns);
        self.fault_reclaiming_ns = self.fault_reclaiming_ns.saturating_add(other.fault_reclaiming_ns);
        self.fault_compacting_ns = self.fault_compacting_ns.saturating_add(other.fault_compacting_ns);
        self.fault_waiting_for_cpu_ns =
            self.fault_waiting_for_cpu_ns.saturating_add(other.fault_waiting_for_cpu_ns);
        self.fault_on_cpu_ns = self.fault_on_cpu_ns.saturating_add(other.fault_on_cpu_ns);
        self.on_cpu_ns = self.on_cpu_ns.saturating_add(other.on_cpu_ns);
        self.waiting_for_cpu_ns = self.waiting_for_cpu_ns.saturating_add(other.waiting_for_cpu_ns);
        self.blocked_futex_ns = self.blocked_futex_ns.saturating_add(other.blocked_futex_ns);
        self.blocked_io_ns = self.blocked_io_ns.saturating_add(other.blocked_io_ns);
        self.blocked_other_ns = self.blocked_other_ns.saturating_add(other.blocked_other_ns);
        self.blocked_unknown_ns = self.blocked_unknown_ns.saturating_add(other.blocked_unknown_ns);
        self.reclaiming_ns = self.reclaiming_ns.saturating_add(other.reclaiming_ns);
        self.compacting_ns = self.compacting_ns.saturating_add(other.compacting_ns);
        self.unknown_ns = self.unknown_ns.saturating_add(other.unknown_ns);
    }
}

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

/// The driver's waits for a CPU in a pause, in faults or not.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct CpuWaits {
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

/// The CPU quota of the target's cgroup, or of one above it, was used up: what `cpu.stat` said around a pause, or over
/// the trace.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Throttling {
    /// The cgroup.
    pub cgroup: String,
    /// How many times it was throttled between the two readings.
    pub times: u64,
    /// How long in all, summed over CPUs.
    pub ns: u64,
    /// How far the two readings are apart: what they say is of that time, not of the pause alone.
    pub over_ns: u64,
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

/// How one thread spent the stopping phase, in parts that add up to it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct StoppingBudget {
    /// Inside page faults, whether running, blocked or waiting.
    pub fault_ns: u64,
    /// Running: it had not reached a point at which it can stop.
    pub on_cpu_ns: u64,
    /// Ready to run, without a CPU.
    pub waiting_for_cpu_ns: u64,
    /// Blocked in a system call.
    pub blocked_ns: u64,
    /// Not seen.
    pub unknown_ns: u64,
}

impl StoppingBudget {
    /// What the parts add up to.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        [self.fault_ns, self.on_cpu_ns, self.waiting_for_cpu_ns, self.blocked_ns, self.unknown_ns]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Adds another one, part by part.
    pub fn add(&mut self, other: &Self) {
        self.fault_ns = self.fault_ns.saturating_add(other.fault_ns);
        self.on_cpu_ns = self.on_cpu_ns.saturating_add(other.on_cpu_ns);
        self.waiting_for_cpu_ns = self.waiting_for_cpu_ns.saturating_add(other.waiting_for_cpu_ns);
        self.blocked_ns = self.blocked_ns.saturating_add(other.blocked_ns);
        self.unknown_ns = self.unknown_ns.saturating_add(other.unknown_ns);
    }
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

/// The regions of several pauses, added up.
pub fn add_regions(to: &mut ByRegion, from: &ByRegion) {
    for (region, total) in from {
        let sum = to.entry(*region).or_default();
        sum.count = sum.count.saturating_add(total.count);
        sum.ns = sum.ns.saturating_add(total.ns);
        sum.inferred = sum.inferred.saturating_add(total.inferred);
    }
}
