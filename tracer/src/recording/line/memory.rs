//! The state of memory at one moment: pauses are read against it.

use serde::{Deserialize, Serialize};

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
