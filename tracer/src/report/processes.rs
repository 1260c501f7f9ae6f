//! The report of several processes: what is said of the whole, and each process's own report, worst first.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::model::{Ended, Report, Tool};

/// The schema's name and version.
pub const SCHEMA: &str = "pauselens.processes/1";

/// A trace of several processes.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct ProcessesReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// What made the report.
    pub tool: Tool,
    /// What is said of the whole.
    pub trace: WholeTrace,
    /// One for each program that was traced, the one with the longest pause first.
    pub processes: Vec<Report>,
    /// Processes that were asked for and could not be traced.
    pub unrecognised: Vec<Unrecognised>,
}

/// What is said of the whole trace.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct WholeTrace {
    /// Start, milliseconds since 1970-01-01 UTC: the zero of all other times, in each process's report as well.
    pub started_unix_ms: u64,
    /// The clock that all times were read from.
    pub clock: String,
    /// From the start to the closing of the last gate.
    pub duration_ns: u64,
    /// What was traced, in words: `processes 12 and 13`, `processes that run /usr/bin/x`.
    pub asked: String,
    /// Why it ended.
    pub ended: Ended,
    /// Details dropped in the kernel, by cause, of all processes together.
    pub dropped: BTreeMap<String, u64>,
    /// Whether everything was seen: of the whole, and of each process.
    pub complete: bool,
    /// What is missing from the whole, in words; what is missing from a process stands with it.
    pub incomplete: Vec<String>,
    /// Things to know that don't make the result incomplete.
    pub notes: Vec<String>,
    /// How many unrecognised processes there were beyond those that are listed.
    pub unrecognised_more: u64,
}

/// A process that was asked for and could not be traced.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Unrecognised {
    /// Process id.
    pub pid: u32,
    /// Path of its executable as it sees it; `null` when that could not be read.
    pub exe: Option<String>,
    /// Why.
    pub why: String,
}

impl ProcessesReport {
    /// Puts the processes in order and finds out whether everything was seen.
    pub fn arrange(&mut self) {
        self.processes.sort_by_key(|report| {
            (std::cmp::Reverse(report.summary.worst_ns), report.target.pid, report.trace.covered_from_ns)
        });
        self.trace.complete =
            self.trace.incomplete.is_empty() && self.processes.iter().all(|report| report.trace.complete);
    }
}

#[cfg(test)]
mod tests {
    use crate::report::fixtures;

    #[test]
    fn the_worst_comes_first_and_one_incomplete_part_is_enough() {
        let mut report = fixtures::processes();
        let worst: Vec<_> = report.processes.iter().map(|report| report.summary.worst_ns).collect();
        assert!(worst.is_sorted_by(|before, after| before >= after), "{worst:?}");
        assert_eq!(worst.last(), Some(&None), "no pause comes last");
        assert!(report.trace.complete);
        report.processes.push(fixtures::incomplete());
        report.arrange();
        assert!(!report.trace.complete);
    }
}
