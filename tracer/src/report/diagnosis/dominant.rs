//! Tests: the first diagnosis is the cause that dominates the worst pause. A table of pauses and their first rule.

use super::kinds::KIND_RULES;
use super::{
    blocked, compaction, cpu, diagnose, little_explained, on_cpu, reclaim, slow_stop, stopping_fault,
};
use crate::report::fixtures::{self, add_faults, pause, sum_up};
use crate::report::model::*;

const MS: u64 = 1_000_000;

/// The last thread to stop, in these tests.
const LAST: u32 = 77;

/// A trace of one pause of 30 ms, whose stopping took 100 µs, with what is not said otherwise on CPU.
fn one(change: impl FnOnce(&mut Pause, &mut Budget)) -> Report {
    let mut report = fixtures::empty();
    let mut pause = pause(1, "GC mark termination", 0, 30 * MS);
    let mut budget = Budget::default();
    stopping(&mut pause, 100_000, StoppingBudget { on_cpu_ns: 100_000, ..StoppingBudget::default() });
    change(&mut pause, &mut budget);
    budget.on_cpu_ns = (30 * MS).checked_sub(budget.sum_ns()).unwrap();
    pause.budget = Some(budget);
    report.pauses.push(pause);
    sum_up(&mut report);
    report
}

fn stopping(pause: &mut Pause, ns: u64, budget: StoppingBudget) {
    pause.stopping_ns = Some(ns);
    pause.stopping = Some(Stopping { ns, last_tid: Some(LAST), budget, threads: Vec::new() });
}

fn throttled(times: u64, ns: u64) -> Option<Throttling> {
    Some(Throttling { cgroup: "/api".to_owned(), times, ns, over_ns: 200 * MS })
}

fn other_fault(tid: u32, in_stopping_ns: u64) -> StoppingFault {
    StoppingFault {
        tid,
        kind: Kind::Userfault,
        before_request_ns: MS,
        full_ns: in_stopping_ns + MS,
        in_stopping_ns,
        frames: Vec::new(),
    }
}

#[test]
fn the_first_rule_is_the_dominant_cause() {
    let table: Vec<(&str, Report, &str)> = vec![
        (
            "a lock",
            one(|pause, budget| {
                budget.blocked_futex_ns = 28 * MS;
                pause.blocked = vec![blocked_in("main.dump", BlockedOn::Futex, 28 * MS)];
            }),
            blocked::NAME,
        ),
        ("a write to a disk", one(|_, budget| budget.blocked_io_ns = 20 * MS), blocked::NAME),
        ("blocked, unknown on what", one(|_, budget| budget.blocked_unknown_ns = 20 * MS), blocked::NAME),
        (
            "swap-ins from a disk",
            one(|pause, budget| {
                add_faults(pause, Kind::SwapIn, 100, 28 * MS, 0);
                (budget.fault_blocked_io_ns, budget.fault_on_cpu_ns) = (26 * MS, 2 * MS);
            }),
            "swap_in_during_pause",
        ),
        (
            "swap-ins from zram",
            one(|pause, budget| {
                add_faults(pause, Kind::SwapIn, 1_000, 20 * MS, 0);
                budget.fault_on_cpu_ns = 20 * MS;
            }),
            "swap_in_during_pause",
        ),
        (
            "swap-ins from zram beside much own work",
            one(|pause, budget| {
                add_faults(pause, Kind::SwapIn, 1_000, 16 * MS, 0);
                budget.fault_on_cpu_ns = 16 * MS;
            }),
            "swap_in_during_pause",
        ),
        (
            "pages of swap, of which read-ahead found most",
            one(|pause, budget| {
                add_faults(pause, Kind::SwapIn, 20, 10 * MS, 0);
                add_faults(pause, Kind::SwapCache, 200, 12 * MS, 0);
                (budget.fault_blocked_io_ns, budget.fault_on_cpu_ns) = (12 * MS, 10 * MS);
            }),
            "swap_in_during_pause",
        ),
        (
            "swap-ins that free memory at the same time, but less",
            one(|pause, budget| {
                add_faults(pause, Kind::SwapIn, 100, 28 * MS, 0);
                (budget.fault_blocked_io_ns, budget.fault_reclaiming_ns) = (18 * MS, 10 * MS);
                pause.reclaim_ns = 10 * MS;
            }),
            "swap_in_during_pause",
        ),
        (
            "a cgroup at its limit",
            one(|pause, budget| {
                add_faults(pause, Kind::FirstTouch, 100, 28 * MS, 0);
                (budget.fault_reclaiming_ns, budget.fault_on_cpu_ns) = (24 * MS, 4 * MS);
                pause.reclaim_ns = 25 * MS;
            }),
            reclaim::NAME,
        ),
        (
            "a cgroup at its limit, in a read()",
            one(|_, budget| budget.reclaiming_ns = 24 * MS),
            reclaim::NAME,
        ),
        (
            "huge pages that have to be found",
            one(|pause, budget| {
                add_faults(pause, Kind::HugePage, 10, 28 * MS, 0);
                (budget.fault_compacting_ns, budget.fault_on_cpu_ns) = (20 * MS, 8 * MS);
            }),
            compaction::NAME,
        ),
        (
            "a quota that is used up",
            one(|pause, budget| {
                budget.waiting_for_cpu_ns = 25 * MS;
                pause.throttling = throttled(1, 40 * MS);
            }),
            cpu::THROTTLED,
        ),
        (
            "a quota whose throttling is not over when it is read",
            one(|pause, budget| {
                budget.waiting_for_cpu_ns = 25 * MS;
                pause.throttling = throttled(1, 0);
            }),
            cpu::THROTTLED,
        ),
        (
            "a quota that was used up for too short a time",
            one(|pause, budget| {
                budget.waiting_for_cpu_ns = 25 * MS;
                pause.throttling = throttled(1, MS);
            }),
            cpu::BUSY,
        ),
        ("a neighbour", one(|_, budget| budget.waiting_for_cpu_ns = 25 * MS), cpu::BUSY),
        (
            "a neighbour, met inside faults",
            one(|pause, budget| {
                add_faults(pause, Kind::FirstTouch, 100, 28 * MS, 0);
                (budget.fault_waiting_for_cpu_ns, budget.fault_on_cpu_ns) = (14 * MS, 14 * MS);
            }),
            cpu::BUSY,
        ),
        (
            "a quota, met inside faults",
            one(|pause, budget| {
                add_faults(pause, Kind::SwapIn, 100, 28 * MS, 0);
                (budget.fault_waiting_for_cpu_ns, budget.fault_on_cpu_ns) = (20 * MS, 8 * MS);
                pause.throttling = throttled(1, 40 * MS);
            }),
            cpu::THROTTLED,
        ),
        (
            "faults that wait for a CPU for a smaller part",
            one(|pause, budget| {
                add_faults(pause, Kind::SwapIn, 100, 28 * MS, 0);
                (budget.fault_waiting_for_cpu_ns, budget.fault_on_cpu_ns) = (8 * MS, 20 * MS);
            }),
            "swap_in_during_pause",
        ),
        (
            "the last thread to stop had no CPU",
            one(|pause, budget| {
                let last =
                    StoppingBudget { waiting_for_cpu_ns: 25 * MS, on_cpu_ns: MS, ..Default::default() };
                stopping(pause, 26 * MS, last);
                budget.blocked_futex_ns = 26 * MS;
            }),
            cpu::BUSY,
        ),
        (
            "the last thread to stop was throttled",
            one(|pause, budget| {
                let last =
                    StoppingBudget { waiting_for_cpu_ns: 25 * MS, on_cpu_ns: MS, ..Default::default() };
                stopping(pause, 26 * MS, last);
                budget.blocked_futex_ns = 26 * MS;
                pause.throttling = throttled(2, 80 * MS);
            }),
            cpu::THROTTLED,
        ),
        (
            "another thread's userfault",
            one(|pause, budget| {
                stopping(pause, 28 * MS, StoppingBudget { fault_ns: 28 * MS, ..Default::default() });
                pause.stopping_faults.push(other_fault(LAST, 28 * MS));
                pause.explained_by_faults_ns = 28 * MS;
                budget.blocked_futex_ns = 28 * MS;
            }),
            stopping_fault::NAME,
        ),
        (
            "a userfault that covers the stop, and a last thread that was told wrong",
            one(|pause, budget| {
                stopping(pause, 28 * MS, StoppingBudget { on_cpu_ns: 28 * MS, ..Default::default() });
                pause.stopping_faults.push(other_fault(99, 27 * MS));
                pause.explained_by_faults_ns = 27 * MS;
                budget.blocked_futex_ns = 28 * MS;
            }),
            stopping_fault::NAME,
        ),
        (
            "a userfault whose detail was dropped",
            one(|pause, budget| {
                stopping(
                    pause,
                    28 * MS,
                    StoppingBudget { fault_ns: 26 * MS, on_cpu_ns: 2 * MS, ..Default::default() },
                );
                budget.blocked_futex_ns = 28 * MS;
            }),
            stopping_fault::NAME,
        ),
        (
            "a mutator that runs long before its safepoint",
            one(|pause, budget| {
                stopping(pause, 28 * MS, StoppingBudget { on_cpu_ns: 28 * MS, ..Default::default() });
                budget.blocked_futex_ns = 28 * MS;
            }),
            slow_stop::NAME,
        ),
        (
            "a mutator that runs long, and one in a fault that was over before",
            one(|pause, budget| {
                stopping(pause, 28 * MS, StoppingBudget { on_cpu_ns: 28 * MS, ..Default::default() });
                pause.stopping_faults.push(other_fault(99, 15 * MS));
                pause.explained_by_faults_ns = 15 * MS;
                budget.blocked_futex_ns = 28 * MS;
            }),
            slow_stop::NAME,
        ),
        (
            "a driver that spins until the world has stopped",
            one(|pause, _| {
                stopping(pause, 28 * MS, StoppingBudget { on_cpu_ns: 28 * MS, ..Default::default() })
            }),
            slow_stop::NAME,
        ),
        (
            "the driver's own swap-ins while the world stops",
            one(|pause, budget| {
                stopping(pause, 28 * MS, StoppingBudget { on_cpu_ns: 28 * MS, ..Default::default() });
                add_faults(pause, Kind::SwapIn, 100, 27 * MS, 0);
                budget.fault_blocked_io_ns = 27 * MS;
            }),
            "swap_in_during_pause",
        ),
        ("its own work", one(|_, _| ()), on_cpu::NAME),
        (
            "its own work, and some of all else",
            one(|pause, budget| {
                add_faults(pause, Kind::FileMap, 10, 5 * MS, 0);
                (budget.fault_on_cpu_ns, budget.waiting_for_cpu_ns, budget.blocked_futex_ns) =
                    (5 * MS, 4 * MS, 4 * MS);
            }),
            on_cpu::NAME,
        ),
    ];
    for (what, report, rule) in &table {
        let found = diagnose(report);
        let rules: Vec<&str> = found.iter().map(|diagnosis| diagnosis.rule.as_str()).collect();
        assert_eq!(rules.first(), Some(rule), "{what}: {rules:?}");
        assert!(!rules.contains(&little_explained::NAME), "{what}: {rules:?}");
        assert!(found[0].evidence.len() > 1, "{what}: {found:?}");
    }
}

fn blocked_in(function: &str, on: BlockedOn, ns: u64) -> Blocked {
    Blocked {
        on,
        count: 1,
        ns,
        woken_by_tid: Some(LAST),
        kernel_frames: vec!["schedule".to_owned()],
        frames: vec!["runtime.futex".to_owned(), "runtime.lock2".to_owned(), function.to_owned()],
    }
}

#[test]
fn every_kind_of_fault_is_first_when_it_dominates() {
    for rule in &KIND_RULES {
        let report = one(|pause, budget| {
            add_faults(pause, rule.kind, 100, 28 * MS, 0);
            budget.fault_on_cpu_ns = 28 * MS;
        });
        assert_eq!(diagnose(&report)[0].rule, rule.name);
    }
}

#[test]
fn nothing_that_dominates_is_called_so() {
    let report = one(|pause, budget| {
        add_faults(pause, Kind::SwapIn, 10, 9 * MS, 0);
        budget.fault_on_cpu_ns = 9 * MS;
        budget.waiting_for_cpu_ns = 10 * MS;
    });
    let found = diagnose(&report);
    let rules: Vec<&str> = found.iter().map(|diagnosis| diagnosis.rule.as_str()).collect();
    assert_eq!(rules, [cpu::BUSY, "swap_in_during_pause", little_explained::NAME]);
    assert_eq!(
        found[2].finding,
        "No one cause explains half of the worst pause (30.0 ms): page faults explain 30.0 %, the largest part is on \
         CPU (36.7 %)."
    );
    let unseen = one(|_, budget| budget.unknown_ns = 20 * MS);
    assert_eq!(diagnose(&unseen)[0].finding, "Where most of the worst pause went was not seen.");
    assert!(diagnose(&unseen)[0].evidence.iter().any(|text| text.contains("whose end was not seen")));
}

#[test]
fn the_largest_of_several_is_first() {
    let report = one(|pause, budget| {
        stopping(pause, 13 * MS, StoppingBudget { on_cpu_ns: 13 * MS, ..StoppingBudget::default() });
        budget.blocked_futex_ns = 13 * MS;
        budget.reclaiming_ns = 7 * MS;
    });
    let rules: Vec<String> = diagnose(&report).into_iter().map(|diagnosis| diagnosis.rule).collect();
    assert_eq!(rules, [slow_stop::NAME, reclaim::NAME, little_explained::NAME]);
}

#[test]
fn a_wait_for_the_stop_is_no_lock() {
    let report = one(|pause, budget| {
        stopping(pause, 14 * MS, StoppingBudget { on_cpu_ns: 14 * MS, ..StoppingBudget::default() });
        budget.blocked_futex_ns = 18 * MS;
    });
    let rules: Vec<String> = diagnose(&report).into_iter().map(|diagnosis| diagnosis.rule).collect();
    assert!(!rules.iter().any(|rule| rule == blocked::NAME), "{rules:?}");
    assert_eq!(rules[0], slow_stop::NAME);
}

#[test]
fn words_of_a_lock() {
    let report = one(|pause, budget| {
        budget.blocked_futex_ns = 28 * MS;
        pause.blocked = vec![blocked_in("main.dump", BlockedOn::Futex, 28 * MS)];
    });
    let found = &diagnose(&report)[0];
    assert_eq!(
        found.finding,
        "93.0 % of the worst pause (27.9 of 30.0 ms) was spent blocked outside page faults, mostly on a futex, in \
         main.dump."
    );
    assert!(found.evidence.iter().any(|text| text.contains("the longest ended by thread 77")), "{found:?}");
    assert!(found.remedies.iter().any(|text| text.contains("who held the lock")), "{found:?}");
}

#[test]
fn words_of_a_neighbour() {
    let report = one(|pause, budget| {
        budget.waiting_for_cpu_ns = 25 * MS;
        let hog = Neighbour { name: "stress".to_owned(), tid: 9, of_target: false, count: 2, ns: 24 * MS };
        pause.cpu_waits =
            Some(CpuWaits { switches: 3, count: 3, ns: 25 * MS, longest_ns: 13 * MS, after: vec![hog] });
    });
    let found = &diagnose(&report)[0];
    assert_eq!(
        found.finding,
        "83.3 % of the worst pause (25.0 of 30.0 ms) was spent waiting for a CPU, which thread 9 (stress) had before."
    );
    assert!(found.evidence.iter().any(|text| text.contains("3 waits, the longest 13.0 ms")), "{found:?}");
    assert!(found.remedies.iter().any(|text| text.contains("cpuset")), "{found:?}");
}

#[test]
fn words_of_a_quota() {
    let report = one(|pause, budget| {
        budget.waiting_for_cpu_ns = 25 * MS;
        pause.throttling = throttled(2, 40 * MS);
    });
    let found = &diagnose(&report)[0];
    assert!(
        found.finding.contains(
            "was spent waiting for a CPU, and around that time the CPU quota of its cgroup was used up"
        ),
        "{found:?}"
    );
    let reading = "cgroup /api was throttled 2 times, 40.0 ms summed over CPUs, between two readings 200 ms apart: \
                   which is of that time, not of the pause alone";
    assert!(found.evidence.iter().any(|text| text == reading), "{found:?}");
    assert!(found.remedies.iter().any(|text| text.contains("cpu.max")), "{found:?}");
}

#[test]
fn words_of_a_last_thread_without_a_cpu() {
    let report = one(|pause, budget| {
        let last = StoppingBudget { waiting_for_cpu_ns: 25 * MS, on_cpu_ns: MS, ..StoppingBudget::default() };
        stopping(pause, 26 * MS, last);
        budget.blocked_futex_ns = 26 * MS;
    });
    let found = &diagnose(&report)[0];
    assert_eq!(
        found.finding,
        "83.3 % of the worst pause (25.0 of 30.0 ms) passed while the thread that stopped last waited for a CPU."
    );
    let waited =
        "thread 77, which stopped last, waited 25.0 of 26.0 ms for a CPU while the world was stopping";
    assert!(found.evidence.iter().any(|text| text == waited), "{found:?}");
}

#[test]
fn words_of_a_long_running_mutator() {
    let report = one(|pause, budget| {
        let last =
            StoppingBudget { on_cpu_ns: 26 * MS, waiting_for_cpu_ns: 2 * MS, ..StoppingBudget::default() };
        stopping(pause, 28 * MS, last);
        pause.stopping.as_mut().unwrap().threads.push(StoppingThread {
            tid: LAST,
            name: Some("api".to_owned()),
            at_request: AtRequest::OnCpu,
            since_ns: Some(4 * MS),
            budget: last,
            blocked_on: None,
            kernel_frames: Vec::new(),
            frames: vec!["main.spin".to_owned()],
        });
        budget.blocked_futex_ns = 28 * MS;
    });
    let found = &diagnose(&report)[0];
    assert_eq!(
        found.finding,
        "The world took 28.0 of 30.0 ms to stop in the worst pause: thread 77, which stopped last, ran for 26.0 ms \
         before it came to a point where it can stop."
    );
    let at_request = "thread 77 (api) was on CPU when the stop was requested, for 4.00 ms already; it left the CPU in \
                      main.spin";
    assert!(found.evidence.iter().any(|text| text == at_request), "{found:?}");
}

#[test]
fn words_of_a_driver_that_nobody_woke() {
    let report = one(|pause, budget| {
        stopping(pause, 28 * MS, StoppingBudget { blocked_ns: 28 * MS, ..StoppingBudget::default() });
        pause.stopping.as_mut().unwrap().last_tid = None;
        budget.blocked_futex_ns = 28 * MS;
    });
    let found = &diagnose(&report)[0];
    assert_eq!(
        found.finding,
        "The world took 28.0 of 30.0 ms to stop in the worst pause, and neither page faults nor a wait for a CPU \
         explain 28.0 ms of that."
    );
    assert!(
        found.evidence.iter().any(|text| text.starts_with("no other thread was seen to wake")),
        "{found:?}"
    );
}

#[test]
fn a_binary_that_was_evicted_gets_its_own_advice() {
    let with = |kind, region, serves: &str| {
        one(|pause, budget| {
            add_faults(pause, kind, 100, 28 * MS, 0);
            budget.fault_blocked_io_ns = 28 * MS;
            pause.by_region = [(region, KindTotal { count: 100, ns: 28 * MS, inferred: 0 })].into();
            pause.reads = vec![DeviceReads {
                device: "vda".to_owned(),
                serves: Some(serves.to_owned()),
                faults: 100,
                ns: 28 * MS,
                requests: 80,
                bytes: 1 << 20,
                read_ahead_pages: 156,
                inferred: 0,
            }];
        })
    };
    let first = |report: &Report| diagnose(report).swap_remove(0);
    let evicted = first(&with(Kind::FileRead, Region::Binary, "files"));
    assert!(evicted.remedies[0].contains("dropped from the page cache"), "{evicted:?}");
    let reads =
        "read from vda (files): 100 faults, 28.0 ms, 80 requests, 1.00 MiB, 156 pages of it read ahead";
    assert!(evicted.evidence.iter().any(|text| text == reads), "{evicted:?}");
    assert!(evicted.evidence.iter().any(|text| text == "the time in its faults: 28.0 ms blocked on I/O"));
    let data = first(&with(Kind::FileRead, Region::MappedFile, "files"));
    assert!(!data.remedies[0].contains("dropped from the page cache"), "{data:?}");
    let metadata = first(&with(Kind::SwapIn, Region::RuntimeMetadata, "swap partition"));
    assert!(metadata.remedies[0].contains("bookkeeping"), "{metadata:?}");
    assert!(metadata.evidence.iter().any(|text| text.starts_with("read from vda (swap partition)")));
    let heap = first(&with(Kind::SwapIn, Region::RuntimeHeap, "files"));
    assert!(heap.remedies[0].contains("a heap in swap") && heap.remedies[1].contains("set GOMEMLIMIT"));
    assert!(
        !heap.evidence.iter().any(|text| text.starts_with("read from vda")),
        "not the swap device: {heap:?}"
    );
}

#[test]
fn a_pause_without_a_budget_says_so() {
    let mut report = one(|pause, budget| {
        add_faults(pause, Kind::SwapIn, 100, 28 * MS, 0);
        budget.fault_on_cpu_ns = 28 * MS;
    });
    let reserved = |report: &Report| {
        diagnose(report)[0].evidence.iter().any(|text| text.contains("is not known for this pause"))
    };
    assert!(!reserved(&report));
    report.pauses[0].budget = None;
    assert!(reserved(&report));
}
