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
    /// Of a goroutine: on no thread, because it waits for something or for its turn.
    pub parked_ns: u64,
    /// How often it was put on a thread again.
    pub unparked: u64,
}
wire!(Outside, 80);

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
    /// A call that was left without a return: by a panic, an exception, a long jump, or the end of its thread or goroutine.
    /// When is not known.
    pub const LEFT: u32 = 1 << 4;
    /// A call that ended in a jump to another function.
    pub const TAIL_CALL: u32 = 1 << 5;
}

/// Whose windows they are: how many can be open at the same time, and what tells them apart.
pub mod keyed {
    /// One of a process at a time.
    pub const PROCESS: u32 = 1;
    /// One of each thread.
    pub const THREAD: u32 = 2;
    /// One of each goroutine, whichever thread it is on.
    pub const GOROUTINE: u32 = 3;
    /// One of each call of a function, told by the thread and by where its stack begins. In place of a goroutine, keys and
    /// records hold that stack pointer.
    pub const CALL: u32 = 4;
}

/// What distinguishes the windows of a process further, as bits of [`TargetSettings::flags`].
pub mod windows {
    /// A begin inside a window is an inner one and belongs to it: the outermost counts.
    pub const NESTED: u32 = 1 << 0;
    /// The windows are calls of a function: the depth of the stack tells which end belongs to which begin.
    pub const CALLS: u32 = 1 << 1;
    /// Threads other than the drivers work for windows: what they do is counted while one window alone is open.
    pub const WORKERS: u32 = 1 << 2;
    /// What a window is for is told by an object: its first word is read where it is told.
    pub const TOLD_OBJECT: u32 = 1 << 3;
    /// Where a window opens, a word of memory is read: see [`TargetSettings::word_register`](super::TargetSettings).
    pub const WORD: u32 = 1 << 4;
    /// The probes of windows are being placed or taken away, or are not there: no window begins, ends or gathers anything.
    pub const RESTING: u32 = 1 << 5;
}

/// How a process is traced; its presence in the table is the gate.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetSettings {
    /// One of [`keyed`].
    pub keyed: u32,
    /// Bits of [`windows`].
    pub flags: u32,
    /// Windows that are shorter are counted in the process's totals and not sent, in ns.
    pub longer_than_ns: u64,
    /// With [`windows::WORD`]: the word to be read is this far from the address in a register, in bytes.
    pub word_offset_bytes: i32,
    /// Which of the captured registers that is: an index into them, below 16.
    pub word_register: u32,
}
wire!(TargetSettings, 24);

/// Which window.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowKey {
    /// The process.
    pub tgid: u32,
    /// The thread, where windows are keyed by thread; otherwise 0.
    pub tid: u32,
    /// The goroutine: where the Go runtime keeps it; otherwise 0.
    pub goroutine: u64,
}
wire!(WindowKey, 16);

/// Number of integer registers that a mark captures.
///
/// x86-64: rax, rbx, rcx, rdi, rsi, rdx, rbp, rsp, r8 to r15, rip. aarch64: x0 to x7, x19 to x25, sp, pc.
pub const REGISTERS: usize = 17;

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
    /// The window's number: within its process from 1 where windows are keyed by process, otherwise any number of its own.
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
    /// The word of memory that [`windows::WORD`] asks for.
    pub requested_word: u64,
    /// 1 when it could be read.
    pub has_requested_word: u64,
    /// What the window is for was told: `CLOCK_MONOTONIC` in ns, the first time; 0 when it was not.
    pub told_ns: u64,
    /// How often it was told.
    pub told: u64,
    /// The first word of the object that the first argument there points at, if [`windows::TOLD_OBJECT`] is set; 0 when it
    /// could not be read.
    pub told_word: u64,
    /// The goroutine whose window it is; 0 for none.
    pub goroutine: u64,
    /// The goroutine that was known to be on the thread before.
    pub outer_goroutine: u64,
    /// Depth of the stack at the begin of a call, in bytes from an origin that is the thread's or goroutine's own.
    pub depth_bytes: u64,
    /// Since when the goroutine is on no thread, in ns; 0 while it is on one.
    pub parked_since_ns: u64,
    /// Begins inside the window, whole.
    pub inner: u32,
    /// Of them, those that have not ended.
    pub inner_open: u32,
    /// Registers at `requested`.
    pub at_requested: [u64; REGISTERS],
    /// Registers where the window's purpose was told.
    pub at_told: [u64; REGISTERS],
    /// Registers at `restarting`.
    pub at_restarting: [u64; REGISTERS],
    /// Registers at `resumed`.
    pub at_resumed: [u64; REGISTERS],
    /// What the driver did outside faults other than to run.
    pub outside: Outside,
    /// Faults on the driver.
    pub driver_totals: Totals,
    /// Faults on the process's other threads that ended inside the window.
    pub other_totals: Totals,
}
wire!(WindowRecord, 160 + 32 * REGISTERS + 80 + 2 * (64 + 16 * Kind::COUNT));

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
    /// Windows that are open now.
    pub open: u64,
    /// The thread or goroutine whose window was opened last.
    pub last_opened: WindowKey,
    /// Completed windows that were too short to be sent.
    pub short: u64,
}
wire!(ProcessTotals, 104);

/// In place of the record of a window that was too short to be sent.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortRecord {
    /// [`crate::stack::TAG_SHORT`].
    pub tag: u32,
    /// The process.
    pub tgid: u32,
    /// The window's number.
    pub window: u64,
    /// Its length in ns.
    pub ns: u64,
    /// Faults on its driver.
    pub faults: u64,
    /// Their time in ns.
    pub in_faults_ns: u64,
}
wire!(ShortRecord, 40);
