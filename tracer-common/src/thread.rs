//! A thread's state in the kernel: the fault that it is in, and its totals over the whole trace.

use crate::wire;

/// Keyed by thread id.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadState {
    /// Begin of the fault in progress, `CLOCK_MONOTONIC` in ns; 0 when there is none.
    pub begin_ns: u64,
    /// The address that it accessed.
    pub address: u64,
    /// The instruction that faulted.
    pub ip: u64,
    /// Begin of the reclaim in progress, in ns; 0 when there is none.
    pub reclaim_begin_ns: u64,
    /// Reclaim time of the fault in progress so far, in ns.
    pub reclaim_ns: u64,
    /// Bits of [`crate::fault::seen`] of the fault in progress.
    pub seen: u32,
    /// The process.
    pub tgid: u32,
    /// Completed faults over the whole trace that the kernel called minor.
    pub minor: u64,
    /// Completed faults over the whole trace that the kernel called major.
    pub major: u64,
}
wire!(ThreadState, 64);
