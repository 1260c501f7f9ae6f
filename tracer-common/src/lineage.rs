//! News of processes: one was made, or runs another program from now on.

use crate::wire;

/// What has happened.
pub mod what {
    /// A process was made: `child`.
    pub const FORK: u32 = 1;
    /// The process runs another program.
    pub const EXEC: u32 = 2;
}

/// What is told, as bits of the setting `LINEAGE`.
pub mod tell {
    /// Descendants of the targets, whether or not they are targets themselves.
    pub const DESCENDANTS: u32 = 1 << 0;
    /// Every process that runs another program.
    pub const EVERY_EXEC: u32 = 1 << 1;
}

/// Flags of clone(2) that matter here (Linux `include/uapi/linux/sched.h`).
pub mod clone {
    /// The parent waits until the child has run another program or ended: it does nothing before that.
    pub const VFORK: u64 = 0x4000;
    /// A thread is made, not a process.
    pub const THREAD: u64 = 0x1_0000;
}

/// One piece of news.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineageRecord {
    /// One of [`what`].
    pub what: u32,
    /// The process that made the other one, or runs another program: in the tracer's pid namespace.
    pub tgid: u32,
    /// The process that was made, 0 when its id in the tracer's pid namespace is not known.
    pub child: u32,
    /// Of an exec: 1 when the process's first thread did it, which is the same one after it. Otherwise another thread has
    /// taken its place.
    pub by_first_thread: u32,
    /// Flags of clone(2).
    pub clone_flags: u64,
    /// When, `CLOCK_MONOTONIC` in ns.
    pub at_ns: u64,
}
wire!(LineageRecord, 32);
