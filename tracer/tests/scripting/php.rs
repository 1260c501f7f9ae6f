//! PHP's collector of cycles, whose function every build exports.

use std::process::Command;

use crate::{
    attached::as_root,
    runtimes::{fetched, length, numbers, ready, traced, workload},
};

fn every_run_is_a_window(name: &str, version: &str) -> Vec<(u64, u64)> {
    as_root();
    let mut command = Command::new(fetched(name));
    command.args(["-n", "-r"]).arg(workload("workload.php"));
    let mut php = ready(command);
    let (report, answers) = traced(&mut php, &["collect 7", "churn 3"]);
    assert_eq!(report.target.runtime.name, "php");
    assert!(report.target.runtime.version.starts_with(version), "{}", report.target.runtime.version);
    assert!(report.trace.complete, "{:?}", report.trace.incomplete);
    let counted: u64 = answers.iter().map(|answer| answer["counted"].as_u64().unwrap()).sum();
    assert_eq!(counted, 10);
    assert_eq!((report.summary.pauses, report.summary.collections), (counted, counted));
    let lengths = numbers(&answers[0]["lengths_ns"]);
    report.pauses.iter().map(length).zip(lengths).collect()
}

#[test]
fn php_8_2() {
    // It does not say how long they took.
    assert_eq!(every_run_is_a_window("php-8.2", "8.2."), []);
}

/// From 8.3 on it adds up the time inside the function, which the window is a call of.
#[test]
fn php_8_4() {
    let both = every_run_is_a_window("php-8.4", "8.4.");
    assert_eq!(both.len(), 7);
    let mut rest = Vec::new();
    for (window, own) in both {
        // Its sum is a double of seconds.
        assert!(own <= window + 1000, "a window of {window} ns, which took {own} ns by PHP's own clock");
        rest.push(window.saturating_sub(own));
    }
    rest.sort_unstable();
    println!("windows are longer than PHP's own times by {} ns in the median", rest[3]);
    assert!(rest[3] < 500_000, "{rest:?}");
}
