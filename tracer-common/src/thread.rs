//! A thread's state in the kernel: the fault that it is in, whether it runs, and its totals over the whole trace.

use crate::wire;

/// Whether a thread has a CPU.
pub mod cpu {
    /// It runs.
    pub const RUNNING: u32 = 0;
    /// It was switched away from while it was ready to run.
    pub const PREEMPTED: u32 = 1;
    /// It was switched away from because it had to wait.
    pub const BLOCKED: u32 = 2;
    /// Nothing has been seen of it since the trace began.
    pub const UNKNOWN: u32 = 3;
}

/// What a thread is doing to get free memory.
pub mod freeing {
    /// Nothing.
    pub const NOTHING: u32 = 0;
    /// Reclaim.
    pub const RECLAIM: u32 = 1;
    /// Compaction.
    pub const COMPACTION: u32 = 2;
}

/// Keyed by thread, as the scheduler's events name it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadState {
    /// Begin of the fault in progress, `CLOCK_MONOTONIC` in ns; 0 when there is none.
    pub begin_ns: u64,
    /// The address that it accessed.
    pub address: u64,
    /// The instruction that faulted.
    pub ip: u64,
    /// Begin of the reclaim or compaction in progress, in ns; 0 when there is none.
    pub freeing_begin_ns: u64,
    /// Time in it without a CPU while ready to run, in ns.
    pub freeing_waiting_ns: u64,
    /// Reclaim time of the fault in progress so far, in ns.
    pub reclaim_ns: u64,
    /// Of it, time not spent waiting for a CPU, in ns.
    pub reclaiming_ns: u64,
    /// Compaction time of the fault in progress so far, in ns.
    pub compact_ns: u64,
    /// Of it, time not spent waiting for a CPU, in ns.
    pub compacting_ns: u64,
    /// Time that the fault in progress was blocked, in ns.
    pub blocked_ns: u64,
    /// Time that it was ready to run without a CPU, in ns.
    pub waiting_ns: u64,
    /// Its longest block, in ns.
    pub longest_block_ns: u64,
    /// The kernel stack there.
    pub block_stack: u64,
    /// What it has read from block devices, in bytes.
    pub read_bytes: u64,
    /// The huge page that it has brought in, in bytes; 0 for none.
    pub huge_bytes: u64,
    /// How many requests to block devices.
    pub read_requests: u32,
    /// The last of these devices.
    pub device: u32,
    /// When the thread got the CPU, or lost it: the last switch, in ns; 0 when none was seen.
    pub switched_ns: u64,
    /// When it was woken up since; 0 when it was not.
    pub woken_ns: u64,
    /// Its kernel stack at the switch away, when it was walked.
    pub off_kernel_stack: u64,
    /// Its user stack there.
    pub off_user_stack: u64,
    /// The last window of which intervals were sent.
    pub interval_window: u64,
    /// How many.
    pub intervals: u32,
    /// One of [`cpu`].
    pub cpu: u32,
    /// One of [`freeing`].
    pub freeing: u32,
    /// Who woke it up, when that was a thread of the same process.
    pub woken_by: u32,
    /// Bits of [`crate::fault::seen`] of the fault in progress.
    pub seen: u32,
    /// The process, in the tracer's pid namespace.
    pub tgid: u32,
    /// The thread, in the tracer's pid namespace.
    pub tid: u32,
    /// 1 when it is known to work for pauses.
    pub worker: u32,
    /// 1 when it has ended, and the kernel has not forgotten it yet.
    pub ended: u32,
    /// Not used: 0.
    pub reserved: u32,
    /// The goroutine with an open window that is on the thread: where the Go runtime keeps it; 0 for none.
    pub goroutine: u64,
    /// Completed faults over the whole trace that the kernel called minor.
    pub minor: u64,
    /// Completed faults over the whole trace that the kernel called major.
    pub major: u64,
}
wire!(ThreadState, 232);

/// The most workers that are followed of one process.
pub const WORKERS: usize = 64;

/// The workers of a process: threads that work for its pauses, by their ids in the tracer's pid namespace.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    /// The ids; 0 is no thread.
    pub tids: [u32; WORKERS],
}
wire!(Workers, 4 * WORKERS);

/// What one worker did in one window: kept while the window is open, sent when it closes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerRecord {
    /// [`crate::stack::TAG_WORKER`].
    pub tag: u32,
    /// The thread, in the tracer's pid namespace.
    pub tid: u32,
    /// The window's number within its process.
    pub window: u64,
    /// One of [`cpu`], at the window's end.
    pub cpu: u32,
    /// The process.
    pub tgid: u32,
    /// Faults that ended in the window.
    pub faults: u64,
    /// Time in faults, clipped to the window like all that follows, in ns.
    pub fault_ns: u64,
    /// Of it blocked, outside reclaim and compaction.
    pub fault_blocked_ns: u64,
    /// Of it ready to run without a CPU.
    pub fault_waiting_ns: u64,
    /// Of it reclaiming memory.
    pub fault_reclaiming_ns: u64,
    /// Of it compacting memory.
    pub fault_compacting_ns: u64,
    /// Outside faults, blocked.
    pub blocked_ns: u64,
    /// Outside faults, ready to run without a CPU.
    pub waiting_ns: u64,
    /// The thread's last switch, wake-up and the begin of the fault that it is in, as in [`ThreadState`] at the window's end:
    /// what it is in the middle of is in none of the sums above.
    pub switched_ns: u64,
    /// See above.
    pub woken_ns: u64,
    /// See above.
    pub begin_ns: u64,
    /// The thread as the scheduler's events name it; 0 when nothing has been seen of it.
    pub task: u64,
}
wire!(WorkerRecord, 120);
