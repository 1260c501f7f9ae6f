//! Runtimes and windows of the user's own: definitions from a file, the catalogue's list, windows that begin too often, and
//! how long attaching to a large program takes. As root, on the release build.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use attached::{ALL_AS_JSON, Running, as_root, attach, pauselens, report_of};
use serde_json::Value;
use tracer::report::model::{Ended, State, Unit};

/// Stops itself by functions of its own, tells a number, and calls a small function as often as it is told.
const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define NOINLINE __attribute__((noinline, noclone, used))
NOINLINE void house_begin(int why) { __asm__ volatile("" :: "r"(why)); }
NOINLINE void house_stopped(void) { __asm__ volatile("nop"); }
NOINLINE int house_end(int result) { __asm__ volatile("" :: "r"(result)); return result; }
NOINLINE int small(int n) { __asm__ volatile(""); return n + 1; }
const char version[] = "housekeeper 3.14.15 (test)";
int main(void) {
    char line[64];
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        int number = atoi(line + 1), sum = 0;
        if (line[0] == 'p')
            for (int i = 0; i < number; i++) { house_begin(i % 3); house_stopped(); house_end(i % 5 != 0); }
        if (line[0] == 'c') {
            struct timespec begin, now;
            clock_gettime(CLOCK_MONOTONIC, &begin);
            do {
                for (int i = 0; i < 1000; i++) sum += small(i);
                clock_gettime(CLOCK_MONOTONIC, &now);
            } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < number);
        }
        printf("%s%s", version + strlen(version), line);
        fflush(stdout);
    }
    return 0;
}
"#;

const DEFINITION: &str = r#"
name = "housekeeper"
title = "Housekeeper"
[recognise]
holds = ["house_begin", "house_end"]
[version]
text = 'housekeeper (\d+)\.(\d+)'
[[windows]]
requested = ["house_newer_begin"]
resumed = ["house_newer_end"]
[[windows]]
requested = ["house_begin"]
stopped = ["house_stopped"]
resumed = ["return:house_end"]
[windows.reason]
at = "requested"
names = { 0 = "sweep", 1 = "move" }
gc = ["sweep", "move"]
[windows.discard]
result = 0
"#;

fn compiled(folder: &Path, source: &str, arguments: &[&str]) -> PathBuf {
    let (code, program) = (folder.join("program.c"), folder.join("program"));
    fs::write(&code, source).unwrap();
    let output =
        Command::new("gcc").args(["-O1", "-o"]).arg(&program).args(arguments).arg(&code).output().unwrap();
    assert!(output.status.success(), "gcc: {}", String::from_utf8_lossy(&output.stderr));
    program
}

fn started(program: &Path) -> Running {
    as_root();
    let mut running = Running::start(Command::new(program));
    assert_eq!(running.line(), "ready");
    running
}

fn said(arguments: &[&str]) -> (Output, String) {
    let output = Command::new(pauselens()).args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, error)
}

/// A definition in a file does what the catalogue's own do: recognition, version, candidates in order, reasons, windows
/// that were none.
#[test]
fn a_definition_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = started(&compiled(folder.path(), SOURCE, &[]));
    let file = folder.path().join("house.toml");
    fs::write(&file, DEFINITION).unwrap();
    let options = [&["--runtime-file", file.to_str().unwrap()][..], &ALL_AS_JSON].concat();
    let tracer = attach(program.pid(), &options);
    program.tell("p50");
    assert_eq!(program.line(), "p50");
    let report = report_of(tracer);
    assert!(report.trace.complete, "{:?}", report.trace.incomplete);
    let runtime = &report.target.runtime;
    assert_eq!((runtime.name.as_str(), runtime.version.as_str()), ("housekeeper", "3.14"));
    // Each fifth says that it was none.
    assert_eq!((report.summary.pauses, report.windows.discarded), (40, 10));
    // Of 0..50 without multiples of 5: 13 each begin with 0 and 1 where 3 divides i, or i - 1, and 14 with 2.
    let expected: Vec<u64> =
        (0..3).map(|why| (0..50_u64).filter(|i| i % 5 != 0 && i % 3 == why).count() as u64).collect();
    let reasons = &report.summary.by_reason;
    let found = ["sweep", "move", "reason 2"].map(|name| reasons.get(name).copied().unwrap_or(0));
    assert_eq!(found, expected[..], "{reasons:?}");
    assert_eq!(
        (report.summary.collections, report.summary.other_stops),
        (expected[0] + expected[1], expected[2])
    );
    assert!(report.pauses.iter().all(|pause| pause.stopping_ns.is_some()));
    assert!(program.is_running());
}

/// A definition that can't be used says why, and where; nothing is traced.
#[test]
fn definitions_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let program = started(&compiled(folder.path(), SOURCE, &[]));
    let pid = program.pid().to_string();
    let cases = [
        (DEFINITION.replace("resumed", "resumes"), "resumes"),
        (DEFINITION.replace("(\\d+)", "(\\d+"), "can't be read"),
        (DEFINITION.replace("return:house_end", "return:usdt:a:b"), "only functions return"),
        (DEFINITION.split("[[windows]]").next().unwrap().to_owned(), "windows"),
        (DEFINITION.replace("\"house_begin\", \"house_end\"", "\"house_of_others\""), "house_of_others"),
        (DEFINITION.replace("return:house_end", "house_ends"), "house_newer_begin"),
    ];
    for (text, expected) in cases {
        let file = folder.path().join("house.toml");
        fs::write(&file, &text).unwrap();
        let arguments =
            ["attach", "--pid", &pid, "--duration", "1s", "--runtime-file", file.to_str().unwrap()];
        let (output, error) = said(&arguments);
        assert_eq!((output.status.code(), error.contains(expected)), (Some(1), true), "{expected}: {error}");
        assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let (output, error) = said(&["attach", "--pid", &pid, "--runtime-file", "/nowhere.toml"]);
    assert!(output.status.code() == Some(1) && error.contains("/nowhere.toml"), "{error}");
    let (output, error) = said(&["attach", "--pid", &pid, "--runtime", "hotspot"]);
    assert!(output.status.code() == Some(1) && error.contains("JNI_"), "{error}");
    let (output, error) = said(&["attach", "--pid", &pid, "--runtime", "sinclair-basic"]);
    assert!(output.status.code() == Some(1) && error.contains("sinclair-basic"), "{error}");
}

/// The catalogue can be listed, each definition shown, and what is shown can be given back.
#[test]
fn the_catalogue_is_listed() {
    let (output, _) = said(&["runtimes", "--format", "json"]);
    let entries: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> = entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    for name in [
        "go", "hotspot", "v8", "cpython", "dotnet", "ruby", "ocaml4", "ocaml5", "boehm", "mono", "ghc", "d",
        "sbcl",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let program = started(&compiled(folder.path(), SOURCE, &[]));
    for entry in &entries {
        let name = entry["name"].as_str().unwrap();
        assert!(!entry["tested"].as_array().unwrap().is_empty(), "{name} says nothing of tests");
        if name == "go" {
            continue;
        }
        let (shown, _) = said(&["runtimes", "--show", name]);
        assert!(shown.status.success(), "{name}");
        let file = folder.path().join(name);
        fs::write(&file, &shown.stdout).unwrap();
        let pid = program.pid().to_string();
        let (output, error) = said(&["attach", "--pid", &pid, "--runtime-file", file.to_str().unwrap()]);
        // Of the form, and not in this program.
        assert!(output.status.code() == Some(1) && error.contains("hold no runtime"), "{name}: {error}");
    }
    let (output, error) = said(&["runtimes", "--show", "go"]);
    assert!(output.status.code() == Some(1) && error.contains("hotspot"), "{error}");
    let (output, error) = said(&["runtimes", "--show", "cobol"]);
    assert!(output.status.code() == Some(1) && error.contains("cobol"), "{error}");
}

/// A function that is called all the time does not go on costing its program traps: the trace stops and says so, or watches
/// a share of the time.
#[test]
fn a_function_that_is_called_all_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = started(&compiled(folder.path(), SOURCE, &[]));
    let tracer = attach(
        program.pid(),
        &["--function", "small", "--top", "5", "--duration", "20s", "--format", "json"],
    );
    program.tell("c2000");
    let ended = tracer.ended();
    assert_eq!(ended.code(), 3, "{}", ended.stderr);
    let report = ended.report();
    assert_eq!((report.trace.ended, report.windows.unit), (Ended::TooOften, Unit::Call));
    let why = report.trace.incomplete.join("\n");
    assert!(why.contains("--sample") && why.contains("--max-rate"), "{why}");
    assert!(report.trace.duration_ns < 10_000_000_000, "it did not stop at once");
    assert_eq!(program.line(), "c2000");

    // As much as is asked for, and no more: the program is free of probes in between.
    let options = ["--function", "small", "--sample", "20%", "--max-rate", "100000000", "--top", "5"];
    let tracer = attach(program.pid(), &[&options[..], &["--duration", "8s", "--format", "json"]].concat());
    program.tell("c7000");
    let report = tracer.ended().report();
    let sampled = report.windows.sampled.unwrap();
    assert!(sampled.rounds >= 2, "{sampled:?}");
    let share = sampled.watched_ns as f64 / report.trace.duration_ns as f64;
    // Placing and taking away has its own length, which the rest of a round makes up for in the end.
    assert!((0.05..0.5).contains(&share), "{share}: {sampled:?}");
    assert!(report.summary.pauses > 0);
    assert_eq!(report.trace.ended, Ended::Duration);
    // Of each round at most the first and the last call are not seen whole, and none is said to have left otherwise.
    let not_whole = |state| report.summary.by_state.get(&state).copied().unwrap_or(0);
    assert_eq!(not_whole(State::LeftWithoutReturn), 0, "{:?}", report.summary.by_state);
    let cut = not_whole(State::OpenAtAttach) + not_whole(State::CutOff);
    assert!(cut <= 2 * sampled.rounds, "{sampled:?}: {:?}", report.summary.by_state);
    assert!(report.pauses.iter().filter_map(|call| call.call).all(|call| call.inner_calls == 0));
    assert_eq!(program.line(), "c7000");
    assert!(program.is_running());
}

/// 100,000 functions and 100 MB more: attaching takes hardly longer than to a small program, whatever is looked for.
#[test]
fn attaching_to_a_large_program() {
    const FUNCTIONS: usize = 100_000;
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small");
    fs::create_dir(&small).unwrap();
    let small = compiled(&small, SOURCE, &[]);
    let mut assembly = String::from(".text\n");
    for n in 0..FUNCTIONS {
        let name = format!("_ZN7service7handler{n}Ev");
        assembly.push_str(&format!(".globl {name}\n.type {name},@function\n{name}: ret\n.size {name},1\n"));
    }
    assembly.push_str(
        ".section .rodata\n.fill 13107200,8,0x4142434445464748\n.section .note.GNU-stack,\"\",@progbits\n",
    );
    let functions = folder.path().join("functions.s");
    fs::write(&functions, assembly).unwrap();
    let large = compiled(folder.path(), SOURCE, &[functions.to_str().unwrap()]);
    assert!(fs::metadata(&large).unwrap().len() > 100_000_000);

    let definition = folder.path().join("house.toml");
    fs::write(&definition, DEFINITION).unwrap();
    let definition = ["--runtime-file", definition.to_str().unwrap()];
    for options in [
        &definition[..],
        &["--function", "_ZN7service7handler77777Ev"],
        &["--enter", "house_begin", "--exit", "return:house_end"],
    ] {
        let attach_ns = |program: &Path| {
            let program = started(program);
            let best = (0..5).map(|_| {
                let options = [options, &["--duration", "100ms", "--format", "json"]].concat();
                attach(program.pid(), &options).ended().report().trace.overhead.attach_ns.unwrap()
            });
            best.min().unwrap()
        };
        let function_of_large = options[0] == "--function";
        let large_ns = attach_ns(&large);
        let small_ns = if function_of_large { 0 } else { attach_ns(&small) };
        println!("{options:?}: {} ms, {} ms for a small program", large_ns / 1_000_000, small_ns / 1_000_000);
        assert!(large_ns < 500_000_000 || large_ns < small_ns + 250_000_000, "{large_ns} {small_ns}");
    }
}
