//! CPU throttling around a pause.

use serde::{Deserialize, Serialize};

/// The CPU quota of the target's cgroup, or of one above it, was used up: what `cpu.stat` said around a pause, or over
/// the trace.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Throttling {
    /// The cgroup.
    pub cgroup: String,
    /// How many times it was throttled between the two readings.
    pub times: u64,
    /// How long in all, summed over CPUs.
    pub ns: u64,
    /// How far the two readings are apart: what they say is of that time, not of the pause alone.
    pub over_ns: u64,
}
