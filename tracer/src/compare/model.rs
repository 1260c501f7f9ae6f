//! A comparison as data: what the JSON output holds, field by field; `docs/compare.md` describes it.

use serde::{Deserialize, Serialize};

use crate::report::model::Tool;

/// The schema's name and version: changed whenever a field changes its meaning or goes away.
pub const SCHEMA: &str = "pauselens.compare/1";

/// Two sides compared.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// How it was made.
    pub method: Method,
    /// What one window is called: `pause`, `call` or `window`.
    pub window: String,
    /// The sides.
    pub sides: Sides,
    /// What is not alike between the runs.
    pub unlike: Vec<Unlike>,
    /// Things to know.
    pub notes: Vec<String>,
    /// The verdict.
    pub headline: Headline,
    /// Everything that was compared, in the order of the groups.
    pub measures: Vec<Measure>,
}

/// How a comparison was made.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Method {
    /// The number that all random numbers come from: the same one gives the same result.
    pub seed: u64,
    /// How many times the runs and their pauses were drawn again.
    pub resamples: u32,
    /// The share of these that an interval holds.
    pub confidence: f64,
    /// No verdict is given on a smaller difference than this share.
    pub smallest_difference: f64,
    /// No verdict is given on a larger p than this.
    pub largest_p: f64,
    /// Into how many pairs of groups the runs were put; absent when there are too few runs for it.
    pub permutations: Option<u64>,
    /// Whether these were all that there are.
    pub permutations_exact: bool,
    /// The least p that so many runs can come to, in both directions; `null` when there are too few runs for any.
    pub least_p: Option<f64>,
    /// How many measures the adjusted p of a measure that is not of the headline is adjusted for.
    pub other_measures: u64,
}

/// Both sides.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Sides {
    /// What it is compared with.
    pub a: Side,
    /// What is compared.
    pub b: Side,
}

/// A side.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Side {
    /// Its runs, in the order in which they were named.
    pub runs: Vec<RunAbout>,
}

/// What a run is.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct RunAbout {
    /// The recording.
    pub file: String,
    /// The host's name.
    pub host: String,
    /// Its kernel.
    pub kernel: String,
    /// The program.
    pub exe: String,
    /// The processes, by process id.
    pub pids: Vec<u32>,
    /// The runtime and its version.
    pub runtime: String,
    /// Start, milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// How long pauses were watched, added up over the processes.
    pub covered_ns: u64,
    /// Complete pauses.
    pub pauses: u64,
    /// What is missing from it, in words.
    pub partial: Vec<String>,
}

/// Something that is not the same in all runs.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Unlike {
    /// What.
    pub what: String,
    /// What that can do to the comparison.
    pub why: String,
    /// What it is in A.
    pub a: Vec<UnlikeValue>,
    /// What it is in B.
    pub b: Vec<UnlikeValue>,
}

/// One of its values.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct UnlikeValue {
    /// In words.
    pub value: String,
    /// In how many runs of the side.
    pub runs: u64,
}

/// The verdict on the whole.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Headline {
    /// B, seen from A.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub why: String,
    /// The measures that it rests on.
    pub measures: Vec<String>,
}

/// B, seen from A.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better.
    Better,
    /// Worse.
    Worse,
    /// A difference may be there, but these runs don't show one.
    NoDifferenceShown,
    /// More, of something that is neither good nor bad by itself.
    Higher,
    /// Less of it.
    Lower,
    /// Of the headline only: one of its measures is better and the other one is worse.
    Mixed,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoDifferenceShown => "no difference shown",
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Mixed => "better in one, worse in another",
        }
    }
}

/// What a measure is about.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Number and lengths of pauses.
    Pauses,
    /// Their time, and the share of faults in it.
    Time,
    /// Faults of all kinds.
    Faults,
    /// Faults of one kind.
    Kind,
    /// Faults on one region of memory.
    Region,
    /// Faults of one code path.
    Path,
    /// A part of the pauses' time.
    Budget,
}

impl Group {
    /// All groups with their titles, in the order in which they are shown.
    pub const TITLED: [(Self, &str); 7] = [
        (Self::Pauses, "Lengths"),
        (Self::Time, "Time"),
        (Self::Faults, "Faults"),
        (Self::Kind, "Faults by kind"),
        (Self::Region, "Faults by what they touched"),
        (Self::Path, "Faults by code path"),
        (Self::Budget, "Where the time went"),
    ];
}

/// What a measure's numbers are.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A number of things.
    Count,
    /// How many in a second of watched time.
    PerSecond,
    /// How many in a pause.
    PerPause,
    /// Nanoseconds.
    Ns,
    /// Nanoseconds in a second of watched time.
    NsPerSecond,
    /// Nanoseconds in a pause.
    NsPerPause,
    /// A share, from 0 to 1.
    Share,
}

/// One thing that was compared.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Measure {
    /// A stable name, such as `worst` or `kind.swap_in.ns_per_pause`.
    pub id: String,
    /// What it is about.
    pub group: Group,
    /// Which kind, region, or part of the budget; `null` in other groups.
    pub of: Option<String>,
    /// The code path's functions, innermost first; `null` in other groups.
    pub frames: Option<Vec<String>>,
    /// In words.
    pub words: String,
    /// What its numbers are.
    pub unit: Unit,
    /// Whether the verdict on the whole rests on it.
    pub is_headline: bool,
    /// Side A.
    pub a: SideValue,
    /// Side B.
    pub b: SideValue,
    /// B − A, of the medians over runs; `null` when one isn't known.
    pub difference: Option<f64>,
    /// Where that may lie.
    pub difference_interval: Option<[f64; 2]>,
    /// B / A; `null` when it isn't known or A is 0.
    pub ratio: Option<f64>,
    /// Where that may lie; an end that has no bound, because A may be 0, is `null`.
    pub ratio_interval: Option<[Option<f64>; 2]>,
    /// What the intervals tell of: `runs`, or with one run on each side `pauses`, which says nothing of how much runs
    /// differ; `null` without intervals.
    pub interval_of: Option<String>,
    /// How often runs put into two groups at random differ as much; `null` when there are too few.
    pub p: Option<f64>,
    /// The same, adjusted for the number of measures.
    pub p_adjusted: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, in words.
    pub why: String,
    /// What the verdict would be were it the only measure.
    pub alone: Verdict,
}

/// A measure on one side.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct SideValue {
    /// The median over runs; `null` unless it is known in every run.
    pub median: Option<f64>,
    /// The least of the runs in which it is known.
    pub least: Option<f64>,
    /// The most.
    pub most: Option<f64>,
    /// Each run's, in the order of the runs.
    pub runs: Vec<Option<f64>>,
}
