//! What a thread did between two of its switches, for the budget and for the stopping phase.

use crate::wire;

/// What a thread was doing in an interval, as bits.
pub mod doing {
    /// It ran; the two below say how that ended.
    pub const RUNNING: u32 = 1 << 0;
    /// It was off the CPU and had not asked for that: it was ready to run. With [`RUNNING`]: so it was left.
    pub const PREEMPTED: u32 = 1 << 1;
    /// It was blocked until `woken_ns`, and from there on ready to run. With [`RUNNING`]: so it was left.
    pub const BLOCKED: u32 = 1 << 2;
    /// It drives the pause.
    pub const DRIVER: u32 = 1 << 3;
    /// It was reclaiming or compacting memory.
    pub const FREEING: u32 = 1 << 4;
    /// The thread that had the CPU before is one of the same process.
    pub const AFTER_OWN: u32 = 1 << 5;
}

/// The most intervals that are sent of a worker in one window.
pub const INTERVALS_OF_WORKERS: u32 = 256;

/// The most intervals that are sent of any other thread but the driver in one window.
pub const INTERVALS_OF_OTHERS: u32 = 32;

/// One interval of a thread, sent when it ends while a window is open.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalRecord {
    /// [`crate::stack::TAG_INTERVAL`].
    pub tag: u32,
    /// Bits of [`doing`].
    pub doing: u32,
    /// The window's number within its process.
    pub window: u64,
    /// Begin, `CLOCK_MONOTONIC` in ns, not clipped to the window; 0 when it was not seen.
    pub from_ns: u64,
    /// The wake-up, in ns; 0 when none was seen.
    pub woken_ns: u64,
    /// End, in ns.
    pub to_ns: u64,
    /// Begin of the fault that the thread is in, in ns; 0 when it is in none.
    pub fault_begin_ns: u64,
    /// Identity of the kernel stack where it left the CPU; 0 when there is none.
    pub kernel_stack: u64,
    /// Identity of the user stack there; 0 when there is none.
    pub user_stack: u64,
    /// The process.
    pub tgid: u32,
    /// The thread.
    pub tid: u32,
    /// The thread of the same process that woke it; 0 when it was none of them.
    pub woken_by: u32,
    /// The thread that had the CPU before it was the thread's again, in the initial pid namespace; 0 is an idle CPU, or nobody that is
    /// known.
    pub after: u32,
    /// That thread's name, ended by a zero byte unless it fills the field.
    pub after_name: [u8; 16],
}
wire!(IntervalRecord, 96);
