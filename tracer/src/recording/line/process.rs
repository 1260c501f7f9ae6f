//! A process that is traced from here on.

use serde::{Deserialize, Serialize};

use crate::report::model::{PlanStep, Target, Unavailable, Windows};

/// A process, or the program that it runs: a process that begins another program is one more.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Process {
    /// Its number in this recording, from 1.
    pub process: u32,
    /// What it is.
    pub target: Target,
    /// What its windows are.
    pub windows: Windows,
    /// From when on its pauses are covered, from the start of the trace.
    pub covered_from_ns: u64,
    /// What is probed, and how.
    pub plan: Vec<PlanStep>,
    /// Parts that can't be had here.
    pub unavailable: Vec<Unavailable>,
}
