//! Both sides together: from recordings to a [`Comparison`].

use std::collections::BTreeSet;

use super::{
    alike,
    bootstrap::{self, How, median},
    measure::{self, Defined, PAUSES_FOR_P90, PAUSES_FOR_P99, Quantile, Quantity},
    model::*,
    permutation,
    pick::{PickError, pick},
    run::Run,
    side_by_side::side_by_side,
    table::Table,
    verdict::{self, Bar, Found},
};
use crate::{
    recording::{Recorded, Recording, RecordingError},
    report::model::Tool,
};

/// No verdict is given on a larger p.
const LARGEST_P: f64 = 0.05;
/// The share of the resamples that intervals hold.
const CONFIDENCE: f64 = 0.95;
/// How many times runs and pauses are drawn again.
pub(super) const RESAMPLES: u32 = 2_000;

/// What can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Which process of recordings of several: its program's path or name, or its id.
    pub process: Option<String>,
    /// What all random numbers come from.
    pub seed: u64,
    /// No verdict is given on a smaller difference than this share.
    pub smallest_difference: f64,
}

/// A recording that is a run.
#[derive(Debug)]
pub struct Input {
    /// What is read from.
    pub recording: Recording,
}

/// Why nothing is compared.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Which process is meant is not clear.
    #[error(transparent)]
    Pick(#[from] PickError),
    /// A file can't be read any more.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A run is counted twice.
    #[error("{one} and {other} are recordings of one run: on a side each run counts once, so name it once")]
    Twice {
        /// A file.
        one: String,
        /// Another one.
        other: String,
    },
}

/// Two sides, and what came of them.
#[derive(Debug)]
pub struct Compared {
    /// The comparison.
    pub comparison: Comparison,
    runs: [Vec<Run>; 2],
}

impl Compared {
    pub(super) fn a(&self) -> &[Run] {
        &self.runs[0]
    }

    pub(super) fn b(&self) -> &[Run] {
        &self.runs[1]
    }

    /// Whether any run is partial.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        let sides = &self.comparison.sides;
        sides.a.runs.iter().chain(&sides.b.runs).any(|run| !run.partial.is_empty())
    }
}

/// Compares B with A.
///
/// # Errors
/// When it is not clear which processes are meant, a run is named twice on one side, or a file can't be read any more.
pub fn compare(a: &[Input], b: &[Input], options: &Options) -> Result<Compared, Error> {
    for side in [a, b] {
        once(side)?;
    }
    let recordings: Vec<&Recording> = a.iter().chain(b).map(|input| &input.recording).collect();
    let picked = pick(&recordings, options.process.as_deref())?;
    // Each run has random numbers of its own, so the order in which they are read does not matter.
    let read = side_by_side(&recordings, |index, recording| {
        Run::read(recording, &picked[index], options.seed.wrapping_add(1 + index as u64))
    });
    let mut runs = read.into_iter().collect::<Result<Vec<Run>, RecordingError>>()?;
    let with_processes: Vec<(&Recording, Vec<&Recorded>)> = recordings
        .iter()
        .zip(&picked)
        .map(|(recording, numbers)| {
            (*recording, numbers.iter().filter_map(|&number| recording.process(number)).collect())
        })
        .collect();
    let abouts: Vec<RunAbout> = with_processes
        .iter()
        .zip(&runs)
        .map(|((recording, processes), run)| about(recording, processes, run))
        .collect();
    let window = with_processes
        .first()
        .and_then(|(_, processes)| processes.first())
        .map_or_else(Default::default, |recorded| recorded.report.windows.clone())
        .unit;
    let b_runs = runs.split_off(a.len());
    let (with_a, with_b) = with_processes.split_at(a.len());
    let (about_a, about_b) = abouts.split_at(a.len());
    let mut unlike = alike::unlike(with_a, with_b);
    let (more, notes) = alike::of_runs(about_a, about_b, window.one());
    unlike.extend(more);
    let (defined, paths) = measure::define(&runs, &b_runs, window);
    let mut comparison = Comparison {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "pauselens".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        method: Method {
            seed: options.seed,
            resamples: RESAMPLES,
            confidence: CONFIDENCE,
            smallest_difference: options.smallest_difference,
            largest_p: LARGEST_P,
            permutations: None,
            permutations_exact: false,
            least_p: None,
            other_measures: defined.iter().filter(|defined| !defined.is_headline).count() as u64,
        },
        window: window.one().to_owned(),
        sides: Sides { a: Side { runs: about_a.to_vec() }, b: Side { runs: about_b.to_vec() } },
        unlike,
        notes,
        headline: Headline { verdict: Verdict::NoDifferenceShown, why: String::new(), measures: Vec::new() },
        measures: Vec::new(),
    };
    comparison.notes.extend(about_lines(&runs, &b_runs, window.many()));
    evaluate(&mut comparison, [&runs, &b_runs], &defined, &paths);
    Ok(Compared { comparison, runs: [runs, b_runs] })
}

/// Puts in what the runs' numbers say.
pub(super) fn evaluate(to: &mut Comparison, sides: [&[Run]; 2], defined: &[Defined], paths: &[Vec<String>]) {
    let quantities: Vec<Quantity> = defined.iter().map(|defined| defined.quantity).collect();
    let tables =
        sides.map(|runs| runs.iter().map(|run| Table::new(run, &quantities, paths)).collect::<Vec<_>>());
    let values = tables
        .each_ref()
        .map(|tables| tables.iter().map(|table| values(table, &quantities)).collect::<Vec<_>>());
    let how = How { resamples: to.method.resamples, seed: to.method.seed, confidence: to.method.confidence };
    let intervals = bootstrap::intervals([&tables[0], &tables[1]], &quantities, how);
    let counts = [sides[0].len(), sides[1].len()];
    let bar = Bar { p: to.method.largest_p, difference: to.method.smallest_difference };
    let least_p = permutation::least_p(counts[0], counts[1]);
    let of_measure = |index: usize| -> Vec<Option<f64>> {
        values.iter().flatten().map(|run: &Vec<Option<f64>>| run[index]).collect()
    };
    let tested = counts.iter().all(|&runs| runs >= verdict::LEAST_RUNS).then(|| {
        let measures: Vec<_> = (0..defined.len()).map(of_measure).collect();
        let family: Vec<usize> = defined.iter().map(|defined| usize::from(!defined.is_headline)).collect();
        permutation::test(&measures, &family, counts[0], to.method.seed)
    });
    if let Some(tested) = &tested {
        to.method.permutations = Some(tested.ways);
        to.method.permutations_exact = tested.exact;
        to.method.least_p = Some(least_p);
    }
    for (index, defined) in defined.iter().enumerate() {
        let side = |side: usize| side_value(values[side].iter().map(|run| run[index]).collect());
        let (a, b) = (side(0), side(1));
        let fixed = counts == [1, 1] && is_fixed(defined.quantity, &tables);
        let interval = intervals[index].filter(|_| !fixed);
        let found = Found {
            runs: counts,
            least_p,
            p: tested.as_ref().and_then(|tested| tested.adjusted[index]),
            a: a.median,
            b: b.median,
            interval: intervals[index].map(|interval| interval.difference),
            wanted: defined.wanted,
        };
        let (verdict, why) = verdict::verdict(&found, bar);
        let p = tested.as_ref().and_then(|tested| tested.p[index]);
        let (alone, _) = verdict::verdict(&Found { p, ..found }, bar);
        let both = a.median.zip(b.median);
        to.measures.push(Measure {
            id: defined.id.clone(),
            group: defined.group,
            of: defined.of.clone(),
            frames: defined.frames.clone(),
            words: defined.words.clone(),
            unit: defined.unit,
            is_headline: defined.is_headline,
            difference: both.map(|(a, b)| b - a),
            difference_interval: interval.map(|interval| interval.difference),
            ratio: both.filter(|(a, _)| *a > 0.0).map(|(a, b)| b / a),
            ratio_interval: interval
                .map(|interval| interval.ratio.map(|end| Some(end).filter(|end| end.is_finite()))),
            interval_of: interval.map(|_| if counts == [1, 1] { "pauses" } else { "runs" }.to_owned()),
            p,
            p_adjusted: found.p,
            verdict,
            why,
            alone,
            a,
            b,
        });
    }
    to.headline = headline(&to.measures, counts, least_p, bar);
}

/// The verdict on the whole, from the measures that it rests on.
fn headline(measures: &[Measure], counts: [usize; 2], least_p: f64, bar: Bar) -> Headline {
    let on: Vec<&Measure> = measures.iter().filter(|measure| measure.is_headline).collect();
    let any = |verdict| on.iter().any(|measure| measure.verdict == verdict);
    let verdict = match (any(Verdict::Better), any(Verdict::Worse)) {
        (true, true) => Verdict::Mixed,
        (true, false) => Verdict::Better,
        (false, true) => Verdict::Worse,
        (false, false) => Verdict::NoDifferenceShown,
    };
    let why = if verdict == Verdict::NoDifferenceShown && !verdict::can_tell(counts, least_p, bar) {
        verdict::too_few(counts, least_p, bar)
    } else {
        let told = on
            .iter()
            .map(|measure| format!("{}: {} ({})", measure.words, measure.verdict.words(), measure.why));
        told.collect::<Vec<_>>().join("; ")
    };
    Headline { verdict, why, measures: on.iter().map(|measure| measure.id.clone()).collect() }
}

fn values(table: &Table<'_>, quantities: &[Quantity]) -> Vec<Option<f64>> {
    let drawn = table.as_is();
    quantities.iter().map(|&quantity| table.value(quantity, table.places(quantity), &drawn)).collect()
}

/// Whether drawing pauses again changes nothing: their number is what it was, and so are lengths without lines.
fn is_fixed(quantity: Quantity, tables: &[Vec<Table<'_>>; 2]) -> bool {
    match quantity {
        Quantity::Pauses | Quantity::Rate => true,
        Quantity::Length(_) => tables.iter().flatten().any(|table| table.lengths.is_none()),
        _ => tables.iter().flatten().any(|table| table.groups() == 0),
    }
}

fn side_value(runs: Vec<Option<f64>>) -> SideValue {
    let mut known: Vec<f64> = runs.iter().flatten().copied().collect();
    let median = if known.len() == runs.len() { median(&mut known) } else { None };
    let least = known.iter().copied().reduce(f64::min);
    let most = known.iter().copied().reduce(f64::max);
    SideValue { median, least, most, runs }
}

fn about(recording: &Recording, processes: &[&Recorded], run: &Run) -> RunAbout {
    let once = |of: &dyn Fn(&Recorded) -> String| {
        let values: BTreeSet<String> = processes.iter().map(|it| of(it)).collect();
        values.into_iter().collect::<Vec<_>>().join(", ")
    };
    RunAbout {
        file: recording.path.display().to_string(),
        host: recording.header.host.name.clone(),
        kernel: recording.header.host.kernel.clone(),
        exe: once(&|it| it.process.target.exe.clone()),
        pids: processes.iter().map(|it| it.process.target.pid).collect(),
        runtime: once(&|it| {
            let runtime = &it.process.target.runtime;
            format!("{} {}", runtime.name, runtime.version).trim().to_owned()
        }),
        started_unix_ms: recording.header.started_unix_ms,
        covered_ns: run.covered_ns,
        pauses: run.pauses,
        partial: partial(recording, processes),
    }
}

/// What is missing from a run.
fn partial(recording: &Recording, processes: &[&Recorded]) -> Vec<String> {
    let mut missing: Vec<String> = recording.all_problems().into_iter().map(|problem| problem.what).collect();
    if recording.end.is_none() && missing.is_empty() {
        missing.push("it was cut off: its last line is missing".to_owned());
    }
    for recorded in processes {
        let trace = &recorded.report.trace;
        if !recorded.is_whole && missing.is_empty() {
            missing.push("its report is missing, and was made from what could be read".to_owned());
        }
        if !trace.complete && trace.incomplete.is_empty() {
            missing.push("not everything was seen".to_owned());
        }
        missing.extend(trace.incomplete.iter().cloned());
    }
    let mut told = BTreeSet::new();
    missing.retain(|what| told.insert(what.clone()));
    missing
}

/// Whether each recording is a run of its own.
fn once(side: &[Input]) -> Result<(), Error> {
    for (index, one) in side.iter().enumerate() {
        for other in &side[index + 1..] {
            let (one, other) = (&one.recording, &other.recording);
            let same_file =
                one.path.canonicalize().ok().is_some_and(|path| Some(path) == other.path.canonicalize().ok());
            let pids =
                |it: &Recording| it.processes.iter().map(|it| it.process.target.pid).collect::<Vec<_>>();
            if same_file || (one.header == other.header && pids(one) == pids(other)) {
                let [one, other] = [one, other].map(|it| it.path.display().to_string());
                return Err(Error::Twice { one, other });
            }
        }
    }
    Ok(())
}

/// What the numbers of pauses mean for what can be told.
fn about_lines(a: &[Run], b: &[Run], many: &str) -> Vec<String> {
    let mut notes = Vec::new();
    let all = || a.iter().chain(b);
    let pauses: Vec<u64> = all().map(|run| run.pauses).collect();
    let (fewest, most) =
        (pauses.iter().min().copied().unwrap_or(0), pauses.iter().max().copied().unwrap_or(0));
    if fewest < PAUSES_FOR_P99 {
        let on = match measure::tail(&pauses) {
            Some(Quantile::Worst) => "the verdict rests on the longest instead of the 99th percentile",
            Some(_) => {
                "the verdict rests on the 90th percentile instead, since the longest of more is longer by itself"
            }
            None => "the verdict rests on no length, since the longest of more is longer by itself",
        };
        let range = if fewest == most {
            format!("Each run has {fewest} {many}")
        } else {
            format!("Runs have from {fewest} to {most} {many}")
        };
        notes.push(format!(
            "{range}: of fewer than {PAUSES_FOR_P99} the 99th percentile is the longest \
             one, of fewer than {PAUSES_FOR_P90} the 90th percentile as well; {on}."
        ));
    }
    let without = all().filter(|run| !run.has_all_lines()).count();
    if without > 0 {
        notes.push(format!(
            "In {without} of the runs not every one of the {many} has a line of its own (short ones, or a recording \
             with a largest size): their totals are whole, but how much they vary within a run is not known, so \
             intervals come from the differences between runs alone."
        ));
    }
    if all().any(|run| !run.lengths.is_exact()) {
        notes.push("Lengths of runs of more than a million are within 0.1 %.".to_owned());
    }
    notes
}
