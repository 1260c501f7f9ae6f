//! Kernel stacks by identity, with their names and what they say of the wait.

use std::{collections::HashMap, sync::Arc};

use super::blocked::BlockedOn;

/// A kernel stack, named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelStack {
    /// Function names, innermost first; empty when they can't be had.
    pub frames: Vec<String>,
    /// What a thread that left the CPU there is blocked on.
    pub on: BlockedOn,
}

impl KernelStack {
    /// From its function names, innermost first.
    #[must_use]
    pub fn new(frames: Vec<String>) -> Self {
        let on = BlockedOn::of_kernel_frames(frames.iter().map(String::as_str));
        Self { frames, on }
    }
}

/// All that were sent so far, by identity. A copy shares the names.
#[derive(Clone, Debug, Default)]
pub struct KernelStacks(HashMap<u64, Arc<KernelStack>>);

impl KernelStacks {
    /// Remembers one.
    pub fn insert(&mut self, stack: u64, named: impl Into<Arc<KernelStack>>) {
        self.0.insert(stack, named.into());
    }

    /// The stack with this identity; `None` also for 0, which stands for no stack.
    #[must_use]
    pub fn get(&self, stack: u64) -> Option<&KernelStack> {
        self.0.get(&stack).map(Arc::as_ref)
    }

    /// On what a thread was blocked that left the CPU there.
    #[must_use]
    pub fn on(&self, stack: u64) -> BlockedOn {
        self.get(stack).map_or(BlockedOn::Unknown, |stack| stack.on)
    }
}
