//! Too much for the kernel's buffers: totals stay exact, what was dropped is counted by cause, and the result says that
//! it is incomplete.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pauselens.rs"]
mod pauselens;

use pauselens::{Fixture, Tracer, trace};
use tracer::report::model::{Kind, Report};

/// 256 MiB of pages of 4 KiB.
const PAGES: u64 = 65_536;
const TOUCH: [&str; 6] = ["--touch-mib", "256", "--rounds", "1", "--gap", "0ms"];
const SMALL_RING: [&str; 2] = ["--ring-size", "64KiB"];

fn dropped(report: &Report, cause: &str) -> u64 {
    *report.trace.dropped.get(cause).unwrap_or_else(|| panic!("{cause} is not listed"))
}

#[test]
fn a_full_ring_costs_details_only() {
    let (stats, traced) = trace(&TOUCH, &SMALL_RING);
    let report = traced.report();
    let [pause] = &report.pauses[..] else { panic!("{} pauses", report.pauses.len()) };
    let page_of_the_probes = stats.pauses[0].probe_page_faults.unwrap();
    let faults = PAGES + page_of_the_probes;
    assert_eq!((pause.faults, pause.minor, pause.major), (faults, faults, 0));
    assert_eq!(pause.by_kind[&Kind::FirstTouch].count, PAGES);
    assert_eq!(report.summary.faults, faults);
    assert!(pause.in_faults_ns <= pause.duration_ns.unwrap());
    assert_eq!(pause.in_faults_ns, pause.by_kind.values().map(|total| total.ns).sum::<u64>());

    let lost = dropped(&report, "fault_ring_full");
    let details = pause.fault_details;
    assert!(lost > 0 && details.have > 0 && details.have < details.of, "{lost} dropped, {details:?}");
    assert_eq!((details.of, details.have + lost), (faults, faults));
    assert_eq!(report.trace.fault_details, details);
    assert_eq!(dropped(&report, "pause_ring_full"), 0);

    // What has lost its stack is there all the same.
    assert_eq!(pause.stacks.iter().map(|stack| stack.faults).sum::<u64>(), faults);
    assert_eq!(pause.stacks.iter().map(|stack| stack.ns).sum::<u64>(), pause.in_faults_ns);
    let without = pause.stacks.iter().find(|stack| stack.frames == ["[details dropped]"]).unwrap();
    assert_eq!(without.faults, lost);

    assert_eq!((traced.status, report.trace.complete), (3, false));
    let why = &report.trace.incomplete;
    assert!(why.iter().any(|why| why.contains(&lost.to_string()) && why.contains("--ring-size")), "{why:?}");
}

#[test]
fn the_text_says_that_it_is_incomplete() {
    let mut fixture = Fixture::start(&TOUCH);
    let tracer = Tracer::attach_as("text", fixture.pid, &SMALL_RING);
    fixture.go();
    fixture.finish();
    let traced = tracer.finish();
    assert_eq!(traced.status, 3);
    assert!(traced.text.contains("INCOMPLETE"), "{}", traced.text);
    assert!(!traced.text.contains('\x1b'), "no colours in a file: {}", traced.text);
}

#[test]
fn the_default_ring_drops_nothing_of_little() {
    let (stats, traced) = trace(&["--first-touch", "2048", "--rounds", "3"], &["--all"]);
    let report = traced.complete();
    let page_of_the_probes = stats.pauses.iter().filter_map(|pause| pause.probe_page_faults).sum::<u64>();
    assert_eq!(report.summary.faults, 3 * 2048 + page_of_the_probes);
    assert_eq!(report.trace.fault_details.have, report.summary.faults);
}

#[test]
fn a_full_thread_table_is_told() {
    // The driver and six others.
    let options = ["--first-touch", "101", "--threads", "6", "--rounds", "3"];
    let (_, traced) = trace(&options, &["--max-threads", "2"]);
    let report = traced.report();
    assert!(dropped(&report, "thread_table_full") > 0);
    assert_eq!((traced.status, report.trace.complete), (3, false));
    let why = &report.trace.incomplete;
    assert!(why.iter().any(|why| why.contains("--max-threads")), "{why:?}");
    assert_eq!(report.summary.pauses, 3, "the pauses are there all the same");

    let (_, traced) = trace(&options, &["--max-threads", "16"]);
    assert_eq!(dropped(&traced.complete(), "thread_table_full"), 0);
}
