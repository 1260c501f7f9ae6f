//! Copies of the top of a user stack, with the registers: what a stack is unwound from in user space where the code has no
//! frame pointers.

use crate::wire;

/// Tag of a [`StackCopy`].
pub const TAG_STACK_COPY: u32 = 6;

/// A stack is copied in pieces of so many bytes, each from a multiple of it on: none of them is on two pages.
pub const CHUNK_BYTES: usize = 1024;
/// The most pieces: with what is before them they fit into what a per-CPU map holds (32 KiB, Linux `PCPU_MIN_UNIT_SIZE`).
pub const MOST_CHUNKS: usize = 31;
/// The most bytes of one stack.
pub const MOST_BYTES: usize = MOST_CHUNKS * CHUNK_BYTES;

/// What precedes the bytes of a stack. Only as many of them as were read are sent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackCopyHead {
    /// [`TAG_STACK_COPY`].
    pub tag: u32,
    /// How many bytes follow.
    pub byte_count: u32,
    /// The process.
    pub tgid: u32,
    /// The thread.
    pub tid: u32,
    /// Begin of the fault that it belongs to, `CLOCK_MONOTONIC` in ns: names it together with the thread.
    pub begin_ns: u64,
    /// The address of the first byte, at or below the stack pointer.
    pub from: u64,
    /// The instruction pointer.
    pub ip: u64,
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer.
    pub bp: u64,
    /// The link register, where the processor has one; otherwise 0.
    pub link: u64,
}
wire!(StackCopyHead, 64);

/// A copy as it is made.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackCopy {
    /// What precedes the bytes.
    pub head: StackCopyHead,
    /// The stack, from [`StackCopyHead::from`] on.
    pub bytes: [u8; MOST_BYTES],
}
wire!(StackCopy, 64 + MOST_BYTES);

/// The most address ranges of one process whose faults have their stacks copied.
pub const RANGES: usize = 64;

/// Where an instruction has to be for its fault to have the stack copied: ranges of runtime addresses.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyRanges {
    /// How many of them are set.
    pub count: u64,
    /// First address, and first address after the range.
    pub ranges: [[u64; 2]; RANGES],
}
wire!(CopyRanges, 8 + 16 * RANGES);
