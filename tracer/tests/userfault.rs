//! Faults of known length: a userfaultfd handler answers them after a set delay, which it measures itself. And such a
//! fault on another thread, which keeps the world from stopping.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pauselens.rs"]
mod pauselens;

use pauselens::{in_order, trace};
use tracer::{
    demo::target::stats::PauseStats,
    report::model::{Kind, Pause, StoppingFault},
};

/// The handler begins to measure after the fault has begun, and has measured before the thread goes on: what the
/// scheduler takes for both wake-ups is in no delay.
const WAKE_UPS_NS: u64 = 100_000;

/// How far a time may be from what the fixture measured.
fn slack(measured_ns: u64) -> u64 {
    measured_ns / 20 + WAKE_UPS_NS
}

/// Times in the report and what the fixture measured. On a busy machine a wake-up can take long, so only one pause in
/// five has to be close; a time that is always wrong is so in none.
fn some_are_close(pauses: &[(PauseStats, Pause)], times: impl Fn(&PauseStats, &Pause) -> Vec<(u64, u64)>) {
    let all: Vec<_> = pauses.iter().map(|(made, seen)| times(made, seen)).collect();
    let close = |(seen_ns, measured_ns): &(u64, u64)| seen_ns.abs_diff(*measured_ns) <= slack(*measured_ns);
    let count = all.iter().filter(|times| times.iter().all(close)).count();
    assert!(count * 5 >= all.len(), "only {count} of {} are close: {all:?}", all.len());
}

fn traced(options: &[&str]) -> Vec<(PauseStats, Pause)> {
    let (stats, traced) = trace(options, &["--all"]);
    let report = traced.complete();
    assert_eq!(report.summary.pauses, stats.total_pauses);
    stats.pauses.into_iter().zip(in_order(&report).into_iter().cloned()).collect()
}

fn delays_are_seen(delay: &str, rounds: &str) {
    const FAULTS: u64 = 4;
    let pauses =
        traced(&["--userfault", "4", "--userfault-delay", delay, "--rounds", rounds, "--gap", "1ms"]);
    for (made, seen) in &pauses {
        let (delays, faults) = (made.userfault_delay.unwrap(), seen.by_kind[&Kind::Userfault]);
        assert_eq!((delays.count, faults.count, faults.inferred), (FAULTS, FAULTS, 0));
        assert!(faults.ns >= delays.sum_ns, "{} shorter than {}", faults.ns, delays.sum_ns);
        let longest = seen.longest_fault.as_ref().unwrap();
        assert_eq!(longest.kind, Kind::Userfault);
        assert!(longest.ns >= delays.max_ns, "{} shorter than {}", longest.ns, delays.max_ns);
        assert!(longest.ns <= faults.ns - (FAULTS - 1) * delays.min_ns, "the others took their time too");
        assert!(seen.in_faults_ns <= seen.duration_ns.unwrap());
    }
    some_are_close(&pauses, |made, seen| {
        let (delays, faults) = (made.userfault_delay.unwrap(), seen.by_kind[&Kind::Userfault]);
        let longest_ns = seen.longest_fault.as_ref().unwrap().ns;
        vec![(faults.ns / FAULTS, delays.mean_ns), (longest_ns, delays.max_ns)]
    });
}

#[test]
fn one_millisecond() {
    delays_are_seen("1ms", "20");
}

#[test]
fn ten_milliseconds() {
    delays_are_seen("10ms", "6");
}

#[test]
fn fifty_milliseconds() {
    delays_are_seen("50ms", "3");
}

/// Requested when the mutator has been in its fault for 10 ms, stopped when the fault is over.
#[test]
fn a_mutator_s_fault_delays_the_stop() {
    let options = ["--mutator-userfault-delay", "50ms", "--mutator-lead", "10ms", "--rounds", "6"];
    let pauses = traced(&options);
    for (made, seen) in &pauses {
        let (mutator, fault) = (made.mutator.unwrap(), only_stopping_fault(seen));
        assert_eq!((fault.tid, fault.kind), (mutator.tid, Kind::Userfault));
        assert_ne!(fault.tid, seen.driver_tid);
        assert!(fault.before_request_ns >= mutator.lead_ns, "{fault:?} {mutator:?}");
        assert!(fault.full_ns >= mutator.delay_ns, "{fault:?} {mutator:?}");
        assert_eq!(fault.before_request_ns + fault.in_stopping_ns, fault.full_ns, "over before the stop was");
        let stopping_ns = seen.stopping_ns.unwrap();
        assert!(fault.in_stopping_ns <= stopping_ns, "{fault:?}");
        assert!((fault.in_stopping_ns..=seen.duration_ns.unwrap()).contains(&seen.explained_by_faults_ns));
        assert!(fault.frames[0].ends_with("::demo_mutator_reads_delayed_page"), "{:?}", fault.frames);

        let others = &seen.bystanders;
        assert_eq!((others.faults, others.major + others.minor), (1, 1));
        assert_eq!(others.sum_ns, fault.in_stopping_ns, "clipped to the pause");
        let kind = others.by_kind[&Kind::Userfault];
        assert_eq!((kind.count, kind.ns, kind.inferred), (1, others.sum_ns, 0));
        assert_eq!(seen.faults, made.probe_page_faults.unwrap(), "the driver itself touches nothing");
    }
    some_are_close(&pauses, |made, seen| {
        let (mutator, fault) = (made.mutator.unwrap(), only_stopping_fault(seen));
        vec![
            (fault.before_request_ns, mutator.lead_ns),
            (fault.full_ns, mutator.delay_ns),
            (fault.in_stopping_ns, mutator.delay_ns - mutator.lead_ns),
        ]
    });
}

/// Over before the stop is requested: it belongs to no pause.
#[test]
fn a_fault_before_the_request_is_not_the_pause_s() {
    let pauses = traced(&[
        "--mutator-userfault-delay",
        "1ms",
        "--mutator-lead",
        "30ms",
        "--rounds",
        "3",
        "--gap",
        "1ms",
    ]);
    for (made, seen) in &pauses {
        let mutator = made.mutator.unwrap();
        assert!(mutator.delay_ns + 5_000_000 < mutator.lead_ns, "the fixture was held up: {mutator:?}");
        assert_eq!((seen.stopping_faults.len(), seen.bystanders.faults), (0, 0), "{seen:?}");
        assert_eq!(seen.explained_by_faults_ns, seen.in_faults_ns);
    }
}

fn only_stopping_fault(pause: &Pause) -> &StoppingFault {
    assert_eq!(pause.stopping_faults.len(), 1, "{pause:?}");
    &pause.stopping_faults[0]
}
