//! Every kind of fault, by itself and mixed: what is reported of each pause is what the fixture did in it, fault by
//! fault. And the sums over the whole process against the kernel's own counters.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pauselens.rs"]
mod pauselens;
#[path = "support/swap.rs"]
mod swap;

use std::collections::BTreeMap;

use pauselens::{Fixture, Tracer, in_order, trace};
use swap::Swap;
use tracer::{
    demo::target::stats::{PauseStats, Stats},
    report::model::{ByKind, Ended, Kind, Pause, Report, State},
};

/// The function that touches the pages of a kind, by the fixture's name of the kind. The kernel touches those of
/// `kernel` inside the C library's `read`, which keeps no frame: its caller is not in the stack.
const TOUCHED_BY: [(&str, &str); 12] = [
    ("first-touch", "demo_touch_fresh_pages"),
    ("zero-page-read", "demo_read_fresh_pages"),
    ("cow-file", "demo_write_private_file_pages"),
    ("cow-fork", "demo_write_pages_shared_with_child"),
    ("cow-zero", "demo_write_over_zero_pages"),
    ("file-map", "demo_read_cached_file_pages"),
    ("file-read", "demo_read_cold_file_pages"),
    ("shared-memory", "demo_touch_shared_memory"),
    ("kernel", "read"),
    ("signal", "demo_read_protected_pages"),
    ("swap", "demo_read_swapped_pages"),
    ("userfault", "demo_read_delayed_pages"),
];

/// Longer than the two clock readings and the traps around a pause take.
const AROUND_A_PAUSE_NS: u64 = 100_000;

fn with(options: &[&str]) -> (Stats, Report) {
    let always = ["--rounds", "4", "--gap", "0ms", "--userfault-delay", "1ms"];
    let (stats, traced) = trace(&[&always, options].concat(), &["--all"]);
    let report = traced.complete();
    agree(&stats, &report);
    (stats, report)
}

fn agree(stats: &Stats, report: &Report) {
    assert_eq!(stats.left_out, [] as [&str; 0]);
    assert_eq!(report.trace.ended, Ended::TargetExited);
    let pauses = in_order(report);
    assert_eq!(pauses.len() as u64, stats.total_pauses);
    for (made, seen) in stats.pauses.iter().zip(&pauses) {
        one_agrees(made, seen);
    }
    lengths_agree(stats, &pauses);
    sums_agree(report, &pauses);
}

fn one_agrees(made: &PauseStats, seen: &Pause) {
    assert_eq!((seen.state, seen.reason.as_str()), (State::Complete, made.reason_name.as_str()));
    assert_eq!(counts(&seen.by_kind), expected(made), "pause {}", made.number);
    if let Some(counted) = made.counted.get("swap") {
        let count = |kind| seen.by_kind.get(&kind).map_or(0, |total| total.count);
        assert_eq!((count(Kind::SwapIn), count(Kind::SwapCache)), (counted.majflt, counted.minflt));
    }
    assert_eq!(seen.minor + made.populated, made.minflt.unwrap(), "pause {}", made.number);
    assert_eq!(seen.major, made.majflt.unwrap(), "pause {}", made.number);
    assert_eq!(seen.faults, counts(&seen.by_kind).values().sum::<u64>());
    assert_eq!(seen.in_faults_ns, seen.by_kind.values().map(|total| total.ns).sum::<u64>());
    assert!(seen.in_faults_ns <= seen.duration_ns.unwrap(), "{seen:?}");
    assert_eq!(seen.explained_by_faults_ns, seen.in_faults_ns, "no other thread faults");
    assert_eq!((seen.bystanders.faults, seen.stopping_faults.len()), (0, 0));
    stacks_agree(made, seen);
}

fn stacks_agree(made: &PauseStats, seen: &Pause) {
    assert_eq!(seen.stacks.iter().map(|stack| stack.faults).sum::<u64>(), seen.faults);
    assert_eq!(seen.stacks.iter().map(|stack| stack.ns).sum::<u64>(), seen.in_faults_ns);
    let mut by_kind = ByKind::new();
    for (kind, total) in seen.stacks.iter().flat_map(|stack| &stack.by_kind) {
        let sum = by_kind.entry(*kind).or_default();
        sum.count += total.count;
        sum.ns += total.ns;
        sum.inferred += total.inferred;
    }
    assert_eq!(by_kind, seen.by_kind, "the stacks together are the pause");
    for (kind, pages) in made.touched.iter().filter(|(kind, _)| *kind != "populate") {
        let (_, function) = TOUCHED_BY.iter().find(|(touched, _)| touched == kind).unwrap();
        let named = |frame: &String| frame.rsplit("::").next() == Some(*function);
        let through = seen.stacks.iter().filter(|stack| stack.frames.first().is_some_and(named));
        assert_eq!(through.map(|stack| stack.faults).sum::<u64>(), *pages, "{function}: {:?}", seen.stacks);
    }
}

/// The fixture measures from outside. Whenever it loses the processor between its reading of the clock and the probe
/// its time is longer, so only one pause in four has to be close; a length that is always wrong is so in none.
fn lengths_agree(stats: &Stats, pauses: &[&Pause]) {
    let lengths: Vec<_> = stats
        .pauses
        .iter()
        .zip(pauses)
        .map(|(made, seen)| (made.duration_ns.unwrap(), seen.duration_ns.unwrap()))
        .collect();
    assert!(lengths.iter().all(|(outside, inside)| inside <= outside), "{lengths:?}");
    let close = |(outside, inside): &&(u64, u64)| outside - inside <= AROUND_A_PAUSE_NS.max(outside / 20);
    assert!(lengths.iter().filter(close).count() * 4 >= lengths.len(), "{lengths:?}");
}

fn sums_agree(report: &Report, pauses: &[&Pause]) {
    let sum = |of: fn(&Pause) -> u64| pauses.iter().map(|pause| of(pause)).sum::<u64>();
    let summary = &report.summary;
    assert_eq!((summary.pauses, summary.records_lost), (pauses.len() as u64, 0));
    assert_eq!(summary.by_state, BTreeMap::from([(State::Complete, summary.pauses)]));
    assert_eq!(summary.faults, sum(|pause| pause.faults));
    assert_eq!((summary.major, summary.minor), (sum(|pause| pause.major), sum(|pause| pause.minor)));
    assert_eq!(summary.in_faults_ns, sum(|pause| pause.in_faults_ns));
    assert_eq!(summary.paused_ns, sum(|pause| pause.duration_ns.unwrap()));
    assert_eq!(summary.worst_ns, pauses.iter().filter_map(|pause| pause.duration_ns).max());
}

/// In the fixture's words.
fn counts(by_kind: &ByKind) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (kind, total) in by_kind {
        let word = match kind {
            Kind::SwapIn | Kind::SwapCache => "swap",
            kind => kind.word(),
        };
        *counts.entry(word.to_owned()).or_insert(0) += total.count;
    }
    counts
}

/// With the page in which the kernel steps probed instructions: it comes with the first pause that is traced.
fn expected(made: &PauseStats) -> BTreeMap<String, u64> {
    let mut expected = made.expected.clone();
    match made.probe_page_faults.unwrap() {
        0 => {}
        pages => *expected.entry("other".to_owned()).or_insert(0) += pages,
    }
    expected
}

/// All faults of a kind are inferred, or none.
fn inferred(report: &Report, kind: Kind, all: bool) {
    let total = report.summary.by_kind[&kind];
    assert_eq!(total.inferred, if all { total.count } else { 0 }, "{kind:?}");
}

/// Without a swap area nothing can be swapped out. Says why there is none, and makes sure that there is none.
fn swap_area() -> Option<Swap> {
    Swap::on()
        .inspect_err(|reason| {
            assert!(!swap::is_on(), "a swap area is on, but: {reason}");
            eprintln!("not tested here: {reason}");
        })
        .ok()
}

#[test]
fn first_touch_by_writing() {
    inferred(&with(&["--first-touch", "211"]).1, Kind::FirstTouch, false);
}

#[test]
fn first_touch_by_reading() {
    inferred(&with(&["--zero-page-read", "89"]).1, Kind::FirstTouch, true);
}

#[test]
fn copy_on_write_of_a_private_file_page() {
    with(&["--cow-file", "73"]);
}

#[test]
fn copy_on_write_after_a_fork() {
    with(&["--cow-fork", "103"]);
}

#[test]
fn copy_on_write_of_the_zero_page() {
    with(&["--cow-zero", "47"]);
}

#[test]
fn file_pages_in_memory() {
    inferred(&with(&["--file-map", "101"]).1, Kind::FileMap, false);
}

#[test]
fn file_pages_on_disk() {
    inferred(&with(&["--file-read", "97"]).1, Kind::FileRead, false);
}

#[test]
fn shared_memory() {
    with(&["--shared-memory", "83"]);
}

#[test]
fn the_kernel_s_own_accesses() {
    with(&["--kernel", "79"]);
}

#[test]
fn faults_that_end_in_a_signal() {
    let (_, report) = with(&["--signal", "71"]);
    let page_of_the_probes = 1;
    assert_eq!(report.summary.major + report.summary.minor, page_of_the_probes, "signals are neither");
}

#[test]
fn swapped_out_pages() {
    let Some(_swap) = swap_area() else { return };
    let (stats, report) = with(&["--swap", "67"]);
    inferred(&report, Kind::SwapIn, false);
    let majors: u64 = stats.pauses.iter().map(|pause| pause.majflt.unwrap()).sum();
    assert!(majors > 0, "some pages had left the swap cache");
}

#[test]
fn userfaults() {
    inferred(&with(&["--userfault", "5"]).1, Kind::Userfault, false);
}

#[test]
fn populated_pages_are_no_faults() {
    let (stats, _) = with(&["--populate", "61", "--first-touch", "11"]);
    assert!(stats.pauses.iter().all(|pause| pause.populated == 61));
}

/// Mappings come and go all the time here, often at the same addresses.
#[test]
fn everything_mixed() {
    let Some(_swap) = swap_area() else { return };
    let (stats, report) = with(&[]);
    let kinds: Vec<_> = stats.pauses.iter().flat_map(|pause| pause.touched.keys()).collect();
    assert!(TOUCHED_BY.iter().all(|(kind, _)| kinds.iter().any(|touched| touched == kind)), "{kinds:?}");
    assert_eq!((report.summary.collections, report.summary.other_stops), (0, stats.total_pauses));
}

#[test]
fn bystanders_belong_to_no_driver() {
    let (stats, traced) = trace(&["--first-touch", "4001", "--threads", "2", "--rounds", "5"], &["--all"]);
    let report = traced.complete();
    for (made, seen) in stats.pauses.iter().zip(in_order(&report)) {
        assert_eq!(counts(&seen.by_kind), expected(made));
        assert!(!stats.bystanders.iter().any(|thread| thread.tid == seen.driver_tid));
        assert!(seen.explained_by_faults_ns >= seen.in_faults_ns);
        assert!(seen.explained_by_faults_ns <= seen.duration_ns.unwrap());
    }
    let bystanders = &report.summary.bystanders;
    assert!(bystanders.faults > 0 && bystanders.faults == bystanders.minor, "{bystanders:?}");
}

/// The target lives on, with faults in pauses and outside them, on several threads.
#[test]
fn nothing_is_left_over() {
    let options = ["--first-touch", "211", "--kernel", "79", "--cow-fork", "53", "--threads", "1"];
    let mut fixture = Fixture::start(&[&options[..], &["--rounds", "1000000", "--gap", "1ms"]].concat());
    let tracer = Tracer::attach(fixture.pid, &["--duration", "500ms"]);
    fixture.go();
    let report = tracer.finish().complete();
    assert_eq!(report.trace.ended, Ended::Duration);
    assert!(report.summary.pauses > 0, "the fixture was running");
    let whole = report.trace.reconciliation;
    assert!(whole.kernel_minor_least.unwrap() > report.summary.faults, "faults outside pauses as well");
    assert_eq!(whole.left_over, Some(0), "{whole:?}");
    let driver: Vec<_> = report.trace.threads.iter().filter(|thread| thread.drove > 0).collect();
    assert_eq!(driver.len(), 1);
    assert!(report.trace.threads.iter().all(|thread| thread.counts.left_over == Some(0)));
}

#[test]
fn populated_pages_are_left_over() {
    // With the spare page that the fixture tries it on.
    const PAGES: i64 = 61 + 1;
    let options = ["--populate", "61", "--first-touch", "11", "--rounds", "1", "--gap", "0ms"];
    // The burst keeps it alive: its pauses are empty.
    let burst = ["--burst", "1000000000", "--pauses-per-second", "100"];
    let mut fixture = Fixture::start(&[&options[..], &burst].concat());
    let tracer = Tracer::attach(fixture.pid, &["--duration", "1s"]);
    fixture.go();
    let report = tracer.finish().complete();
    let reasons = &report.summary.by_reason;
    assert_eq!(reasons.get("demo: mixed"), Some(&1), "the pause was traced: {reasons:?}");
    assert!(reasons.contains_key("demo: nothing"), "the burst had begun: {reasons:?}");
    assert_eq!(report.trace.reconciliation.left_over, Some(PAGES));
    let driver = report.trace.threads.iter().find(|thread| thread.drove > 0).unwrap();
    assert_eq!((driver.tid, driver.counts.left_over), (fixture.pid, Some(PAGES)));
}
