//! The statistics on runs whose truth is known.

use rand::RngExt as _;
use rand_distr::{Distribution as _, LogNormal};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng as _};

use super::{
    bootstrap::{How, intervals},
    column::{Column, Of},
    measure::{self, Quantile, Quantity, Source},
    model::*,
    run::{Building, Run},
    sides::evaluate,
    table::Table,
};
use crate::report::{
    fixtures,
    model::{Kind, Report, Summary, Tool, Unit as Window},
};

/// Names that are in place already.
fn as_told(_process: u32, frames: &[String]) -> Vec<String> {
    frames.to_vec()
}

/// A run of these lengths in a minute.
fn run(lengths: &[u64], seed: u64) -> Run {
    let mut building = Building::new(seed);
    let mut pause = fixtures::pause(1, "GC", 0, 0);
    for &ns in lengths {
        pause.duration_ns = Some(ns);
        building.add(1, &pause);
    }
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let at =
        |share: f64| sorted.get(((share * sorted.len() as f64).ceil() as usize).saturating_sub(1)).copied();
    let summary = Summary {
        pauses: lengths.len() as u64,
        paused_ns: lengths.iter().sum(),
        median_ns: at(0.5),
        p90_ns: at(0.9),
        p99_ns: at(0.99),
        worst_ns: at(1.0),
        stopping_ns: Some(12_000 * lengths.len() as u64),
        ..Summary::default()
    };
    building.finish(&[(&summary, 60_000_000_000)], &as_told)
}

fn of_report(mut report: Report, seed: u64) -> Run {
    fixtures::sum_up(&mut report);
    let mut building = Building::new(seed);
    report.pauses.iter().for_each(|pause| building.add(1, pause));
    building.finish(&[(&report.summary, report.trace.duration_ns)], &as_told)
}

/// Pauses around 100 µs; some are long. All of a run are longer or shorter by a factor of its own: runs differ more than
/// their pauses tell.
fn noisy(count: usize, noise: f64, factor: f64, random: &mut Xoshiro256PlusPlus) -> Run {
    let of_run = LogNormal::new(factor.ln(), noise).unwrap().sample(random);
    let of_pause = LogNormal::new(100_000_f64.ln(), 0.5).unwrap();
    let lengths: Vec<u64> = (0..count)
        .map(|_| {
            let long = if random.random_range(0..50) == 0 { 20.0 } else { 1.0 };
            (of_pause.sample(random) * of_run * long) as u64
        })
        .collect();
    run(&lengths, random.random())
}

fn comparison(resamples: u32) -> Comparison {
    Comparison {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "pauselens".to_owned(), version: "0.1.0".to_owned() },
        method: Method {
            seed: 1,
            resamples,
            confidence: 0.95,
            smallest_difference: 0.05,
            largest_p: 0.05,
            permutations: None,
            permutations_exact: false,
            least_p: None,
            other_measures: 0,
        },
        window: "pause".to_owned(),
        sides: Sides { a: Side { runs: Vec::new() }, b: Side { runs: Vec::new() } },
        unlike: Vec::new(),
        notes: Vec::new(),
        headline: Headline { verdict: Verdict::NoDifferenceShown, why: String::new(), measures: Vec::new() },
        measures: Vec::new(),
    }
}

/// The comparison of these runs, with all measures or with those of the headline only.
fn compared(a: &[Run], b: &[Run], resamples: u32, headline_only: bool) -> Comparison {
    let (mut defined, paths) = measure::define(a, b, Window::Pause);
    if headline_only {
        defined.retain(|defined| defined.is_headline);
    }
    let mut to = comparison(resamples);
    evaluate(&mut to, [a, b], &defined, &paths);
    to
}

fn of<'a>(comparison: &'a Comparison, id: &str) -> &'a Measure {
    comparison.measures.iter().find(|measure| measure.id == id).unwrap_or_else(|| panic!("there is no {id}"))
}

/// How many of so many comparisons give a verdict.
fn verdicts(
    times: usize,
    runs: [usize; 2],
    pauses: usize,
    (noise, factor): (f64, f64),
    wanted: &[Verdict],
) -> usize {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20_261_201);
    (0..times)
        .filter(|_| {
            let a: Vec<Run> = (0..runs[0]).map(|_| noisy(pauses, noise, 1.0, &mut random)).collect();
            let b: Vec<Run> = (0..runs[1]).map(|_| noisy(pauses, noise, factor, &mut random)).collect();
            wanted.contains(&compared(&a, &b, 100, true).headline.verdict)
        })
        .count()
}

const ANY: [Verdict; 3] = [Verdict::Better, Verdict::Worse, Verdict::Mixed];

#[test]
fn the_same_against_the_same_is_seldom_called_a_difference() {
    for runs in [[4, 4], [5, 5], [3, 6]] {
        let wrong = verdicts(200, runs, 100, (0.3, 1.0), &ANY);
        assert!(wrong <= 12, "{runs:?}: {wrong} of 200 are wrong: more than 6 %");
    }
}

#[test]
fn twice_as_long_is_found() {
    let found = verdicts(60, [5, 5], 500, (0.1, 2.0), &[Verdict::Worse]);
    assert!(found >= 57, "found in {found} of 60");
    let found = verdicts(60, [5, 5], 500, (0.1, 0.5), &[Verdict::Better]);
    assert!(found >= 57, "found in {found} of 60");
}

#[test]
fn too_few_runs_never_bear_a_verdict() {
    for runs in [[1, 1], [2, 2], [1, 6], [3, 3]] {
        assert_eq!(verdicts(10, runs, 110, (0.05, 50.0), &ANY), 0, "{runs:?}");
    }
}

#[test]
fn numbers_are_those_of_the_runs() {
    let a = [run(&[10, 20, 30, 40], 1), run(&[20, 30, 40, 50], 2), run(&[60, 70, 80, 90], 3)];
    let b = [run(&[100; 8], 4)];
    let to = compared(&a, &b, 100, false);
    let median = of(&to, "median");
    assert_eq!(median.a.runs, [Some(20.0), Some(30.0), Some(70.0)]);
    assert_eq!((median.a.median, median.a.least, median.a.most), (Some(30.0), Some(20.0), Some(70.0)));
    assert_eq!(
        (median.b.median, median.difference, median.ratio),
        (Some(100.0), Some(70.0), Some(100.0 / 30.0))
    );
    let share = of(&to, "paused_share");
    assert_eq!(share.a.runs[0], Some(100.0 / 60e9));
    assert_eq!(share.b.median, Some(800.0 / 60e9));
    assert_eq!(of(&to, "pauses_per_s").b.median, Some(8.0 / 60.0));
    assert_eq!(of(&to, "worst").a.runs, [Some(40.0), Some(50.0), Some(90.0)]);
}

#[test]
fn faults_are_told_by_kind_region_and_code_path() {
    let side = |swap_ins: u64| -> Vec<Run> {
        (0..5)
            .map(|seed| {
                let mut report = fixtures::story();
                report.summary = Default::default();
                for pause in &mut report.pauses {
                    if let Some(total) = pause.by_kind.get_mut(&Kind::SwapIn) {
                        total.count = swap_ins + seed;
                    }
                }
                of_report(report, seed)
            })
            .collect()
    };
    let to = compared(&side(200), &side(400), 200, false);
    let swap_ins = of(&to, "kind.swap_in.per_pause");
    assert!((swap_ins.a.median.unwrap() - 202.0 / 3.0).abs() < 1e-9);
    assert_eq!((swap_ins.verdict, swap_ins.of.as_deref()), (Verdict::Worse, Some("swap_in")));
    assert_eq!(of(&to, "kind.swap_in.ns_per_pause").verdict, Verdict::NoDifferenceShown);
    assert_eq!(of(&to, "region.runtime_metadata.per_pause").a.median, Some(219.0 / 3.0));
    let path = of(&to, "path.1.per_s");
    assert_eq!(path.frames.as_ref().unwrap()[0], "runtime.(*spanSet).push");
    assert_eq!(path.a.median, Some(226.0 / 60.0));
    assert!(to.measures.iter().any(|measure| measure.id == "budget.fault_blocked_io.ns_per_pause"));
    let mut ids: Vec<_> = to.measures.iter().map(|measure| &measure.id).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "no name is used twice");
}

#[test]
fn what_is_not_known_is_not_compared() {
    let (mut a, b) = (vec![run(&[10, 20], 1)], vec![run(&[10, 20], 2)]);
    a[0].known[Column::Stopping.index()] = false;
    let to = compared(&a, &b, 50, false);
    let stopping = of(&to, "stopping.ns_per_pause");
    assert_eq!((stopping.a.median, stopping.difference, stopping.ratio), (None, None, None));
    assert_eq!(stopping.difference_interval, None);
    assert_eq!(stopping.b.median, Some(12_000.0));
}

#[test]
fn runs_without_pauses_have_no_lengths() {
    let (a, b) = (vec![run(&[], 1)], vec![run(&[5], 2)]);
    let to = compared(&a, &b, 50, false);
    assert_eq!(of(&to, "worst").a.median, None);
    assert_eq!(of(&to, "pauses").a.median, Some(0.0));
    assert_eq!(of(&to, "paused_share").a.median, Some(0.0));
    assert_eq!(of(&to, "paused_share").ratio, None, "nothing is a multiple of 0");
    assert_eq!(of(&to, "faults.per_pause").a.median, None);
}

#[test]
fn one_run_on_each_side_tells_of_its_pauses_only() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let side = |factor, random: &mut _| vec![noisy(500, 0.0, factor, random)];
    let (a, b) = (side(1.0, &mut random), side(3.0, &mut random));
    let to = compared(&a, &b, 400, false);
    let median = of(&to, "median");
    assert_eq!(median.interval_of.as_deref(), Some("pauses"));
    let [low, high] = median.ratio_interval.unwrap().map(Option::unwrap);
    assert!(2.5 < low && low < 3.0 && 3.0 < high && high < 3.6, "{low} to {high}");
    assert_eq!((median.verdict, median.alone), (Verdict::NoDifferenceShown, Verdict::NoDifferenceShown));
    assert!(median.why.contains("4 runs on each side"), "{}", median.why);
    assert_eq!(of(&to, "pauses_per_s").difference_interval, None, "their number is not resampled");
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let runs = |seed| -> Vec<Run> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..3).map(|_| noisy(300, 0.2, 1.0, &mut random)).collect()
    };
    let one = compared(&runs(1), &runs(2), 100, false);
    assert_eq!(one, compared(&runs(1), &runs(2), 100, false));
}

/// Draws every pause by itself, which is what the quicker ways stand for.
fn plainly(a: &[u64], b: &[u64], of: impl Fn(&mut Vec<u64>) -> f64) -> [f64; 2] {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(99);
    let mut draw = |from: &[u64]| {
        let mut drawn: Vec<u64> = (0..from.len()).map(|_| from[random.random_range(0..from.len())]).collect();
        of(&mut drawn)
    };
    let mut differences: Vec<f64> = (0..2000).map(|_| -draw(a) + draw(b)).collect();
    differences.sort_unstable_by(f64::total_cmp);
    [differences[50], differences[1949]]
}

#[test]
fn quick_ways_of_drawing_agree_with_drawing_every_pause() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let of_pause = LogNormal::new(11.0, 0.8).unwrap();
    let mut lengths = |count: usize, factor: f64| -> Vec<u64> {
        (0..count).map(|_| (of_pause.sample(&mut random) * factor) as u64).collect()
    };
    let (a, b) = (lengths(500, 1.0), lengths(700, 1.2));
    let runs = [[run(&a, 1)], [run(&b, 2)]];
    let paused = Source::Column(Column::Paused);
    let quantities = [
        Quantity::PerPause(paused),
        Quantity::Length(Quantile::Median),
        Quantity::Length(Quantile::P90),
        Quantity::Length(Quantile::P99),
    ];
    let tables = runs.each_ref().map(|runs| [Table::new(&runs[0], &quantities, &[])]);
    let how = How { resamples: 2000, seed: 1, confidence: 0.95 };
    let found = intervals([&tables[0], &tables[1]], &quantities, how);
    let quantile = |share: f64| {
        move |drawn: &mut Vec<u64>| {
            drawn.sort_unstable();
            drawn[(share * drawn.len() as f64).ceil() as usize - 1] as f64
        }
    };
    let expected = [
        plainly(&a, &b, |drawn| drawn.iter().sum::<u64>() as f64 / drawn.len() as f64),
        plainly(&a, &b, quantile(0.5)),
        plainly(&a, &b, quantile(0.9)),
        plainly(&a, &b, quantile(0.99)),
    ];
    for (index, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        let found = found.unwrap().difference;
        let width = expected[1] - expected[0];
        for (one, other) in found.into_iter().zip(expected) {
            assert!((one - other).abs() < width * 0.1, "measure {index}: {found:?} against {expected:?}");
        }
    }
}

#[test]
fn groups_hold_every_pause_once() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for count in [0_usize, 1, 7, 255, 256, 257, 1_000] {
        let lengths: Vec<u64> = (0..count).map(|_| random.random_range(1..1_000_000)).collect();
        let run = run(&lengths, 1);
        let paused = Column::Paused.index();
        let sum: f64 = run.groups.iter().map(|group| group[paused]).sum();
        assert_eq!(sum, lengths.iter().sum::<u64>() as f64);
        assert_eq!(run.groups.len(), count.min(super::run::GROUPS));
        assert!(run.groups.iter().all(|group| group[paused] > 0.0));
    }
}

#[test]
fn faults_of_dropped_stacks_are_a_path_of_their_own() {
    let mut report = fixtures::story();
    report.summary = Default::default();
    report.pauses[0].stacks.truncate(1);
    let run = of_report(report, 1);
    let dropped = &run.paths[&vec!["[details dropped]".to_owned()]];
    assert_eq!((dropped.faults, dropped.ns), (11.0, 1_893_000.0));
    let all: f64 = run.paths.values().map(|path| path.ns).sum();
    assert_eq!(all, run.totals[Column::InFaults.index()]);
    assert!(run.totals[Column::Kind(0, Of::Count).index()] > 0.0);
}
