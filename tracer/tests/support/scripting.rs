//! For tests of interpreters and managed runtimes: brings them here, runs a workload in one, and traces it by its process id.
//!
//! The workloads (`scripting/workload.*`) are told by a line what to do, do it, and answer with what their own runtime
//! counted.

#![allow(dead_code, reason = "each test file includes this module and uses a part of it")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tracer::report::model::{Pause, Report};

use super::attached::{ALL_AS_JSON, Ended, Running, attach, pauselens, report_of};

/// The command that becomes the runtime of this name.
///
/// # Panics
///
/// It can't be had; the message is what scripts/fetch-scripting says.
pub(crate) fn fetched(name: &str) -> PathBuf {
    fetch(name).unwrap_or_else(|said| panic!("scripts/fetch-scripting {name}:\n{said}"))
}

/// The same for a runtime that may be gone: of a release of Debian that changes from day to day. Without it there is
/// nothing to test; the script's own message, which is printed, is the proof.
pub(crate) fn fetched_if_to_be_had(name: &str) -> Option<PathBuf> {
    let fetched = fetch(name);
    if let Err(said) = &fetched {
        assert!(said.contains("could not fetch its packages"), "{said}");
        println!("skipped: {name} is not to be had here:\n{said}");
    }
    fetched.ok()
}

fn fetch(name: &str) -> Result<PathBuf, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/fetch-scripting");
    let output = Command::new(&script).arg(name).output().expect("the script can be run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(said);
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end()))
}

/// The text of a workload.
pub(crate) fn workload(file: &str) -> String {
    fs::read_to_string(workload_path(file)).unwrap()
}

/// Where it is.
pub(crate) fn workload_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/scripting").join(file)
}

/// A workload that is ready.
#[track_caller]
pub(crate) fn ready(command: Command) -> Running {
    let mut running = Running::start(command);
    while running.line() != "ready" {}
    running
}

/// Has it do one thing: its answer.
#[track_caller]
pub(crate) fn does(running: &mut Running, command: &str) -> Value {
    running.tell(command);
    let answer = running.line();
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// Traces it while it does what it is told; the report has all pauses, in the order of time.
#[track_caller]
pub(crate) fn traced(running: &mut Running, commands: &[&str]) -> (Report, Vec<Value>) {
    traced_with(&[], running, commands)
}

/// The same with more options.
#[track_caller]
pub(crate) fn traced_with(
    options: &[&str],
    running: &mut Running,
    commands: &[&str],
) -> (Report, Vec<Value>) {
    let tracer = attach(running.pid(), &[&ALL_AS_JSON, options].concat());
    let answers = commands.iter().map(|command| does(running, command)).collect();
    (in_order(report_of(tracer)), answers)
}

/// With its pauses in the order of time.
pub(crate) fn in_order(mut report: Report) -> Report {
    report.pauses.sort_by_key(|pause| pause.id);
    report
}

/// What pauselens says about a process that it can't trace.
#[track_caller]
pub(crate) fn refused(pid: u32) -> Ended {
    let mut command = Command::new(pauselens());
    command.args(["attach", "--pid", &pid.to_string(), "--duration", "1s", "--format", "json"]);
    Running::start(command).ended()
}

/// The length of a pause that was seen whole.
#[track_caller]
pub(crate) fn length(pause: &Pause) -> u64 {
    pause.duration_ns.unwrap_or_else(|| panic!("not seen whole: {pause:?}"))
}

/// Numbers in an answer.
#[track_caller]
pub(crate) fn numbers(answer: &Value) -> Vec<u64> {
    let numbers = answer.as_array().unwrap_or_else(|| panic!("no list: {answer}"));
    numbers.iter().map(|number| number.as_u64().unwrap_or_else(|| panic!("no number: {number}"))).collect()
}
