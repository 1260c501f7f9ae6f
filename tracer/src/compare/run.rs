//! One run: what a recording's pauses come to, kept so that they can be resampled.

use std::collections::{BTreeMap, HashMap};

use rand::seq::SliceRandom as _;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng as _};

use super::column::{self, COLUMNS, Row};
use crate::{
    pause::{Durations, Sorted},
    recording::{Item, Recording, RecordingError, Wanted},
    report::model::{Pause, State, Summary},
};

/// Pauses are resampled in this many groups; a run with fewer pauses has a group for each.
///
/// Pauses are put into groups at random. The sum over resampled groups has the mean and, but for one part in 256, the
/// variance of the sum over resampled pauses, and one long pause is in it as often or as seldom.
pub(super) const GROUPS: usize = 256;

/// This many code paths are kept apart.
const MOST_PATHS: usize = 20_000;

/// What further code paths are added up under.
const FURTHER: &str = "[further stacks, added up]";
/// What faults are added up under whose pause or stack is not in the recording.
const DROPPED: &str = "[details dropped]";

/// A run.
#[derive(Debug)]
pub(super) struct Run {
    /// How long its pauses were watched, added up over its processes.
    pub(super) covered_ns: u64,
    /// Complete pauses, those included of which there is no line.
    pub(super) pauses: u64,
    /// Complete pauses that have lines.
    pub(super) lines: u64,
    /// Lengths of those.
    pub(super) lengths: Sorted,
    /// Quantiles of all complete pauses, in the order of [`super::measure::Quantile::ALL`]; `None` when they can't be told.
    pub(super) quantiles: [Option<u64>; 4],
    /// Sums over all complete pauses.
    pub(super) totals: Row,
    /// Which sums are known.
    pub(super) known: [bool; COLUMNS],
    /// Sums over the pauses of each group.
    pub(super) groups: Vec<Row>,
    /// Code paths of the drivers' faults.
    pub(super) paths: HashMap<Vec<String>, PathSums>,
}

/// A code path's faults.
#[derive(Clone, Debug, Default)]
pub(super) struct PathSums {
    /// How many.
    pub(super) faults: f64,
    /// Their time in nanoseconds.
    pub(super) ns: f64,
    /// Both, for each group in which there are any.
    pub(super) groups: BTreeMap<u16, [f64; 2]>,
}

impl PathSums {
    /// Adds faults and their time to a group.
    fn add(&mut self, group: u16, [faults, ns]: [f64; 2]) {
        self.faults += faults;
        self.ns += ns;
        let of_group = self.groups.entry(group).or_default();
        of_group[0] += faults;
        of_group[1] += ns;
    }
}

impl Run {
    /// Reads the pauses of these processes.
    ///
    /// # Errors
    /// When the file can't be read any more.
    pub(super) fn read(recording: &Recording, processes: &[u32], seed: u64) -> Result<Self, RecordingError> {
        let mut building = Building::new(seed);
        recording.each(Wanted { pauses: true, ..Wanted::default() }, |item| {
            if let Item::Pause(recorded, pause) = item
                && processes.contains(&recorded.process.process)
                && pause.state == State::Complete
            {
                building.add(recorded.process.process, &pause);
            }
        })?;
        let summaries: Vec<(&Summary, u64)> = processes
            .iter()
            .filter_map(|&number| recording.process(number))
            .map(|recorded| {
                let report = &recorded.report;
                let watched = report.windows.sampled.map(|sampled| sampled.watched_ns);
                (&report.summary, watched.unwrap_or(report.trace.duration_ns))
            })
            .collect();
        Ok(building.finish(&summaries, &|process, frames| match recording.process(process) {
            Some(recorded) => recorded.stacks.resolve(frames),
            None => frames.to_vec(),
        }))
    }

    /// Whether every complete pause has a line: only then do the lines say how much the pauses differ.
    pub(super) fn has_all_lines(&self) -> bool {
        self.lines == self.pauses
    }
}

/// Takes pauses in.
#[derive(Debug)]
pub(super) struct Building {
    random: Xoshiro256PlusPlus,
    order: Vec<u16>,
    lines: u64,
    lengths: Durations,
    groups: Vec<Row>,
    /// Code paths as the pauses of each process tell them: most by reference.
    told: HashMap<u32, HashMap<Vec<String>, PathSums>>,
    /// How many these are.
    told_count: usize,
    paths: HashMap<Vec<String>, PathSums>,
}

impl Building {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            order: Vec::new(),
            lines: 0,
            lengths: Durations::default(),
            groups: Vec::new(),
            told: HashMap::new(),
            told_count: 0,
            paths: HashMap::new(),
        }
    }

    /// Adds a complete pause of this process.
    pub(super) fn add(&mut self, process: u32, pause: &Pause) {
        let group = self.next_group();
        self.lines += 1;
        self.lengths.add(pause.duration_ns.unwrap_or(0));
        column::of_pause(pause, &mut self.groups[usize::from(group)]);
        let told = self.told.entry(process).or_default();
        for stack in &pause.stacks {
            let sums = match told.get_mut(&stack.frames) {
                Some(sums) => sums,
                None if self.told_count < MOST_PATHS => {
                    self.told_count += 1;
                    told.entry(stack.frames.clone()).or_default()
                }
                None => told.entry(vec![FURTHER.to_owned()]).or_default(),
            };
            sums.add(group, [stack.faults as f64, stack.ns as f64]);
        }
    }

    /// Puts names in place of references; those of the same names become one.
    fn name(&mut self, names: &dyn Fn(u32, &[String]) -> Vec<String>) {
        for (process, told) in std::mem::take(&mut self.told) {
            for (frames, sums) in told {
                let named = self.paths.entry(names(process, &frames)).or_default();
                sums.groups.into_iter().for_each(|(group, of_group)| named.add(group, of_group));
            }
        }
    }

    /// Every group gets a pause, in random order, before any gets another one.
    fn next_group(&mut self) -> u16 {
        if self.order.is_empty() {
            self.order = (0..GROUPS as u16).collect();
            self.order.shuffle(&mut self.random);
            if self.groups.is_empty() {
                // Few pauses fill groups from the first one on: empty ones would be resampled as well.
                self.order = (0..GROUPS as u16).rev().collect();
            }
        }
        let group = self.order.pop().unwrap_or(0);
        if self.groups.len() <= usize::from(group) {
            self.groups.resize(usize::from(group) + 1, [0.0; COLUMNS]);
        }
        group
    }

    /// The run. Sums are those of the summaries: they hold pauses that have no line. `names`: those that code paths of a
    /// process stand for.
    pub(super) fn finish(
        mut self,
        summaries: &[(&Summary, u64)],
        names: &dyn Fn(u32, &[String]) -> Vec<String>,
    ) -> Run {
        self.name(names);
        let (mut totals, mut known) = ([0.0; COLUMNS], [true; COLUMNS]);
        for (summary, _) in summaries {
            let (row, of_these) = column::of_summary(summary);
            for index in 0..COLUMNS {
                totals[index] += row[index];
                // Without pauses there is nothing that could be unknown.
                known[index] &= of_these[index] || summary.pauses == 0;
            }
        }
        let sum =
            |of: &dyn Fn(&Summary) -> u64| summaries.iter().map(|(summary, _)| of(summary)).sum::<u64>();
        let (pauses, faults, in_faults_ns) =
            (sum(&|it| it.pauses), sum(&|it| it.faults), sum(&|it| it.in_faults_ns));
        let of_paths =
            self.paths.values().fold((0.0, 0.0), |sum, path| (sum.0 + path.faults, sum.1 + path.ns));
        let missing = ((faults as f64 - of_paths.0).max(0.0), (in_faults_ns as f64 - of_paths.1).max(0.0));
        if missing.0 > 0.0 || missing.1 > 0.0 {
            let dropped = self.paths.entry(vec![DROPPED.to_owned()]).or_default();
            dropped.faults += missing.0;
            dropped.ns += missing.1;
        }
        let lengths = self.lengths.sorted();
        let quantiles = match summaries {
            [(summary, _)] => [summary.median_ns, summary.p90_ns, summary.p99_ns, summary.worst_ns],
            several => {
                let worst = several.iter().filter_map(|(summary, _)| summary.worst_ns).max();
                let all = self.lines == pauses;
                let of = |share| if all { lengths.quantile(share) } else { None };
                [of(0.5), of(0.9), of(0.99), worst]
            }
        };
        Run {
            covered_ns: summaries.iter().map(|(_, covered_ns)| covered_ns).sum(),
            pauses,
            lines: self.lines,
            lengths,
            quantiles,
            totals,
            known,
            groups: self.groups,
            paths: self.paths,
        }
    }
}
