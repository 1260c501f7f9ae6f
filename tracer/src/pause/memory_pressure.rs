//! The memory limit that binds the target.

use serde::{Deserialize, Serialize};

/// The memory limit of the target's cgroup, or of one above it, at the trace's end.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct MemoryPressure {
    /// The cgroup.
    pub cgroup: String,
    /// The lower one of its limits, in bytes.
    pub limit_bytes: u64,
    /// What it uses, in bytes.
    pub used_bytes: u64,
    /// How often it was at its limit during the trace, and had to free memory.
    pub hits: u64,
}
