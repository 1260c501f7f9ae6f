//! Ruby: collections in a build with symbols, their phases in one with tracepoints, and none of both.

use std::process::Command;

use tracer::report::model::{Pause, Report};

use crate::{
    attached::{Running, as_root},
    runtimes::{fetched, length, numbers, ready, refused, traced, workload},
};

fn ruby(name: &str) -> Running {
    let mut command = Command::new(fetched(name));
    command.args(["--disable-gems", "-e"]).arg(workload("workload.rb"));
    ready(command)
}

/// The windows of that reason.
fn of<'a>(report: &'a Report, reason: &str) -> Vec<&'a Pause> {
    report.pauses.iter().filter(|pause| pause.reason.contains(reason)).collect()
}

const REST: &str = "rest of an earlier collection";

#[test]
fn ruby_3_1_with_symbols() {
    as_root();
    let mut ruby = ruby("ruby-3.1-symbols");
    for (command, kinds) in [
        ("minor 7", &["method", "immediate sweep"][..]),
        ("major 3", &["method", "immediate sweep", "full mark"]),
    ] {
        let (report, answers) = traced(&mut ruby, &[command]);
        assert_eq!((report.target.runtime.name.as_str(), report.trace.complete), ("ruby", true));
        let collections: Vec<&Pause> = report.pauses.iter().filter(|pause| pause.reason != REST).collect();
        assert_eq!(collections.len() as u64, answers[0]["counted"].as_u64().unwrap());
        // Whole collections leave no rest.
        assert_eq!(collections.len(), report.pauses.len());
        for (pause, cpu_ns) in collections.iter().zip(numbers(&answers[0]["cpu_ns"])) {
            assert!(kinds.iter().all(|kind| pause.reason.contains(kind)), "{}", pause.reason);
            assert_eq!(pause.reason.contains("full mark"), kinds.contains(&"full mark"));
            // The program has one thread: it can't have used more CPU time in it than it took.
            assert!(cpu_ns <= length(pause), "{cpu_ns} ns of CPU time in a window of {} ns", length(pause));
        }
    }
    // By itself it collects lazily: the rest comes in steps, which are windows of their own.
    let (report, answers) = traced(&mut ruby, &["churn 3"]);
    let rest = of(&report, REST).len();
    assert_eq!(report.pauses.len() - rest, answers[0]["counted"].as_u64().unwrap() as usize);
    assert!(rest > 0);
}

/// Debian's build has tracepoints for the phases, with counters that must be raised.
#[test]
fn ruby_3_1_of_debian_shows_phases() {
    as_root();
    let mut ruby = ruby("ruby-3.1");
    let (report, answers) = traced(&mut ruby, &["minor 7", "major 3", "churn 3"]);
    assert_eq!((report.target.runtime.name.as_str(), report.trace.complete), ("ruby", true));
    let counted: u64 = answers.iter().map(|answer| answer["counted"].as_u64().unwrap()).sum();
    let (mark, sweep) = (of(&report, "mark phase").len(), of(&report, "sweep phase").len());
    assert_eq!(mark as u64, counted);
    assert_eq!(mark + sweep, report.pauses.len());
    assert!(sweep > 0, "what is swept later is a phase of its own");
}

#[test]
fn a_build_with_neither_is_refused() {
    as_root();
    let ruby = ruby("ruby-3.3");
    let ended = refused(ruby.pid());
    assert_eq!((ended.code(), ended.stdout.as_str()), (1, ""), "{}", ended.told());
    for part in [
        "libruby-3.3.so",
        "garbage_collect",
        "gc_start",
        "usdt:ruby:gc__mark__begin",
        "usdt:ruby:gc__sweep__end",
        ".build-id/",
        "dbgsym",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.told());
    }
}
