//! Pauses in quick succession, thousands a second: nothing is lost without being counted, and memory stays bounded.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pauselens.rs"]
mod pauselens;

use pauselens::{Fixture, Tracer, trace};
use tracer::report::model::{Report, State};

const PEAK_BYTES: u64 = 64 << 20;

fn all_are_accounted_for(report: &Report, pauses: u64) {
    let summary = &report.summary;
    assert_eq!(summary.pauses, pauses);
    let seen = summary.by_state.get(&State::Complete).copied().unwrap_or(0);
    assert_eq!(seen + summary.records_lost, pauses, "{:?}", summary.by_state);
    assert_eq!(summary.by_state.len(), 1, "{:?}", summary.by_state);
    assert_eq!(report.trace.dropped["pause_ring_full"], summary.records_lost);
    assert_eq!(summary.by_reason.values().sum::<u64>(), seen);

    let quantiles = [summary.median_ns, summary.p90_ns, summary.p99_ns, summary.worst_ns];
    assert!(quantiles.iter().all(Option::is_some) && quantiles.is_sorted(), "{quantiles:?}");
    assert!(summary.median_ns.unwrap() > 0);
    let bytes = report.trace.overhead.tracer_peak_bytes.unwrap();
    assert!(bytes < PEAK_BYTES, "{bytes} bytes");
}

#[test]
fn a_burst_is_counted_whole() {
    const PAUSES: u64 = 50_000;
    let (stats, traced) = trace(&["--burst", "50000"], &[]);
    let report = traced.report();
    let burst = stats.burst.unwrap();
    println!("{:.0} pauses a second", PAUSES as f64 / (burst.elapsed_ns as f64 / 1e9));
    all_are_accounted_for(&report, PAUSES);

    let summary = &report.summary;
    assert!(summary.paused_ns <= burst.sum_ns, "{} of {}", summary.paused_ns, burst.sum_ns);
    assert!(summary.worst_ns.unwrap() <= burst.max_ns && summary.quantiles_exact);
    assert_eq!(report.pauses.len(), 5, "the worst ones, however many there are");
    assert_eq!(report.pauses[0].duration_ns, summary.worst_ns);
    // A reader that is held up for long may lose some.
    let complete = summary.records_lost == 0;
    assert_eq!((report.trace.complete, traced.status), (complete, if complete { 0 } else { 3 }));
}

/// The reader is held up for the whole burst, which is more than its buffer holds.
#[test]
fn what_a_slow_reader_loses_is_counted() {
    const PAUSES: u64 = 20_000;
    let mut fixture = Fixture::start(&["--burst", "20000"]);
    let tracer = Tracer::attach(fixture.pid, &[]);
    tracer.stop();
    fixture.go();
    let burst = fixture.finish().burst.unwrap();
    tracer.go_on();
    let traced = tracer.finish();
    let report = traced.report();
    all_are_accounted_for(&report, PAUSES);

    let summary = &report.summary;
    assert!((1..PAUSES).contains(&summary.records_lost), "{}", summary.records_lost);
    // The sums come from the kernel side: they have the lost ones too.
    assert!((burst.sum_ns / 3..=burst.sum_ns).contains(&summary.paused_ns), "{}", summary.paused_ns);
    assert_eq!((traced.status, report.trace.complete), (3, false));
    let why = &report.trace.incomplete;
    assert!(
        why.iter().any(|why| why.replace(',', "").contains(&summary.records_lost.to_string())),
        "{why:?}"
    );
}
