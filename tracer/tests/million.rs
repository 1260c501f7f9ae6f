//! A million faults in one run, and how long it takes until the probes are in place.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pauselens.rs"]
mod pauselens;

use pauselens::{Fixture, Tracer, in_order, trace};
use tracer::report::model::Kind;

const PEAK_BYTES: u64 = 64 << 20;
const ATTACH_NS: u64 = 500_000_000;

#[test]
fn a_million_faults_in_little_memory() {
    /// 512 MiB of pages of 4 KiB, in each of 8 pauses.
    const PAGES: u64 = 131_072;
    let (stats, traced) = trace(&["--touch-mib", "512", "--rounds", "8", "--gap", "0ms"], &["--all"]);
    let report = traced.report();
    let page_of_the_probes: u64 = stats.pauses.iter().filter_map(|pause| pause.probe_page_faults).sum();
    for pause in in_order(&report) {
        assert_eq!(pause.by_kind[&Kind::FirstTouch].count, PAGES);
        assert!(pause.in_faults_ns <= pause.duration_ns.unwrap());
    }
    let summary = &report.summary;
    assert_eq!((summary.pauses, summary.records_lost), (8, 0));
    assert_eq!(summary.by_kind[&Kind::FirstTouch].count, 8 * PAGES);
    assert_eq!((summary.faults, summary.major), (8 * PAGES + page_of_the_probes, 0));

    let (details, dropped) = (report.trace.fault_details, report.trace.dropped["fault_ring_full"]);
    assert_eq!((details.of, details.have + dropped), (summary.faults, summary.faults));
    // A reader that is held up for long may drop some.
    assert_eq!(traced.status, if dropped == 0 { 0 } else { 3 });
    let bytes = report.trace.overhead.tracer_peak_bytes.unwrap();
    assert!(bytes < PEAK_BYTES, "{bytes} bytes");
}

/// The quickest of a few, and ahead of other programs: what a busy machine adds is not pauselens's.
#[test]
fn attaching_takes_less_than_half_a_second() {
    let fixture = Fixture::start(&["--rounds", "0"]);
    // Of this thread, and of what it starts.
    rustix::process::setpriority_process(None, -20).unwrap();
    let attach_ns = || {
        let tracer = Tracer::attach(fixture.pid, &[]);
        tracer.interrupt();
        tracer.finish().complete().trace.overhead.attach_ns.unwrap()
    };
    let times: Vec<_> = (0..3).map(|_| attach_ns()).collect();
    println!("{times:?} ns");
    assert!(times.iter().all(|ns| *ns > 0));
    assert!(times.iter().any(|ns| *ns < ATTACH_NS), "{times:?} ns");
    fixture.finish();
}
