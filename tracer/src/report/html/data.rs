//! The data of the page, as its scripts read it.
//!
//! Names and stacks stand once, in `names` and `stacks`; where a pause of the JSON report has one, here is its number.
//! What is not known is null.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{flame::Tree, histogram::Lengths, memory::Samples, scatter::Points, timeline::Pauses};
use crate::report::model::{KindTotal, Region, State, Summary, Windows};

/// The name and version of the data's form. It belongs to the page's scripts, and changes with them.
pub const SCHEMA: &str = "pauselens.html/1";

/// All data.
#[derive(Debug, Serialize)]
pub(super) struct Data {
    /// [`SCHEMA`].
    pub(super) schema: &'static str,
    /// Start, milliseconds since 1970-01-01 UTC.
    pub(super) started_unix_ms: u64,
    /// Sorts of parts that pauses are made of; kinds of fault come first.
    pub(super) parts: Vec<Part>,
    /// How many of them are kinds.
    pub(super) kinds: usize,
    /// Words of regions.
    pub(super) regions: Vec<&'static str>,
    /// Words of what a thread is blocked on.
    pub(super) blocked_on: BTreeMap<String, &'static str>,
    /// Words of the parts of a budget.
    pub(super) budget: BTreeMap<String, &'static str>,
    /// Processes, the one with the worst pause first.
    pub(super) processes: Vec<ProcessData>,
    /// Names by number.
    pub(super) names: Vec<String>,
    /// Stacks by number: numbers of names, innermost first.
    pub(super) stacks: Vec<Vec<u32>>,
}

/// A sort of part.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    /// Its name.
    pub(super) name: &'static str,
    /// Its words.
    pub(super) words: &'static str,
}

/// One process.
#[derive(Debug, Serialize)]
pub(super) struct ProcessData {
    /// Its number in the recording.
    pub(super) process: u32,
    /// What it is, in a few words.
    pub(super) title: String,
    /// How long it was traced.
    pub(super) duration_ns: u64,
    /// From when on its pauses are covered.
    pub(super) covered_from_ns: u64,
    /// What its windows are.
    pub(super) windows: Windows,
    /// What its windows are called: one, several.
    pub(super) called: [&'static str; 2],
    /// Words of states.
    pub(super) states: BTreeMap<State, &'static str>,
    /// As in the report.
    pub(super) summary: Summary,
    /// Pauses.
    pub(super) pauses: Pauses,
    /// The worst ones in full.
    pub(super) details: Vec<Value>,
    /// Lengths of faults.
    pub(super) lengths: Vec<Lengths>,
    /// Faults over time.
    pub(super) faults: Points,
    /// What all pauses' faults touched, longest time first.
    pub(super) places: Vec<PlaceTotal>,
    /// How many places there are.
    pub(super) places_of: usize,
    /// Memory over time.
    pub(super) memory: Samples,
    /// Code paths.
    pub(super) flame: Tree,
}

/// A place, over all pauses.
#[derive(Debug, Serialize)]
pub(super) struct PlaceTotal {
    /// What it belongs to.
    pub(super) region: Region,
    /// The number of its name.
    pub(super) what: u32,
    /// The faults.
    #[serde(flatten)]
    pub(super) total: KindTotal,
}
