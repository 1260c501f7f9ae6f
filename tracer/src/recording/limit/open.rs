//! Pauses whose faults come: what is known of each before its own line.

use std::collections::HashSet;

use super::waiting::Waiting;

/// A pause that has ended, and has so many faults that it is worth knowing before they are gone through again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Giant {
    pub(super) duration_ns: Option<u64>,
    /// What its faults take in the file.
    pub(super) file_bytes: u64,
}

/// A pause that has not ended, as far as lines tell.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    pub(super) faults: Faults,
    pub(super) bytes: u64,
    pub(super) count: u64,
    pub(super) stacks: HashSet<u32>,
}

/// What becomes of its faults.
#[derive(Clone, Debug)]
pub(super) enum Faults {
    Wait(Waiting),
    /// They are let through. How many bytes of lines had waited before, and what these took in the file.
    Through(u64, u64),
    Dropped,
}

impl Default for Faults {
    fn default() -> Self {
        Self::Wait(Waiting::default())
    }
}

impl Open {
    /// Bytes of memory.
    pub(super) fn waiting_bytes(&self) -> usize {
        if let Faults::Wait(waiting) = &self.faults { waiting.memory() } else { 0 }
    }

    /// What its faults take in the file, when they are many.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        match &self.faults {
            Faults::Wait(waiting) => waiting.file_bytes(),
            Faults::Through(0, _) | Faults::Dropped => None,
            Faults::Through(lines, bytes) => Some(self.bytes.saturating_mul(*bytes) / lines),
        }
    }
}
