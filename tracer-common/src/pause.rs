//! A pause window: its marks, its totals, and its record on the wire.

use crate::{fault::Kind, wire};

/// Count and time of one kind of fault within one window.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindTotal {
    /// How many.
    pub count: u64,
    /// Their time inside the window (clipped), in ns: a plain sum.
    pub sum_ns: u64,
}
wire!(KindTotal, 16);

/// Exact totals of the faults of a group of threads within one window.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many faults the kernel called major.
    pub major: u64,
    /// How many faults the kernel called minor.
    pub minor: u64,
    /// Time inside direct or memory-cgroup reclaim, in ns: a plain sum.
    pub reclaim_ns: u64,
    /// Of that and of compaction, time not spent waiting for a CPU: reclaiming, in ns.
    pub reclaiming_ns: u64,
    /// The same of compaction, in ns.
    pub compacting_ns: u64,
    /// Time blocked inside faults, outside reclaim and compaction, in ns: a plain sum.
    pub blocked_ns: u64,
    /// Time inside faults ready to run without a CPU, in ns: a plain sum.
    pub waiting_ns: u64,
    /// Time that the kernel-side programs took when faults ended, after the end was stamped, in ns.
    pub tracing_ns: u64,
    /// Indexed by [`Kind`].
    pub by_kind: [KindTotal; Kind::COUNT],
}
wire!(Totals, 64 + 16 * Kind::COUNT);

/// Time of the driver outside faults that it did not run, within one window, in ns.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Blocked, until the wake-ups; without what is in the two below.
    pub blocked_ns: u64,
    /// Ready to run, without a CPU.
    pub waiting_ns: u64,
    /// Reclaiming memory inside system calls, running or blocked.
    pub reclaiming_ns: u64,
    /// Compacting memory inside system calls, running or blocked.
    pub compacting_ns: u64,
    /// From the begin of a fault whose end was not seen to the next thing that was.
    pub unknown_ns: u64,
    /// How many times it was switched away from, in faults or not.
    pub switches: u64,
    /// How many waits for a CPU, in faults or not.
    pub waits: u64,
    /// The longest of them.
    pub longest_wait_ns: u64,
}
wire!(Outside, 64);

/// How far a window has come, or how it ended.
pub mod state {
    /// Closed: nothing is going on.
    pub const CLOSED: u32 = 0;
    /// The stop was requested.
    pub const REQUESTED: u32 = 1;
    /// The world has stopped.
    pub const STOPPED: u32 = 2;
    /// The call that restarts the world has begun.
    pub const RESTARTING: u32 = 3;
}

/// What is known of a record's completeness, as bits.
pub mod flag {
    /// No `requested` was seen: the pause was open when the trace began.
    pub const OPEN_AT_ATTACH: u32 = 1 << 0;
    /// A new `requested` came before `resumed`: the end was missed.
    pub const END_MISSED: u32 = 1 << 1;
    /// `resumed` was seen.
    pub const RESUMED: u32 = 1 << 2;
    /// Begin and end came on different threads.
    pub const DRIVER_CHANGED: u32 = 1 << 3;
}

/// Number of integer argument registers that a mark captures.
///
/// x86-64: rax, rbx, rcx, rdi, rsi, rdx. aarch64: x0 to x5.
pub const REGISTERS: usize = 6;

/// The state of one process's window in the kernel, and, when it closes, its record on the wire.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRecord {
    /// [`crate::stack::TAG_WINDOW`].
    pub tag: u32,
    /// One of [`state`]; in a record, the last state reached before the end.
    pub state: u32,
    /// Bits of [`flag`].
    pub flags: u32,
    /// The process.
    pub tgid: u32,
    /// The thread that asked for the stop (or, when that was not seen, the first one seen).
    pub driver: u32,
    /// The thread that resumed the world; 0 when not seen.
    pub resumed_by: u32,
    /// The window's number within its process, from 1.
    pub window: u64,
    /// `CLOCK_MONOTONIC` in ns; 0 when not seen.
    pub requested_ns: u64,
    /// `CLOCK_MONOTONIC` in ns; 0 when not seen.
    pub stopped_ns: u64,
    /// `CLOCK_MONOTONIC` in ns; 0 when not seen.
    pub restarting_ns: u64,
    /// `CLOCK_MONOTONIC` in ns; 0 when not seen.
    pub resumed_ns: u64,
    /// Identity of the user stack at `requested`; 0 when there is none.
    pub requested_stack: u64,
    /// Where the probed function returns to at `requested`: an address that a walk by frame pointers can lack there,
    /// because the function has not made its frame yet. 0 when it could not be read.
    pub requested_caller: u64,
    /// Argument registers at `requested`.
    pub at_requested: [u64; REGISTERS],
    /// Argument registers at `restarting`.
    pub at_restarting: [u64; REGISTERS],
    /// What the driver did outside faults other than to run.
    pub outside: Outside,
    /// Faults on the driver.
    pub driver_totals: Totals,
    /// Faults on the process's other threads that ended inside the window.
    pub other_totals: Totals,
}
wire!(WindowRecord, 176 + 64 + 2 * (64 + 16 * Kind::COUNT));

/// What a process's windows add up to: right even when records were lost.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessTotals {
    /// The newest window's number.
    pub windows: u64,
    /// Windows that went from `requested` to `resumed`.
    pub completed: u64,
    /// Their time, in ns.
    pub paused_ns: u64,
    /// Faults on the drivers inside them.
    pub faults: u64,
    /// Time of the drivers in faults inside them, in ns.
    pub in_faults_ns: u64,
    /// Faults of threads that have ended, whole trace, called minor.
    pub ended_threads_minor: u64,
    /// Faults of threads that have ended, whole trace, called major.
    pub ended_threads_major: u64,
    /// How many threads of the process have ended.
    pub ended_threads: u64,
    /// Anonymous memory as the kernel last told it, in bytes; 0 before that.
    pub anonymous_bytes: u64,
}
wire!(ProcessTotals, 72);
