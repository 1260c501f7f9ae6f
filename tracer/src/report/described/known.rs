//! What a pause is named with: at the end of a trace, or while it runs and names are not known yet.

use std::collections::HashMap;

use super::devices::Devices;
use crate::{pause::KernelStacks, symbols::Namer};

/// Gives function names for a stack of the program.
pub trait StackNames {
    /// Of the stack with this identity. `None` as frames: it was lost. `cut`: the outermost frames were not walked.
    fn stack(&self, identity: u64, frames: Option<&[u64]>, cut: bool) -> Vec<String>;

    /// Of a stack at a function's entry: the frames of the one with this identity, and the caller.
    fn at_entry(&self, identity: u64, caller: u64, frames: &[u64]) -> Vec<String>;
}

impl StackNames for Namer {
    fn stack(&self, _identity: u64, frames: Option<&[u64]>, cut: bool) -> Vec<String> {
        Self::stack(self, frames, cut)
    }

    fn at_entry(&self, _identity: u64, _caller: u64, frames: &[u64]) -> Vec<String> {
        self.stack_at_entry(frames)
    }
}

/// What a pause is named with.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Frames of each stack that was sent.
    pub stacks: &'a HashMap<u64, Vec<u64>>,
    /// The kernel's stacks.
    pub kernel_stacks: &'a KernelStacks,
    /// The zero of all times, `CLOCK_MONOTONIC` in ns.
    pub zero_ns: u64,
    /// Switches and wake-ups are seen.
    pub schedule_seen: bool,
    /// The process.
    pub pid: u32,
    /// The host's block devices.
    pub devices: &'a Devices,
    /// Names for stacks.
    pub names: &'a dyn StackNames,
}

impl Known<'_> {
    /// The names of the stack.
    pub(super) fn stack(&self, identity: u64, cut: bool) -> Vec<String> {
        self.names.stack(identity, self.stacks.get(&identity).map(Vec::as_slice), cut)
    }
}
