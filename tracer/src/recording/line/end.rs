//! What is known when a trace ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::{
    model::Report,
    processes::{Unrecognised, WholeTrace},
};

/// What the kernel side has dropped so far, of all processes; written when it has changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Losses {
    /// When, from the start of the trace.
    pub at_ns: i64,
    /// By cause.
    pub dropped: BTreeMap<String, u64>,
}

/// The trace of a process has ended: its report, as `attach` prints it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct ProcessEnd {
    /// The process's number in this recording.
    pub process: u32,
    /// The report, with the worst pauses, their names in place.
    pub report: Report,
}

/// The trace has ended, and everything is written.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct End {
    /// What is said of the whole; absent when the trace was of one process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<WholeTrace>,
    /// Processes that were asked for and could not be traced.
    #[serde(default)]
    pub unrecognised: Vec<Unrecognised>,
    /// How many pauses have lines.
    pub pauses: u64,
    /// How many faults have lines.
    pub faults: u64,
}
