//! Pauses that have no line of their own, added up.

use serde::{Deserialize, Serialize};

use crate::report::model::{Part, Summary};

/// Pauses of a process that were added up because the file was not to grow any further. They have no line, nor have
/// their faults. A process can have several of these: they are to be added up themselves.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Rest {
    /// The process's number in this recording.
    pub process: u32,
    /// The begin of the first one, from the start of the trace; absent when none was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ns: Option<i64>,
    /// The end of the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ns: Option<i64>,
    /// What they add up to. Its quantiles are `null`.
    pub summary: Summary,
    /// How many of their faults had details when they were seen, of how many.
    pub fault_details: Part,
    /// The lengths of the complete ones, shortest first, each within 0.05 % of the true one.
    pub lengths: Vec<Length>,
}

/// How many pauses were about so long.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Length {
    /// The length.
    pub ns: u64,
    /// How many.
    pub count: u64,
}
