//! The drivers' faults of all complete pauses, added up by where they came from: what flame graphs and profiles show.
//!
//! Their sums are those of the report's summary, for each process: faults whose detail lines are missing (dropped in the
//! kernel, left out for the file's size, lost with a part of the file, or of windows that were counted only) are a
//! remainder without a stack. Where only their lines are missing and their pause still tells code paths (`--max-size`), those
//! are used. Faults of pauses that were not seen whole are in none of them, as in the summary.

mod remainder;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use self::remainder::Counted;
use super::model::{Kind, Pause, Region, State};
use crate::recording::{
    Item, Recorded, Recording, RecordingError, Wanted,
    line::{Fault, Frame, Role},
};

/// The frame in place of the stack of faults whose details are missing.
pub const DETAILS_DROPPED: &str = "[details dropped]";

/// Every process's samples, in the order of the recording's processes.
#[derive(Debug)]
pub struct Samples {
    /// One for each of [`Recording::processes`].
    pub processes: Vec<OfProcess>,
}

/// One process's samples.
#[derive(Debug, Default)]
pub struct OfProcess {
    /// Its number in the recording.
    pub process: u32,
    /// The reasons of its pauses, which the samples name by their place here.
    pub reasons: Vec<String>,
    /// Code paths that have no stack's number, innermost first, which the samples name by their place here.
    pub paths: Vec<Vec<String>>,
    /// What its faults add up to.
    pub samples: BTreeMap<Sample, Total>,
}

/// What faults have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    /// The code path.
    pub path: Path,
    /// Their kind; `None`: not known.
    pub kind: Option<Kind>,
    /// Whether the kind is an inference.
    pub kind_inferred: bool,
    /// What they touched; [`Region::Unknown`] also where the details are missing.
    pub region: Region,
    /// Whether that is an inference.
    pub region_inferred: bool,
    /// Why the pause was made: a place in [`OfProcess::reasons`]; `None`: not known.
    pub reason: Option<usize>,
}

/// The code path of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Path {
    /// A stack's number within the process.
    Stack(u32),
    /// One that only pauses tell: a place in [`OfProcess::paths`].
    Told(usize),
    /// The details are missing: [`DETAILS_DROPPED`] stands for it.
    Missing,
}

/// How many faults, and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// How many.
    pub count: u64,
    /// Their time inside pauses, ns.
    pub ns: u64,
}

/// What a picture's sizes stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Time in faults, ns.
    #[default]
    Time,
    /// How many faults.
    Count,
}

impl Total {
    /// One of the two.
    #[must_use]
    pub fn by(self, by: By) -> u64 {
        match by {
            By::Time => self.ns,
            By::Count => self.count,
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.ns = self.ns.saturating_add(other.ns);
    }
}

impl Samples {
    /// Adds the recording's faults up. It is read twice, first for its pauses: that takes memory by the number of
    /// complete pauses (some 30 bytes each) and of different stacks, not of faults.
    ///
    /// # Errors
    /// When the file can't be read any more.
    pub fn collect(recording: &Recording) -> Result<Self, RecordingError> {
        let mut counting = Counting::default();
        counting.pauses(recording)?;
        counting.faults(recording)?;
        let finish = |recorded: &Recorded| {
            let number = recorded.process.process;
            counting.processes.remove(&number).unwrap_or_default().finish(recorded)
        };
        Ok(Self { processes: recording.processes.iter().map(finish).collect() })
    }

    /// For each process, what its faults without details add up to.
    pub fn without_details(&self) -> impl Iterator<Item = Total> {
        self.processes.iter().map(OfProcess::without_details)
    }

    /// What all of them add up to.
    #[must_use]
    pub fn total(&self) -> Total {
        self.processes.iter().map(OfProcess::total).fold(Total::default(), sum)
    }
}

impl OfProcess {
    /// What they add up to: the summary's `faults` and `in_faults_ns`.
    #[must_use]
    pub fn total(&self) -> Total {
        self.samples.values().copied().fold(Total::default(), sum)
    }

    /// Of them, what has no details.
    #[must_use]
    pub fn without_details(&self) -> Total {
        let without = self.samples.iter().filter(|(sample, _)| sample.path == Path::Missing);
        without.map(|(_, total)| *total).fold(Total::default(), sum)
    }

    /// Why a sample's pauses were made; `None`: not known.
    #[must_use]
    pub fn reason(&self, sample: &Sample) -> Option<&str> {
        sample.reason.and_then(|reason| self.reasons.get(reason)).map(String::as_str)
    }
}

impl Sample {
    /// Its frames, innermost first, never empty.
    #[must_use]
    pub fn frames(&self, of: &OfProcess, recorded: &Recorded) -> Vec<Frame> {
        let nameless = |name: &String| Frame { name: name.clone(), address: None };
        let told = match self.path {
            Path::Stack(stack) => return recorded.stacks.frames(stack),
            Path::Told(path) => of.paths.get(path),
            Path::Missing => None,
        };
        match told {
            Some(names) if !names.is_empty() => names.iter().map(nameless).collect(),
            _ => vec![nameless(&DETAILS_DROPPED.to_owned())],
        }
    }
}

fn sum(mut to: Total, other: Total) -> Total {
    to.add(other);
    to
}

/// While the recording is gone through.
#[derive(Debug, Default)]
struct Counting {
    /// The complete pauses.
    complete: HashMap<(u32, u64), Complete>,
    processes: HashMap<u32, OneProcess>,
}

/// A complete pause.
#[derive(Clone, Copy, Debug)]
struct Complete {
    /// The place of its reason.
    reason: usize,
    /// Whether any of its driver's faults has a line.
    has_lines: bool,
}

#[derive(Debug, Default)]
struct OneProcess {
    reasons: Vec<String>,
    place_of: HashMap<String, usize>,
    /// What the pauses of each reason say of their faults.
    told: Vec<Counted>,
    paths: Vec<Vec<String>>,
    place_of_path: HashMap<Vec<String>, usize>,
    samples: BTreeMap<Sample, Total>,
}

impl Counting {
    fn pauses(&mut self, recording: &Recording) -> Result<(), RecordingError> {
        recording.each(Wanted { pauses: true, faults: false }, |item| {
            let Item::Pause(recorded, pause) = item else { return };
            if pause.state != State::Complete {
                return;
            }
            let number = recorded.process.process;
            let process = self.processes.entry(number).or_default();
            let reason = process.place_of(&pause.reason);
            let complete = Complete { reason, has_lines: false };
            if self.complete.insert((number, pause.id), complete).is_none() {
                process.told[reason]
                    .add(Total { count: pause.faults, ns: pause.in_faults_ns }, &pause.by_kind);
            }
        })
    }

    fn faults(&mut self, recording: &Recording) -> Result<(), RecordingError> {
        // Only with a limit of size have pauses code paths without lines of faults.
        let pauses = recording.header.max_size_bytes.is_some();
        recording.each(Wanted { pauses, faults: true }, |item| {
            let (recorded, id) = match &item {
                Item::Fault(recorded, fault) => (recorded, fault.pause),
                Item::Pause(recorded, pause) => (recorded, pause.id),
            };
            let number = recorded.process.process;
            let Some(complete) = self.complete.get_mut(&(number, id)) else { return };
            let Some(process) = self.processes.get_mut(&number) else { return };
            match item {
                Item::Fault(_, fault) if fault.role == Role::Driver => {
                    complete.has_lines = true;
                    process.add(&fault, complete.reason);
                }
                Item::Pause(recorded, mut pause) if !complete.has_lines => {
                    // The same pause once more would be damage.
                    complete.has_lines = true;
                    recorded.name(&mut pause);
                    process.add_told(&pause, complete.reason);
                }
                Item::Fault(..) | Item::Pause(..) => {}
            }
        })
    }
}

impl OneProcess {
    fn place_of(&mut self, reason: &str) -> usize {
        if let Some(&place) = self.place_of.get(reason) {
            return place;
        }
        let place = self.reasons.len();
        self.place_of.insert(reason.to_owned(), place);
        self.reasons.push(reason.to_owned());
        self.told.push(Counted::default());
        place
    }

    fn add(&mut self, fault: &Fault, reason: usize) {
        let sample = Sample {
            path: Path::Stack(fault.stack),
            kind: Some(fault.kind),
            kind_inferred: fault.inferred,
            region: fault.region,
            region_inferred: fault.place_inferred,
            reason: Some(reason),
        };
        self.samples.entry(sample).or_default().add(Total { count: 1, ns: fault.ns });
    }

    /// Adds the code paths that a pause tells; what is inferred in part counts as inferred.
    fn add_told(&mut self, pause: &Pause, reason: usize) {
        for stack in pause.stacks.iter().filter(|stack| stack.frames != [DETAILS_DROPPED]) {
            let place = *self.place_of_path.entry(stack.frames.clone()).or_insert_with(|| {
                self.paths.push(stack.frames.clone());
                self.paths.len() - 1
            });
            for (&kind, total) in &stack.by_kind {
                let sample = Sample {
                    path: Path::Told(place),
                    kind: Some(kind),
                    kind_inferred: total.inferred > 0,
                    region: Region::Unknown,
                    region_inferred: false,
                    reason: Some(reason),
                };
                self.samples.entry(sample).or_default().add(Total { count: total.count, ns: total.ns });
            }
        }
    }

    /// Adds the remainders: of the pauses of each reason, then of the summary, which holds what has no line at all.
    fn finish(mut self, recorded: &Recorded) -> OfProcess {
        let mut detailed = vec![Counted::default(); self.reasons.len()];
        for (sample, total) in &self.samples {
            let reason = sample.reason.and_then(|reason| detailed.get_mut(reason));
            if let (Some(counted), Some(kind)) = (reason, sample.kind) {
                counted.add_kind(kind, sample.kind_inferred, *total);
            }
        }
        let mut all = Counted::default();
        for (place, (told, detailed)) in self.told.iter().zip(&detailed).enumerate() {
            let missing = told.without(detailed);
            all.add_all(detailed);
            all.add_all(&missing);
            self.samples.extend(missing.samples(Some(place)));
        }
        let summary = &recorded.report.summary;
        let mut whole = Counted::default();
        whole.add(Total { count: summary.faults, ns: summary.in_faults_ns }, &summary.by_kind);
        self.samples.extend(whole.without(&all).samples(None));
        OfProcess {
            process: recorded.process.process,
            reasons: self.reasons,
            paths: self.paths,
            samples: self.samples,
        }
    }
}
