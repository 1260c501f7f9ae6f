//! What is read: each part as recordings have it. What could not be read is absent, and is never 0.

use serde::{Deserialize, Serialize};

/// A memory cgroup.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Cgroup {
    /// Its path, as in `/proc/PID/cgroup`.
    pub path: String,
    /// What it uses (`memory.current`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_bytes: Option<u64>,
    /// What it may use before it is throttled (`memory.high`), the least of it and those above it; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_bytes: Option<u64>,
    /// What it may use at most (`memory.max`), the least of it and those above it; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// What it has in swap (`memory.swap.current`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped_bytes: Option<u64>,
    /// What it may have in swap (`memory.swap.max`), the least of it and those above it; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap_max_bytes: Option<u64>,
    /// How long its tasks stalled on memory (`memory.pressure`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
}

/// The host's memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct System {
    /// Available memory (`MemAvailable`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_bytes: Option<u64>,
    /// Free swap (`SwapFree`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap_free_bytes: Option<u64>,
    /// All swap (`SwapTotal`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap_total_bytes: Option<u64>,
    /// Bytes read from swap since the host's start (`pswpin`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped_in_bytes: Option<u64>,
    /// Bytes written to swap since the host's start (`pswpout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped_out_bytes: Option<u64>,
    /// How long tasks stalled on memory (`/proc/pressure/memory`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
}

/// Pressure stall information.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Pressure {
    /// At least one task stalled.
    pub some: Stalls,
    /// All tasks stalled; absent where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<Stalls>,
}

/// How long tasks stalled.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Stalls {
    /// Share of the last 10 s, in percent.
    pub avg10_percent: f64,
    /// In all since the cgroup's, or host's, start.
    pub total_ns: u64,
}
