//! Sums against the summary, with and without gaps.

use super::*;
use crate::report::{
    fixtures,
    model::{ByKind, Report},
};

fn by_kind(of: &OfProcess) -> ByKind {
    let mut sums = ByKind::new();
    for (sample, total) in &of.samples {
        let sum = sums.entry(sample.kind.expect("all kinds are known here")).or_default();
        sum.count += total.count;
        sum.ns += total.ns;
        sum.inferred += if sample.kind_inferred { total.count } else { 0 };
    }
    sums
}

fn expect_equal(of: &OfProcess, report: &Report) {
    let summary = &report.summary;
    assert_eq!(of.total(), Total { count: summary.faults, ns: summary.in_faults_ns });
}

#[test]
fn sums_are_those_of_the_summary_for_each_process() {
    let reports = [fixtures::story(), fixtures::no_pauses(), fixtures::throttled()];
    let (_file, recording) = fixtures::recorded(&reports);
    let samples = Samples::collect(&recording).unwrap();
    assert_eq!(samples.processes.len(), 3);
    for (of, report) in samples.processes.iter().zip(&reports) {
        expect_equal(of, report);
        assert_eq!(by_kind(of), report.summary.by_kind);
        assert_eq!(of.without_details(), Total::default());
    }
    assert_eq!(samples.total().count, reports[0].summary.faults);
    let story = &samples.processes[0];
    let reasons: Vec<_> = story.samples.keys().map(|sample| story.reason(sample).unwrap()).collect();
    assert_eq!(reasons, ["GC sweep termination", "GC sweep termination", "GC mark termination"]);
    let frames = story.samples.keys().next().unwrap().frames(story, recording.process(1).unwrap());
    assert_eq!(frames[0].name, "runtime.(*spanSet).push");
}

#[test]
fn what_has_no_details_is_a_remainder_of_known_kind_and_reason() {
    let mut report = fixtures::story();
    // 11 of the worst pause's faults have no line.
    report.pauses[0].stacks.truncate(1);
    let (_file, recording) = fixtures::recorded(&[report.clone()]);
    let of = &Samples::collect(&recording).unwrap().processes[0];
    expect_equal(of, &report);
    assert_eq!(by_kind(of), report.summary.by_kind);
    assert_eq!(of.without_details(), Total { count: 11, ns: 1_893_000 });
    let (sample, _) = of.samples.iter().find(|(sample, _)| sample.path == Path::Missing).unwrap();
    assert_eq!((sample.kind, of.reason(sample)), (Some(Kind::SwapIn), Some("GC sweep termination")));
    assert_eq!(sample.frames(of, recording.process(1).unwrap())[0].name, DETAILS_DROPPED);
}

#[test]
fn what_has_no_pause_is_a_remainder_of_unknown_kind() {
    let mut report = fixtures::story();
    report.summary.faults += 5;
    report.summary.in_faults_ns += 70;
    let (_file, recording) = fixtures::recorded(&[report.clone()]);
    let of = &Samples::collect(&recording).unwrap().processes[0];
    expect_equal(of, &report);
    let without: Vec<_> = of.samples.iter().filter(|(sample, _)| sample.path == Path::Missing).collect();
    let unknown = Sample {
        path: Path::Missing,
        kind: None,
        kind_inferred: false,
        region: Region::Unknown,
        region_inferred: false,
        reason: None,
    };
    assert_eq!(without, [(&unknown, &Total { count: 5, ns: 70 })]);
}

#[test]
fn faults_of_incomplete_pauses_and_of_other_threads_are_left_out() {
    let mut report = fixtures::story();
    let cut = &mut report.pauses[1];
    (cut.state, cut.resumed_ns, cut.duration_ns) = (State::CutOff, None, None);
    report.summary = crate::report::model::Summary::default();
    fixtures::sum_up(&mut report);
    let mut recorder = fixtures::Recorder::new();
    let mut other = Fault {
        process: 1,
        pause: 812,
        tid: 1,
        role: Role::Worker,
        kind: Kind::Other,
        inferred: false,
        major: false,
        begin_ns: 0,
        ns: 1,
        full_ns: None,
        blocked_ns: None,
        reclaim_ns: None,
        address: "0x0".to_owned(),
        region: Region::Unknown,
        what: String::new(),
        place_inferred: false,
        stack: 1,
    };
    recorder.line(crate::recording::Line::Fault(other.clone()));
    // A driver's, in a window that has no line.
    (other.role, other.pause) = (Role::Driver, 999);
    recorder.line(crate::recording::Line::Fault(other));
    recorder.process(1, &report);
    let (_file, recording) = recorder.finish();
    let of = &Samples::collect(&recording).unwrap().processes[0];
    expect_equal(of, &report);
    assert_eq!(of.total().count, 228);
    assert!(of.samples.keys().all(|sample| sample.kind == Some(Kind::SwapIn)));
}

#[test]
fn with_a_limit_of_size_pauses_without_lines_tell_their_code_paths() {
    let report = fixtures::story();
    let mut recorder = fixtures::Recorder::new();
    recorder.limited();
    recorder.process(1, &report);
    let (_file, recording) = recorder.finish();
    let of = &Samples::collect(&recording).unwrap().processes[0];
    expect_equal(of, &report);
    assert_eq!(by_kind(of), report.summary.by_kind);
    assert_eq!(of.without_details(), Total::default());
    assert!(of.samples.keys().all(|sample| matches!(sample.path, Path::Told(_))), "{of:?}");
    let (sample, _) = of.samples.iter().max_by_key(|(_, total)| total.ns).unwrap();
    assert_eq!(sample.frames(of, recording.process(1).unwrap())[0].name, "runtime.(*spanSet).push");
}
