//! Every rule speaks where its numbers are met, and is silent just below them.

use super::kinds::KIND_RULES;
use super::{
    blocked, compaction, cpu, diagnose, little_explained, on_cpu, parked, reclaim, several_kinds, slow_stop,
    stopping_fault, waited_for_workers,
};
use crate::report::fixtures::{self, add_faults, pause, sum_up};
use crate::report::model::{Diagnosis, Kind, Part, Pause, Report, State, StoppingFault};

const MS: u64 = 1_000_000;

/// A trace of one pause of 100 ms.
fn one(change: impl FnOnce(&mut Pause)) -> Report {
    let mut report = fixtures::empty();
    let mut pause = pause(1, "GC mark termination", 0, 100 * MS);
    change(&mut pause);
    report.pauses.push(pause);
    sum_up(&mut report);
    report
}

fn rules(report: &Report) -> Vec<String> {
    diagnose(report).into_iter().map(|diagnosis| diagnosis.rule).collect()
}

fn said(report: &Report, rule: &str) -> Option<Diagnosis> {
    diagnose(report).into_iter().find(|diagnosis| diagnosis.rule == rule)
}

#[test]
fn the_story_is_told_in_one_sentence() {
    let diagnosis = diagnose(&fixtures::story());
    assert_eq!(
        diagnosis[0].finding,
        "97.8 % of the worst pause (39.0 of 39.9 ms) was spent reading 228 pages back from swap, mostly under \
         runtime.gcStart."
    );
    assert_eq!(diagnosis.len(), 1);
    assert!(diagnosis[0].remedies.iter().any(|remedy| remedy.contains("memory.swap.max=0")));
    assert!(diagnosis[0].remedies.iter().any(|remedy| remedy.contains("GOMEMLIMIT is no protection")));
}

#[test]
fn each_kind_speaks_from_a_fifth_of_the_worst_pause_on() {
    for rule in &KIND_RULES {
        let speaks = one(|pause| add_faults(pause, rule.kind, 10, 20 * MS, 0));
        let found = said(&speaks, rule.name).unwrap();
        assert!(
            found.finding.starts_with("20.0 % of the worst pause (20.0 of 100 ms) was spent "),
            "{found:?}"
        );
        assert!(!found.finding.contains("inferred"), "{found:?}");
        assert!(!found.remedies.is_empty());
        let silent = one(|pause| add_faults(pause, rule.kind, 10, 20 * MS - 1, 0));
        assert_eq!(rules(&silent), [little_explained::NAME], "{}", rule.name);
    }
}

#[test]
fn kinds_without_a_rule_get_no_remedy() {
    for kind in [Kind::Kernel, Kind::Other] {
        let report = one(|pause| add_faults(pause, kind, 10, 90 * MS, 0));
        assert_eq!(rules(&report), [several_kinds::NAME]);
        assert!(diagnose(&report)[0].remedies.is_empty());
    }
}

#[test]
fn each_kind_speaks_of_all_pauses_when_the_worst_is_another_matter() {
    for rule in &KIND_RULES {
        let mut report = one(|pause| add_faults(pause, rule.kind, 1, MS, 0));
        report.pauses.extend((2..=4).map(|id| {
            let mut next = pause(id, "GC mark termination", 0, 50 * MS);
            add_faults(&mut next, rule.kind, 10, 49 * MS, 0);
            next
        }));
        report.summary = Default::default();
        sum_up(&mut report);
        assert_eq!(rules(&report), [little_explained::NAME, rule.name]);
        let found = said(&report, rule.name).unwrap().finding;
        assert!(found.starts_with("59.2 % of all paused time (148 of 250 ms) was spent "), "{found}");
        assert!(found.ends_with(", though only 1.0 % of the worst pause."), "{found}");
    }
}

#[test]
fn an_inferred_kind_is_called_inferred() {
    let report = one(|pause| add_faults(pause, Kind::FirstTouch, 10, 90 * MS, 6));
    let found = said(&report, "first_touch_during_pause").unwrap();
    assert!(found.finding.contains("(the kind is inferred, not seen)"), "{found:?}");
    assert!(
        found.evidence.iter().any(|text| text.starts_with("the kind of 6 of them is inferred")),
        "{found:?}"
    );
}

#[test]
fn reclaim() {
    let speaks = one(|pause| {
        add_faults(pause, Kind::FirstTouch, 10, 60 * MS, 0);
        pause.reclaim_ns = 50 * MS;
    });
    assert_eq!(rules(&speaks), [reclaim::NAME, "first_touch_during_pause"]);
    let silent = one(|pause| {
        add_faults(pause, Kind::FirstTouch, 10, 60 * MS, 0);
        pause.reclaim_ns = 19 * MS;
    });
    assert_eq!(rules(&silent), ["first_touch_during_pause"]);
}

fn stopping(pause: &mut Pause, stopping_ns: u64, in_stopping_ns: u64) {
    pause.stopping_ns = Some(stopping_ns);
    pause.explained_by_faults_ns = in_stopping_ns;
    pause.stopping_faults.push(StoppingFault {
        tid: 77,
        kind: Kind::Userfault,
        before_request_ns: 10 * MS,
        full_ns: 50 * MS,
        in_stopping_ns,
        frames: vec!["main.work".to_owned()],
    });
}

#[test]
fn a_fault_that_kept_the_world_from_stopping() {
    let speaks = one(|pause| stopping(pause, 60 * MS, 55 * MS));
    assert_eq!(rules(&speaks), [stopping_fault::NAME]);
    let found = said(&speaks, stopping_fault::NAME).unwrap();
    assert_eq!(
        found.finding,
        "For 55.0 of 60.0 ms that the world took to stop in the worst pause, thread 77 was inside a page fault \
         (userfault): it could reach no safepoint meanwhile."
    );
    assert!(found.evidence.iter().any(|text| text.contains("50.0 ms in full, of which 10.0 ms had passed")));
    assert!(found.remedies.iter().any(|remedy| remedy.contains("UFFDIO_COPY")));

    let short_stopping = one(|pause| stopping(pause, 19 * MS, 19 * MS));
    let short_fault = one(|pause| stopping(pause, 60 * MS, 29 * MS));
    let unknown = one(|pause| {
        stopping(pause, 60 * MS, 55 * MS);
        pause.stopping_ns = None;
    });
    for silent in [short_stopping, short_fault, unknown] {
        assert!(said(&silent, stopping_fault::NAME).is_none());
    }
}

#[test]
fn a_slow_stop_that_faults_do_not_explain() {
    let speaks = one(|pause| stopping(pause, 60 * MS, 10 * MS));
    assert_eq!(rules(&speaks), [slow_stop::NAME]);
    assert_eq!(
        diagnose(&speaks)[0].finding,
        "The world took 60.0 of 100 ms to stop in the worst pause, and page faults explain at most 10.0 ms of that."
    );
    for silent in
        [one(|pause| stopping(pause, 49 * MS, 10 * MS)), one(|pause| stopping(pause, 60 * MS, 31 * MS))]
    {
        assert!(said(&silent, slow_stop::NAME).is_none());
    }
}

#[test]
fn faults_that_explain_little() {
    let speaks = one(|pause| add_faults(pause, Kind::SwapIn, 10, 49 * MS, 0));
    // The larger part comes first: what is outside the faults.
    assert_eq!(rules(&speaks), [little_explained::NAME, "swap_in_during_pause"]);
    assert_eq!(
        diagnose(&speaks)[0].finding,
        "Page faults explain only 49.0 % of the worst pause (49.0 of 100 ms): look at CPU next."
    );
    let silent = one(|pause| add_faults(pause, Kind::SwapIn, 10, 50 * MS, 0));
    assert_eq!(rules(&silent), ["swap_in_during_pause"]);
    let none = one(|_| ());
    assert_eq!(
        diagnose(&none)[0].finding,
        "Page faults explain nothing of the worst pause (100 ms): look at CPU next."
    );
}

#[test]
fn faults_of_several_kinds() {
    let kinds = [Kind::SwapIn, Kind::FileRead, Kind::FirstTouch, Kind::CopyOnWrite];
    let speaks = one(|pause| kinds.iter().for_each(|&kind| add_faults(pause, kind, 1, 19 * MS, 0)));
    assert_eq!(rules(&speaks), [several_kinds::NAME]);
    assert!(diagnose(&speaks)[0].remedies.is_empty());
    let silent = one(|pause| kinds.iter().for_each(|&kind| add_faults(pause, kind, 1, 20 * MS, 0)));
    assert!(said(&silent, several_kinds::NAME).is_none());
}

#[test]
fn nothing_is_said_of_pauses_not_seen_whole() {
    assert!(diagnose(&fixtures::no_pauses()).is_empty());
    assert!(diagnose(&fixtures::partial()).is_empty());
    for state in [State::OpenAtAttach, State::CutOff, State::TargetExited, State::EndMissed] {
        let report = one(|pause| {
            add_faults(pause, Kind::SwapIn, 10, 90 * MS, 0);
            pause.state = state;
        });
        assert!(diagnose(&report).is_empty());
    }
}

#[test]
fn dropped_details_are_said_and_name_no_code_path() {
    let report = one(|pause| {
        add_faults(pause, Kind::SwapIn, 100, 90 * MS, 0);
        pause.fault_details = Part { of: 100, have: 10 };
        let total = pause.stacks[0].by_kind.get_mut(&Kind::SwapIn).unwrap();
        (total.count, total.ns) = (10, 9 * MS);
    });
    let found = said(&report, "swap_in_during_pause").unwrap();
    assert!(!found.finding.contains("mostly"), "{found:?}");
    assert!(found.evidence.iter().any(|text| text.starts_with("details were dropped: 10 of 100 faults")));
}

#[test]
fn advice_for_go_is_for_go() {
    let mut report = one(|pause| add_faults(pause, Kind::SwapIn, 10, 90 * MS, 0));
    report.target.runtime.name = "pauselens-demo".to_owned();
    assert!(diagnose(&report)[0].remedies.iter().all(|remedy| !remedy.contains("GOMEMLIMIT")));
}

#[test]
fn names_of_rules_are_unique() {
    let mut names: Vec<&str> = KIND_RULES.iter().map(|rule| rule.name).collect();
    let others = [
        cpu::THROTTLED,
        cpu::BUSY,
        reclaim::NAME,
        compaction::NAME,
        stopping_fault::NAME,
        slow_stop::NAME,
        blocked::NAME,
        on_cpu::NAME,
        parked::NAME,
        waited_for_workers::NAME,
        little_explained::NAME,
        several_kinds::NAME,
    ];
    names.extend(others);
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    // Each one stands in the documentation.
    let document = include_str!("../../../../docs/json.md");
    for name in names {
        assert!(document.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn any_report_can_be_judged() {
    for seed in 1..200 {
        let report = fixtures::random(seed);
        for diagnosis in diagnose(&report) {
            assert!(!diagnosis.finding.is_empty() && !diagnosis.evidence.is_empty(), "{diagnosis:?}");
        }
    }
}
