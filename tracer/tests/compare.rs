//! `pauselens compare` on recordings of a Go program: without swap against with swap, and against itself.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use attached::{Running, as_root, pauselens};
use serde_json::Value;

const WITHOUT: usize = 8;
const WITH: usize = 4;
const ROUNDS: u64 = 5;

/// One run of the workload, recorded.
fn record(folder: &Path, name: &str, swapped: bool) -> PathBuf {
    let recording = folder.join(name);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/workloads/swap-pause/run");
    let mut command = Command::new(script);
    command.args(["--graph-mb", "80", "--rounds", &ROUNDS.to_string()]);
    // With swap more time passes between pauses, unless that is the same for both: rates could not be compared.
    command.args(["--every", "800"]).arg("--pauselens").arg(pauselens());
    if !swapped {
        command.arg("--no-reclaim");
    }
    command.args(["--", "--format", "json", "--output", "/dev/null", "--record"]).arg(&recording);
    let ended = Running::start_tidy(command).ended_within(Duration::from_secs(60));
    assert_eq!(ended.code(), 0, "{name}: {}", ended.told());
    recording
}

fn compare(arguments: &[&str], a: &[&PathBuf], b: &[&PathBuf]) -> Output {
    let mut command = Command::new(pauselens());
    command.arg("compare").args(arguments).args(a).arg("--").args(b);
    command.output().unwrap()
}

/// The comparison as JSON, and the exit status.
fn compared(a: &[&PathBuf], b: &[&PathBuf]) -> (Value, i32) {
    let output = compare(&["--format", "json"], a, b);
    let told = String::from_utf8_lossy(&output.stderr);
    let status = output.status.code().unwrap_or_else(|| panic!("{told}"));
    (serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}")), status)
}

fn measure<'a>(comparison: &'a Value, id: &str) -> &'a Value {
    let measures = comparison["measures"].as_array().unwrap();
    measures.iter().find(|measure| measure["id"] == id).unwrap_or_else(|| panic!("no {id} in {comparison}"))
}

#[test]
fn swap_is_worse_and_the_same_is_the_same() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let mut without = Vec::new();
    let mut with = Vec::new();
    // By turns, as the documentation says.
    for run in 0..WITHOUT {
        without.push(record(folder.path(), &format!("without-{run}.jsonl.zst"), false));
        if run < WITH {
            with.push(record(folder.path(), &format!("with-{run}.jsonl.zst"), true));
        }
    }
    let some = |numbers: &[usize]| numbers.iter().map(|&number| &without[number]).collect::<Vec<_>>();
    let swapped: Vec<&PathBuf> = with.iter().collect();

    swap_is_worse(&some(&[0, 1, 2, 3]), &swapped);
    // Each of these is called a difference in 3 % of the cases by chance, so one may be.
    let called = [([0, 2, 4, 6], [1, 3, 5, 7]), ([0, 1, 4, 5], [2, 3, 6, 7]), ([0, 1, 6, 7], [2, 3, 4, 5])]
        .iter()
        .filter(|(a, b)| {
            let (comparison, status) = compared(&some(a), &some(b));
            assert_eq!(status, 0, "{comparison}");
            comparison["headline"]["verdict"] != "no_difference_shown"
        })
        .count();
    assert!(called <= 1, "the same against the same was called a difference {called} times of 3");

    two_runs_bear_no_verdict(&without[0], &with[0]);
    pictures(folder.path(), &some(&[0, 1, 2, 3]), &swapped);
    partial_and_unusable(folder.path(), &without[0], &with[0]);
}

fn swap_is_worse(without: &[&PathBuf], with: &[&PathBuf]) {
    let (comparison, status) = compared(without, with);
    assert_eq!(status, 0, "{comparison}");
    // Where others take the CPU, pauses without swap are long as well, and no difference may be shown in the whole. Faults tell
    // the sides apart whatever else runs.
    assert_ne!(comparison["headline"]["verdict"], "better", "{}", comparison["headline"]);
    println!("{}", comparison["headline"]);
    let pauses = measure(&comparison, "pauses");
    for side in ["a", "b"] {
        assert_eq!(pauses[side]["median"].as_f64(), Some(2.0 * ROUNDS as f64), "{pauses}");
    }
    assert_eq!(
        measure(&comparison, "worst")["is_headline"],
        true,
        "of so few pauses it is the longest that counts"
    );
    for id in ["faults.ns_per_pause", "faults.per_pause", "kind.swap_in.ns_per_pause"] {
        assert_eq!(measure(&comparison, id)["alone"], "worse", "{}", measure(&comparison, id));
    }
    // Without swap there is none; with it each pause reads some.
    let swap_ins = measure(&comparison, "kind.swap_in.per_pause");
    assert_eq!(swap_ins["a"]["most"], 0.0, "{swap_ins}");
    assert!(swap_ins["b"]["least"].as_f64().unwrap() > 1.0, "{swap_ins}");
    assert!((swap_ins["p"].as_f64().unwrap() - 2.0 / 70.0).abs() < 1e-9, "{swap_ins}");
    let in_paths: f64 = comparison["measures"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|measure| measure["group"] == "path" && measure["unit"] == "per_pause")
        .map(|measure| measure["b"]["runs"][0].as_f64().unwrap())
        .sum();
    let all = measure(&comparison, "faults.per_pause")["b"]["runs"][0].as_f64().unwrap();
    assert!(in_paths > 0.0 && in_paths <= all * (1.0 + 1e-9), "{in_paths} of {all}");

    // What is compared is what a report says.
    let output =
        Command::new(pauselens()).args(["report", "--format", "json"]).arg(with[0]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let summary = &report["summary"];
    for (id, field) in [("median", "median_ns"), ("p90", "p90_ns"), ("p99", "p99_ns"), ("worst", "worst_ns")]
    {
        assert_eq!(measure(&comparison, id)["b"]["runs"][0].as_f64(), summary[field].as_f64(), "{field}");
    }
    let (pauses, faults) = (summary["pauses"].as_f64().unwrap(), summary["faults"].as_f64().unwrap());
    assert!((all * pauses - faults).abs() < 1e-6, "{all} in each of {pauses}, {faults}");
}

fn two_runs_bear_no_verdict(without: &PathBuf, with: &PathBuf) {
    let output = compare(&[], &[without], &[with]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Verdict      no difference shown"), "{text}");
    assert!(text.contains("at least 4 runs on each side are needed"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(!text.contains('\x1b'), "no colour where there is no terminal");
}

fn pictures(folder: &Path, without: &[&PathBuf], with: &[&PathBuf]) {
    let page = folder.join("compared.html");
    let output = compare(&["--format", "html", "-o", page.to_str().unwrap()], without, with);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<strong>") && page.contains("swap_in") && !page.contains("<script"), "{page}");
    let flame = compare(&["--format", "flamegraph", "--per", "second"], without, with);
    let svg = String::from_utf8(flame.stdout).unwrap();
    assert!(svg.contains("<svg") && svg.contains("runtime.gcStart") && svg.contains("per second"), "{svg}");
    let again = compare(&["--format", "json", "--seed", "7"], without, with).stdout;
    assert_eq!(again, compare(&["--format", "json", "--seed", "7"], without, with).stdout);
}

fn partial_and_unusable(folder: &Path, without: &PathBuf, with: &PathBuf) {
    let cut = folder.join("cut.jsonl.zst");
    let whole = fs::read(with).unwrap();
    fs::write(&cut, &whole[..whole.len() - 40]).unwrap();
    let (comparison, status) = compared(&[without], &[&cut]);
    assert_eq!(status, 3, "{comparison}");
    assert_ne!(comparison["sides"]["b"]["runs"][0]["partial"], Value::from(Vec::<Value>::new()));
    assert!(
        comparison["unlike"].as_array().unwrap().iter().any(|it| it["what"] == "recordings"),
        "{comparison}"
    );

    let foreign = folder.join("foreign");
    fs::write(&foreign, "not a recording\n").unwrap();
    let (comparison, status) = compared(&[without, &foreign], &[with]);
    assert_eq!(status, 3);
    assert!(comparison["notes"].to_string().contains("Left out"), "{comparison}");
    let output = compare(&[], &[without], &[&foreign]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("side B has no recording that can be used"), "{told}");
    let copy = folder.join("copy.jsonl.zst");
    fs::copy(without, &copy).unwrap();
    let output = compare(&[], &[without, &copy], &[with]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("are recordings of one run"));
    let output = Command::new(pauselens()).arg("compare").arg(without).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
