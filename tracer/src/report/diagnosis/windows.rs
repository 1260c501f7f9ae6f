//! Tests: what the rules say of calls, of windows of the user's, and of pauses with workers.

use super::{blocked, cpu, diagnose, little_explained, on_cpu, parked, waited_for_workers};
use crate::report::fixtures::{self, add_faults, sum_up};
use crate::report::model::*;

const MS: u64 = 1_000_000;

/// The longest call of the fixture, with another budget: what is not said is on CPU.
fn call(change: impl FnOnce(&mut Pause, &mut Budget)) -> Report {
    let mut report = fixtures::calls();
    report.pauses.truncate(1);
    report.windows.short = None;
    report.summary = Summary { quantiles_exact: true, ..Summary::default() };
    let (call, mut budget) = (&mut report.pauses[0], Budget::default());
    change(call, &mut budget);
    budget.on_cpu_ns = call.duration_ns.unwrap().checked_sub(budget.sum_ns()).unwrap();
    call.budget = Some(budget);
    sum_up(&mut report);
    report
}

fn rules(report: &Report) -> Vec<String> {
    diagnose(report).into_iter().map(|diagnosis| diagnosis.rule).collect()
}

#[test]
fn a_parked_goroutine_is_the_cause_from_a_fifth_on() {
    let report = call(|_, budget| budget.parked_ns = 12 * MS);
    assert_eq!(rules(&report), [parked::NAME]);
    let found = &diagnose(&report)[0];
    assert_eq!(
        found.finding,
        "85.7 % of the worst call (12.0 of 14.0 ms) passed while its goroutine was on no thread: it waited for a \
         channel, a lock, a timer or the network, or for its turn among the other goroutines."
    );
    let resumed = "its goroutine was put on a thread again 3 times, on several threads: it was on none for 4.00 ms at a \
                   time on average";
    assert!(found.evidence.iter().any(|text| text == resumed), "{found:?}");
    assert!(found.remedies.iter().any(|text| text.contains("schedtrace")), "{found:?}");
    let silent = call(|_, budget| budget.parked_ns = 14 * MS / 5 - 1);
    assert_eq!(rules(&silent), [on_cpu::NAME]);
    let speaks = call(|_, budget| budget.parked_ns = 14 * MS / 5);
    assert_eq!(rules(&speaks), [on_cpu::NAME, parked::NAME]);
}

#[test]
fn each_moment_of_a_call_is_counted_once() {
    let report = call(|call, budget| {
        add_faults(call, Kind::SwapIn, 10, 4 * MS, 0);
        budget.fault_blocked_io_ns = 4 * MS;
        (budget.parked_ns, budget.blocked_futex_ns, budget.waiting_for_cpu_ns) = (4 * MS, 3 * MS, 3 * MS);
    });
    let mut found = rules(&report);
    found.sort();
    let mut expected =
        ["swap_in_during_pause", parked::NAME, blocked::NAME, cpu::BUSY, little_explained::NAME];
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// Sentences, evidence and remedies of everything that can be said of a call name no pause and no collector of their own.
#[test]
fn nothing_of_pauses_is_said_of_calls() {
    let reports = [
        call(|_, _| ()),
        call(|_, budget| budget.parked_ns = 12 * MS),
        call(|_, budget| budget.blocked_futex_ns = 12 * MS),
        call(|_, budget| budget.blocked_io_ns = 12 * MS),
        call(|_, budget| budget.waiting_for_cpu_ns = 12 * MS),
        call(|call, budget| {
            add_faults(call, Kind::FirstTouch, 10, 12 * MS, 0);
            budget.fault_on_cpu_ns = 12 * MS;
        }),
        call(|call, budget| {
            add_faults(call, Kind::Userfault, 10, 12 * MS, 0);
            budget.fault_blocked_other_ns = 12 * MS;
        }),
        call(|_, budget| (budget.parked_ns, budget.blocked_io_ns) = (5 * MS, 5 * MS)),
    ];
    for report in &reports {
        for Diagnosis { finding, evidence, remedies, rule } in diagnose(report) {
            let texts = std::iter::once(&finding).chain(&evidence).chain(&remedies);
            for text in texts {
                let rest = text.replace("main.(*Pauses).pause", "").replace("pauselens", "");
                for word in ["pause ", "pauses", "pause,", "pause's", "collector", "the world"] {
                    // A quota is used up by all of a Go program's threads, a lock's owner can be paused.
                    let of_go = rest.contains("GOMAXPROCS above the quota") || rest.contains("is paused");
                    assert!(of_go || !rest.contains(word), "{rule}: {word}: {text}");
                }
                assert!(!text.contains('{'), "{rule}: {text}");
            }
        }
    }
}

#[test]
fn on_cpu_says_how_to_look_into_a_call() {
    let found = &diagnose(&call(|_, _| ()))[0];
    assert_eq!(
        found.finding,
        "100.0 % of the worst call (14.0 of 14.0 ms) was the call's own work on a CPU: it waited neither for memory nor \
         for a CPU meanwhile."
    );
    assert!(found.evidence.iter().any(|text| text.starts_with("interrupts are in it")), "{found:?}");
    assert!(found.remedies.iter().any(|text| text.contains("runtime/pprof")), "{found:?}");
}

#[test]
fn a_driver_that_waits_for_its_workers_waits_for_no_lock() {
    let report = fixtures::workers();
    assert_eq!(rules(&report), [waited_for_workers::NAME]);
    let found = &diagnose(&report)[0];
    assert_eq!(
        found.finding,
        "80.0 % of the worst pause (8.00 of 10.0 ms) was spent waiting for its 2 workers, the busiest of which, thread \
         4300 (GC Thread#0), was in faults for 50.0 % of the pause, waiting for a CPU for 20.0 %, blocked on a futex for \
         20.0 %, on CPU for 10.0 %."
    );
    for evidence in [
        "thread 4301 (GC Thread#1): 5.00 ms blocked on a futex, 3.00 ms in faults (20 faults), 1.00 ms on CPU, 1.00 ms \
         waiting for a CPU",
        "55.0 % of the worst pause (5.50 of 10.0 ms) passed while the driver waited and a worker was in a page fault",
        "the workers took 60 faults of kind swap_in, 8.00 ms summed over threads",
        "most of their time in faults was in G1MarkAndPushClosure::do_oop",
    ] {
        assert!(found.evidence.iter().any(|text| text == evidence), "{evidence}: {found:?}");
    }
    assert!(!found.evidence.iter().any(|text| text.contains("G1 Conc#0")), "it slept: {found:?}");
    assert!(found.remedies.iter().any(|text| text.contains("memory.swap.max=0")), "{found:?}");
    assert!(found.remedies.iter().any(|text| text.contains("for the Java heap")), "{found:?}");
    assert!(!found.remedies.iter().any(|text| text.contains("who held the lock")), "{found:?}");
}

#[test]
fn what_the_workers_did_decides_what_helps() {
    let with = |change: fn(&mut Budget)| {
        let mut report = fixtures::workers();
        let pause = &mut report.pauses[0];
        (pause.worker_faults, pause.explained_by_faults_ns) = (None, 0);
        pause.waited_for_workers =
            Some(WaitedForWorkers { ns: 8 * MS, in_their_faults_ns: 0, faults_wall_ns: 0, at_least: false });
        for worker in &mut pause.workers {
            (worker.faults, worker.in_faults_ns, worker.budget) = (0, 0, Budget::default());
            change(&mut worker.budget);
            worker.budget.blocked_futex_ns = 10 * MS - worker.budget.sum_ns();
        }
        report.summary = Summary { quantiles_exact: true, ..Summary::default() };
        sum_up(&mut report);
        diagnose(&report).swap_remove(0)
    };
    let no_cpu = with(|budget| (budget.waiting_for_cpu_ns, budget.on_cpu_ns) = (6 * MS, 2 * MS));
    assert_eq!(no_cpu.rule, waited_for_workers::NAME);
    assert!(no_cpu.remedies[0].contains("more threads that want to run than CPUs"), "{no_cpu:?}");
    let on_cpu = with(|budget| (budget.waiting_for_cpu_ns, budget.on_cpu_ns) = (MS, 7 * MS));
    assert!(on_cpu.remedies[0].contains("objects that are alive"), "{on_cpu:?}");
}

#[test]
fn without_busy_workers_it_is_a_lock() {
    let mut report = fixtures::workers();
    let pause = &mut report.pauses[0];
    pause.waited_for_workers = Some(WaitedForWorkers::default());
    (pause.worker_faults, pause.explained_by_faults_ns) = (None, 0);
    report.summary = Summary { quantiles_exact: true, ..Summary::default() };
    sum_up(&mut report);
    assert_eq!(rules(&report), [blocked::NAME]);
}
