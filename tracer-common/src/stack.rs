//! Records of the detail ring, and user stacks on the wire.
//!
//! Every record begins with a `u32` tag.

use crate::wire;

/// Tag of a [`crate::fault::FaultRecord`].
pub const TAG_FAULT: u32 = 1;
/// Tag of a [`StackRecord`].
pub const TAG_STACK: u32 = 2;
/// Tag of a [`crate::pause::WindowRecord`].
pub const TAG_WINDOW: u32 = 3;

/// Tag of a [`crate::schedule::IntervalRecord`].
pub const TAG_INTERVAL: u32 = 4;

/// Tag of a [`crate::thread::WorkerRecord`].
pub const TAG_WORKER: u32 = 5;

/// Tag of a [`crate::pause::ShortRecord`].
pub const TAG_SHORT: u32 = 7;

/// [`StackRecord::side`] of a user stack.
pub const SIDE_USER: u32 = 0;
/// [`StackRecord::side`] of a kernel stack.
pub const SIDE_KERNEL: u32 = 1;

/// The most frames that are kept of one user stack: the kernel's own limit (`PERF_MAX_STACK_DEPTH`).
pub const MAX_FRAMES: usize = 127;

/// A stack, sent the first time it is seen. Frames are runtime addresses, or addresses of the kernel, innermost first.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackRecord {
    /// [`TAG_STACK`].
    pub tag: u32,
    /// How many of `frames` are set.
    pub frame_count: u32,
    /// The stack's identity: a hash of its frames, never 0.
    pub stack: u64,
    /// The process whose addresses these are.
    pub tgid: u32,
    /// [`SIDE_USER`] or [`SIDE_KERNEL`].
    pub side: u32,
    /// Return addresses, innermost first; the first one is the faulting instruction.
    pub frames: [u64; MAX_FRAMES],
}
wire!(StackRecord, 24 + 8 * MAX_FRAMES);

/// One step of the hash that identifies a stack: multiply and fold, so that no frame is lost in the high bits.
#[must_use]
#[inline(always)]
pub fn hash_step(hash: u64, frame: u64) -> u64 {
    let mixed = (hash ^ frame).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}
