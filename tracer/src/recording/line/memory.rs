//! The state of memory at one moment: pauses are read against it.

use serde::{Deserialize, Serialize};

use crate::report::memory_state::MemoryState;

pub use crate::target::{Cgroup, Pressure, Stalls, System};

/// The state of a process's memory, of its cgroup's, and of the host's swapping.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Memory {
    /// The process's number in this recording.
    pub process: u32,
    /// When, from the start of the trace.
    pub at_ns: i64,
    /// The pause at whose end this was read; absent when it was read because it was time to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_end_of: Option<u64>,
    /// Resident memory of the process (`VmRSS`); absent when it could not be read, as everywhere here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident_bytes: Option<u64>,
    /// Its memory in swap (`VmSwap`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped_bytes: Option<u64>,
    /// Its memory cgroup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<Cgroup>,
    /// The host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
}

impl Memory {
    /// What a report says of it; `before`: the process's state the time before.
    #[must_use]
    pub fn state(&self, before: Option<&Self>) -> MemoryState {
        let alone = |memory: &Self| MemoryState {
            at_ns: memory.at_ns,
            resident_bytes: memory.resident_bytes,
            swapped_bytes: memory.swapped_bytes,
            cgroup: memory.cgroup.clone(),
            system: memory.system.clone(),
            since: None,
        };
        let mut state = alone(self);
        state.since = before.and_then(|before| state.since(&alone(before)));
        state
    }
}
