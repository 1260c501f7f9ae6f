//! Pauses of which only a part was seen: open when the trace begins, open when it ends, ended by the target's end. Each
//! is shown with its state, and none is paired with its neighbour.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pauselens.rs"]
mod pauselens;

use std::collections::BTreeMap;

use pauselens::{Fixture, Tracer, in_order, trace};
use tracer::report::model::{Ended, Kind, Pause, Report, State};

/// A prime number, so that it is no sum of anything else here. A held pause touches so many before it waits, and as
/// many again after that.
const PAGES: u64 = 53;
const TOUCH: [&str; 4] = ["--first-touch", "53", "--gap", "1ms"];

fn states(report: &Report) -> Vec<State> {
    in_order(report).iter().map(|pause| pause.state).collect()
}

fn touched(pause: &Pause) -> u64 {
    pause.by_kind.get(&Kind::FirstTouch).map_or(0, |total| total.count)
}

/// The complete ones are whole, with nothing of their neighbours in them.
fn complete_ones_are_whole(report: &Report, how_many: u64) {
    let complete: Vec<_> = report.pauses.iter().filter(|pause| pause.state == State::Complete).collect();
    assert_eq!((complete.len() as u64, report.summary.pauses), (how_many, how_many));
    for pause in &complete {
        let marks = [pause.requested_ns, pause.stopped_ns, pause.restarting_ns, pause.resumed_ns];
        assert!(marks.iter().all(Option::is_some) && marks.is_sorted(), "{pause:?}");
        assert_eq!(touched(pause), PAGES);
    }
    let paused_ns = complete.iter().map(|pause| pause.duration_ns.unwrap()).sum::<u64>();
    assert_eq!(report.summary.paused_ns, paused_ns);
    assert_eq!(report.summary.faults, complete.iter().map(|pause| pause.faults).sum::<u64>());
    assert_eq!(report.summary.by_reason.values().sum::<u64>(), how_many);
}

#[test]
fn open_when_the_trace_begins() {
    let mut fixture = Fixture::start_at_once(&[&TOUCH[..], &["--hold-open", "--rounds", "2"]].concat());
    fixture.wait_until_held();
    let tracer = Tracer::attach(fixture.pid, &["--all"]);
    fixture.go();
    let stats = fixture.finish();
    let report = tracer.finish().complete();

    assert_eq!(states(&report), [State::OpenAtAttach, State::Complete, State::Complete]);
    let open = in_order(&report)[0];
    assert_eq!(
        (open.requested_ns, open.stopped_ns, open.duration_ns, open.stopping_ns),
        (None, None, None, None)
    );
    assert!(open.restarting_ns.unwrap() > 0 && open.resumed_ns >= open.restarting_ns);
    assert_eq!(open.driver_tid, stats.tid);
    assert_eq!(open.is_gc, Some(false));
    assert!(open.reason.contains("unknown"), "{}", open.reason);
    assert_eq!(report.summary.by_state, BTreeMap::from([(State::OpenAtAttach, 1), (State::Complete, 2)]));
    complete_ones_are_whole(&report, 2);
}

#[test]
fn cut_off_by_the_end_of_the_trace() {
    let mut fixture = Fixture::start(&[&TOUCH[..], &["--hold-open", "--rounds", "1"]].concat());
    let tracer = Tracer::attach(fixture.pid, &["--all", "--duration", "1s"]);
    fixture.go();
    fixture.wait_until_held();
    let report = tracer.finish().complete();
    let stats = fixture.finish();

    assert_eq!((states(&report), report.trace.ended), (vec![State::CutOff], Ended::Duration));
    let cut = &report.pauses[0];
    assert!(cut.requested_ns.unwrap() > 0 && cut.stopped_ns >= cut.requested_ns, "{cut:?}");
    assert_eq!((cut.restarting_ns, cut.resumed_ns, cut.duration_ns), (None, None, None));
    assert!(cut.stopping_ns.is_some());
    assert_eq!((touched(cut), cut.driver_tid), (PAGES, stats.tid), "the faults before the cut are there");
    assert_eq!(cut.reason, "demo: first touch");
    assert!(cut.stacks.iter().any(|stack| stack.frames[0].ends_with("::demo_touch_fresh_pages")));
    assert_eq!(report.summary.by_state, BTreeMap::from([(State::CutOff, 1)]));
    complete_ones_are_whole(&report, 0);
    assert_eq!((report.summary.median_ns, report.summary.worst_ns), (None, None));
    assert_eq!(stats.total_pauses, 2, "the target went on");
}

/// The same pause, cut off by whoever stops the trace.
#[test]
fn cut_off_by_an_interrupt() {
    let mut fixture = Fixture::start(&[&TOUCH[..], &["--hold-open", "--rounds", "1"]].concat());
    let tracer = Tracer::attach(fixture.pid, &["--all", "--duration", "10m"]);
    fixture.go();
    fixture.wait_until_held();
    tracer.interrupt();
    let report = tracer.finish().complete();
    fixture.finish();
    assert_eq!((states(&report), report.trace.ended), (vec![State::CutOff], Ended::Interrupted));
    assert_eq!(touched(&report.pauses[0]), PAGES);
}

fn ended_inside(options: &[&str]) -> (i32, Report) {
    let (stats, traced) = trace(&[&TOUCH[..], &["--rounds", "2", "--exit-inside"]].concat(), options);
    let report = traced.report();
    assert!(stats.pauses.last().unwrap().ends_process);
    assert_eq!(report.trace.ended, Ended::TargetExited);
    assert_eq!(states(&report), [State::Complete, State::Complete, State::TargetExited]);
    let last = in_order(&report)[2];
    assert!(last.requested_ns.is_some() && last.stopped_ns >= last.requested_ns, "{last:?}");
    assert_eq!((last.restarting_ns, last.resumed_ns, last.duration_ns), (None, None, None));
    assert_eq!((touched(last), last.driver_tid), (PAGES, stats.tid));
    assert_eq!(report.summary.by_state, BTreeMap::from([(State::Complete, 2), (State::TargetExited, 1)]));
    complete_ones_are_whole(&report, 2);
    (traced.status, report)
}

#[test]
fn ended_by_the_target_s_end() {
    let (status, report) = ended_inside(&["--all"]);
    assert_eq!((status, report.trace.complete), (0, true), "{:?}", report.trace.incomplete);
}

#[test]
fn a_target_that_ends_too_early_makes_the_result_incomplete() {
    let (status, report) = ended_inside(&["--all", "--duration", "10m"]);
    assert_eq!((status, report.trace.complete), (3, false));
    let why = &report.trace.incomplete;
    assert!(why.iter().any(|why| why.contains("ended after")), "{why:?}");
}
