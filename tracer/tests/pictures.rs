//! Pictures of real recordings: all of them add up to the same, read with the tools that people open them with, and names
//! that try to break them come through.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod go;
#[path = "support/jdk.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod jdk;
#[path = "support/pauselens.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod pauselens;
#[path = "support/pictures.rs"]
mod pictures;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::Command,
    time::Duration,
};

use attached::{Running, as_root, attach, report_of};
use jdk::{Jvm, Program};
use pictures::{Pictures, Sums};
use serde_json::Value;
use tracer::report::model::Report;

/// The numbers of a table's one row.
#[track_caller]
fn row(rows: &[Vec<Value>]) -> Vec<u64> {
    let [row] = rows else { panic!("one row: {rows:?}") };
    // The sum of nothing is null.
    row.iter().map(|value| value.as_u64().unwrap_or_else(|| value.is_null().then_some(0).unwrap())).collect()
}

/// Everything that is said of this recording adds up to the summary of the report that `attach` gave.
fn all_agree(name: &str, recording: &Path, report: &Report) -> Pictures {
    let pictures = Pictures::of(recording);
    let summary = &report.summary;
    let sums = Sums { faults: summary.faults, ns: summary.in_faults_ns };
    assert!(sums.faults > 0 && sums.ns > 0 && summary.pauses > 0, "{name}: there is something to add up");
    assert_eq!(pictures.json(), serde_json::to_value(summary).unwrap(), "{name}: JSON");
    assert_eq!(pictures.folded(), sums, "{name}: folded stacks");
    assert_eq!(pictures.flame_graphs(), sums, "{name}: flame graphs");
    pprof_agrees(name, &pictures, sums);
    perfetto_agrees(name, &pictures, report);
    let html = &pictures.html()["processes"][0];
    assert_eq!(html["summary"], serde_json::to_value(summary).unwrap(), "{name}: HTML");
    let root = Sums {
        faults: html["flame"]["count"][0].as_u64().unwrap(),
        ns: html["flame"]["ns"][0].as_u64().unwrap(),
    };
    assert_eq!(root, sums, "{name}: HTML's flame graph");
    csv_agrees(name, &pictures, report);
    pictures
}

fn pprof_agrees(name: &str, pictures: &Pictures, sums: Sums) {
    let profile = pictures.profile();
    let sum =
        |value: usize| profile.sample.iter().map(|sample| u64::try_from(sample.value[value]).unwrap()).sum();
    assert_eq!(Sums { faults: sum(0), ns: sum(1) }, sums, "{name}: profile");
    assert_eq!(pictures.pprof_raw(), sums, "{name}: pprof -raw");
    let top = pictures.pprof(&["-top", "-unit=ns", "-sample_index=fault_time"]);
    assert!(top.contains(&format!("{}ns total", sums.ns)), "{name}: {top}");
    let top = pictures.pprof(&["-top", "-sample_index=faults"]);
    assert!(top.contains(&format!("of {} total", sums.faults)), "{name}: {top}");
}

const FAULTS_DRAWN: &str = "select count(*), sum(dur) from slice where category = 'fault'
    and extract_arg(arg_set_id, 'debug.in_summary')";
const FAULTS_WITHOUT_DETAILS: &str = "select sum(extract_arg(arg_set_id, 'debug.faults')),
    sum(extract_arg(arg_set_id, 'debug.in_faults_ns')) from slice where name = '[details dropped]'";

fn perfetto_agrees(name: &str, pictures: &Pictures, report: &Report) {
    let summary = &report.summary;
    let answers = pictures.perfetto(&[
        "select count(*), sum(dur) from slice where category = 'pause'",
        "select sum(dur) from slice where category = 'budget'",
        FAULTS_DRAWN,
        FAULTS_WITHOUT_DETAILS,
        "select sum(extract_arg(arg_set_id, 'debug.faults')), sum(extract_arg(arg_set_id, 'debug.in_faults_ns'))
            from slice where category = 'pause'",
        "select max(value) from counter join counter_track on track_id = counter_track.id
            where name = 'faults in pauses so far'",
        "select max(value) from counter join counter_track on track_id = counter_track.id
            where name = 'time in faults in pauses so far'",
        "select min(value) from counter join counter_track on track_id = counter_track.id
            where name = 'resident memory'",
        "select count(*) from slice where category in ('fault', 'pause', 'phase') and dur < 0",
        "select count(*) from slice join thread_track on track_id = thread_track.id join thread using (utid)
            where category = 'fault'",
        "select count(*) from slice where category = 'fault'",
        "select count(*) from slice phase join slice pause on phase.parent_id = pause.id
            where phase.category = 'phase' and pause.category = 'pause'
            and phase.ts >= pause.ts and phase.ts + phase.dur <= pause.ts + pause.dur",
        "select count(*) from slice where category = 'phase'",
        "select sum(value) from stats where severity in ('error', 'data_loss')",
        "select count(*) from counter join counter_track on track_id = counter_track.id
            where name = 'host reads from swap' and value >= 0",
        "select count(*) from counter join counter_track on track_id = counter_track.id
            where name = 'host stalled on memory' and value between 0 and 101",
        "select count(*) from counter join counter_track on track_id = counter_track.id
            where name = 'host stalled on memory'",
    ]);
    let numbers: Vec<Vec<u64>> = answers
        .iter()
        .map(|rows| match rows.first().and_then(|row| row[0].as_f64()) {
            // Counters are floating-point numbers there.
            Some(value) if !rows[0][0].is_u64() => vec![value as u64],
            _ => row(rows),
        })
        .collect();
    assert_eq!(numbers[0], [summary.pauses, summary.paused_ns], "{name}: pauses");
    if let Some(budget) = &summary.budget {
        assert_eq!(numbers[1], [budget.sum_ns()], "{name}: budgets");
    }
    let (drawn, dropped) = (&numbers[2], &numbers[3]);
    let all = [drawn[0] + dropped[0], drawn[1] + dropped[1]];
    assert_eq!(
        all,
        [summary.faults, summary.in_faults_ns],
        "{name}: faults, {drawn:?} and {dropped:?} without details"
    );
    assert_eq!(numbers[4], [summary.faults, summary.in_faults_ns], "{name}: what pauses say of faults");
    assert_eq!(
        (&numbers[5][..], &numbers[6][..]),
        (&[summary.faults][..], &[summary.in_faults_ns][..]),
        "{name}: counters"
    );
    assert!(numbers[7][0] > 1 << 20, "{name}: resident memory {:?}", numbers[7]);
    assert_eq!(numbers[8], [0], "{name}: all slices have ended");
    assert_eq!(numbers[9], numbers[10], "{name}: faults are on their threads' tracks");
    assert_eq!(numbers[11], numbers[12], "{name}: phases are inside their pauses");
    assert!(numbers[12][0] >= summary.pauses, "{name}: {:?}", numbers[12]);
    assert_eq!(numbers[13], [0], "{name}: trace_processor has no complaint");
    assert!(numbers[14][0] >= 1, "{name}: rates of swapping {:?}", numbers[14]);
    assert_eq!(numbers[15], numbers[16], "{name}: shares of time that tasks stalled");
    assert_eq!(Path::new("/proc/pressure/memory").exists(), numbers[16][0] >= 1, "{name}");
}

/// One line for each pause; what they say adds up.
fn csv_agrees(name: &str, pictures: &Pictures, report: &Report) {
    let text = pictures.text("csv", "time");
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap().trim_end().split(',').collect();
    let place = |column: &str| columns.iter().position(|name| *name == column).unwrap();
    let (faults, state) = (place("faults"), place("state"));
    // No field before these has a comma in it here.
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let complete = rows.iter().filter(|row| row[state] == "complete");
    let sum: u64 = complete.clone().map(|row| row[faults].parse::<u64>().unwrap()).sum();
    assert_eq!((complete.count() as u64, sum), (report.summary.pauses, report.summary.faults), "{name}: CSV");
}

#[test]
fn all_pictures_of_a_go_program_under_swap_agree() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let (recording, report) = (folder.path().join("run.jsonl.zst"), folder.path().join("report.json"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/workloads/swap-pause/run");
    let mut command = Command::new(script);
    command
        .args(["--go", "1.27.3", "--graph-mb", "40", "--rounds", "4", "--pauselens"])
        .arg(pauselens::binary());
    command
        .args(["--", "--all", "--format", "json", "--output"])
        .arg(&report)
        .arg("--record")
        .arg(&recording);
    let ended = Running::start_tidy(command).ended_within(Duration::from_secs(180));
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report: Report = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    let pictures = all_agree("Go", &recording, &report);
    let top = pictures.pprof(&["-top", "-cum", "-nodecount=1000"]);
    assert!(top.contains("Type: fault_time") && top.contains("runtime.gcStart"), "{top}");
    let tags = pictures.pprof(&["-tags"]);
    assert!(tags.contains("swap_in") && tags.contains("GC sweep termination"), "{tags}");
    // The program has a build id of its own, and its code is named by it.
    let profile = pictures.profile();
    let program = &profile.mapping[0];
    let string = |place: i64| &profile.string_table[usize::try_from(place).unwrap()];
    assert_eq!(string(program.filename), &report.target.exe);
    if let Some(build_id) = &report.target.build_id {
        assert_eq!(string(program.build_id), build_id);
    }
    assert!(profile.location.iter().filter(|location| location.mapping_id == program.id).count() > 3);
    for path in ["/ui/flamegraph", "/ui/top"] {
        let page = pictures.pprof_page(path);
        assert!(page.contains("runtime.gcStart"), "{path}");
    }
}

#[test]
fn all_pictures_of_a_jvm_s_full_collection_agree() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.jsonl.zst");
    let program = Program::compile();
    let mut jvm = Jvm::start("21", &program, &["-XX:+UseSerialGC", "-Xmx256m"]);
    jvm.does("fill 60");
    let tracer = attach(jvm.pid(), &["--all", "--format", "json", "--record", recording.to_str().unwrap()]);
    jvm.does("gc 2");
    let report = report_of(tracer);
    assert!(
        report.summary.by_reason.keys().any(|reason| reason.contains("CollectFull")),
        "{:?}",
        report.summary
    );
    all_agree("JVM", &recording, &report);
}

/// The fixture, recorded.
fn demo(recording: &Path) -> Report {
    let options = ["--all", "--record", recording.to_str().unwrap()];
    let (_, traced) = pauselens::trace(&["--rounds", "6", "--gap", "5ms"], &options);
    traced.report()
}

#[test]
fn all_pictures_of_the_demo_agree() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.jsonl.zst");
    let report = demo(&recording);
    assert!(report.summary.by_kind.len() > 3, "faults of several kinds: {:?}", report.summary.by_kind);
    all_agree("demo", &recording, &report);
}

/// Calls in many goroutines at the same time, some of which were too short to be told of: slices that overlap are on tracks
/// of their own, and what has no place in time is said at the end.
#[test]
fn calls_that_overlap_are_drawn_apart_and_short_ones_are_a_remainder() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("calls.go"), folder.path().join("calls"));
    fs::write(&source, include_str!("support/calls.go")).unwrap();
    go::build("1.27.3", &source, &program, &[]);
    let recording = folder.path().join("run.jsonl.zst");
    let mut command = Command::new(&program);
    command.env("GOMAXPROCS", "2").env_remove("GOGC").env_remove("GODEBUG");
    let mut running = Running::start(command);
    assert_eq!(running.line(), "ready");
    let options =
        ["--function", "main.touched", "--longer-than", "300us", "--all", "--format", "json", "--record"];
    let options = [&options[..], &[recording.to_str().unwrap()]].concat();
    let tracer = attach(running.pid(), &options);
    for command in ["touch", "lengths"] {
        running.tell(command);
        assert_eq!(running.line(), command);
    }
    let report = report_of(tracer);
    let (summary, short) = (&report.summary, report.windows.short.unwrap());
    assert!(short.count > 0 && short.faults > 0 && summary.pauses > short.count, "{short:?} {summary:?}");
    let sums = Sums { faults: summary.faults, ns: summary.in_faults_ns };
    let pictures = Pictures::of(&recording);
    assert_eq!(pictures.folded(), sums);
    assert_eq!(pictures.flame_graphs(), sums);
    pprof_agrees("calls", &pictures, sums);
    let rows = pictures.perfetto(&[
        "select count(*), sum(dur) from slice where category = 'pause'",
        FAULTS_DRAWN,
        FAULTS_WITHOUT_DETAILS,
        "select count(*), min(dur) from slice where category in ('pause', 'fault', 'budget')",
        "select count(*) from slice where category in ('pause', 'fault', 'budget') and depth > 0",
        "select count(distinct track_id) from slice where category = 'pause'",
        "select sum(value) from stats where severity in ('error', 'data_loss')",
    ]);
    assert_eq!(row(&rows[0]), [summary.pauses - short.count, summary.paused_ns - short.ns]);
    let (drawn, dropped) = (row(&rows[1]), row(&rows[2]));
    assert!(dropped[0] >= short.faults, "{dropped:?} {short:?}");
    assert_eq!([drawn[0] + dropped[0], drawn[1] + dropped[1]], [sums.faults, sums.ns]);
    // Nothing is left open, and nothing is inside another one: calls are not, faults are not.
    row(&rows[3]);
    assert_eq!(row(&rows[4]), [0]);
    assert!(row(&rows[5])[0] > 1, "calls overlap: {:?}", rows[5]);
    assert_eq!(row(&rows[6]), [0]);
}

/// A recording that had no room for most of its faults.
#[test]
fn all_pictures_agree_when_details_had_to_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.jsonl.zst");
    let options = ["--record", recording.to_str().unwrap(), "--max-size", "256KiB"];
    let (_, traced) =
        pauselens::trace(&["--first-touch", "5000", "--rounds", "20", "--gap", "5ms"], &options);
    let summary = traced.report().summary;
    let sums = Sums { faults: summary.faults, ns: summary.in_faults_ns };
    let pictures = Pictures::of(&recording);
    assert_eq!(pictures.json(), serde_json::to_value(&summary).unwrap());
    assert_eq!(pictures.folded(), sums);
    assert_eq!(pictures.flame_graphs(), sums);
    pprof_agrees("limited", &pictures, sums);
    let rows = pictures.perfetto(&[FAULTS_DRAWN, FAULTS_WITHOUT_DETAILS]);
    let (drawn, dropped) = (row(&rows[0]), row(&rows[1]));
    assert!(dropped[0] > sums.faults / 2, "{dropped:?} of {sums:?}");
    assert_eq!([drawn[0] + dropped[0], drawn[1] + dropped[1]], [sums.faults, sums.ns]);
    let html = &pictures.html()["processes"][0]["flame"];
    assert_eq!((html["count"][0].as_u64(), html["ns"][0].as_u64()), (Some(sums.faults), Some(sums.ns)));
}

/// A recording in which every name that a program can choose is replaced by one that tries to break things.
fn with_hostile_names(from: &Path, to: &Path) {
    let nasty =
        format!("\x1b[2J\x1b]0;owned\x07{}\n\t\u{202e};<a b=\"&\">--]]>\\x0a\u{fffe}", "n".repeat(4_096));
    let lines = BufReader::new(zstd::Decoder::new(fs::File::open(from).unwrap()).unwrap());
    let mut out = zstd::Encoder::new(fs::File::create(to).unwrap(), 1).unwrap();
    for line in lines.lines() {
        let mut line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match line["type"].as_str().unwrap() {
            "header" => line["host"]["name"] = nasty.clone().into(),
            "process" => line["target"]["exe"] = nasty.clone().into(),
            "names" => {
                for frame in line["frames"].as_array_mut().unwrap() {
                    let name = frame["name"].as_str().unwrap().to_owned();
                    frame["name"] = format!("{name}{nasty}").into();
                }
            }
            "mapping" => line["file"] = nasty.clone().into(),
            "fault" => line["what"] = nasty.clone().into(),
            "pause" => line["reason"] = nasty.clone().into(),
            "process_end" => {
                line["report"]["target"]["exe"] = nasty.clone().into();
                for thread in line["report"]["trace"]["threads"].as_array_mut().unwrap() {
                    thread["name"] = nasty.clone().into();
                }
                for pause in line["report"]["pauses"].as_array_mut().unwrap() {
                    pause["reason"] = nasty.clone().into();
                }
            }
            _ => {}
        }
        serde_json::to_writer(&mut out, &line).unwrap();
        out.write_all(b"\n").unwrap();
    }
    out.finish().unwrap();
}

#[test]
fn hostile_names_come_through_every_picture() {
    let folder = tempfile::tempdir().unwrap();
    let (honest, hostile) = (folder.path().join("honest.jsonl.zst"), folder.path().join("hostile.jsonl.zst"));
    let report = demo(&honest);
    with_hostile_names(&honest, &hostile);
    let sums = Sums { faults: report.summary.faults, ns: report.summary.in_faults_ns };
    let pictures = Pictures::of(&hostile);
    assert_eq!(pictures.folded(), sums);
    assert_eq!(pictures.flame_graphs(), sums);
    assert_eq!(pictures.pprof_raw(), sums);
    let inert = |what: &str, text: &str| {
        let acts = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{fffe}');
        assert!(!text.contains(acts), "{what}");
        assert!(text.contains(r"\x1b[2J\x1b]0"), "{what}");
    };
    inert("folded stacks", &pictures.text("folded", "time"));
    inert("flame graph", &pictures.text("flamegraph", "time"));
    let profile = pictures.profile();
    for string in &profile.string_table {
        assert!(!string.contains(char::is_control), "{string}");
    }
    let page = pictures.pprof_page("/ui/flamegraph");
    assert!(!page.contains("<a b="), "pprof's page");
    let rows = pictures.perfetto(&[
        FAULTS_DRAWN,
        "select distinct name from slice where category = 'pause'",
        "select distinct extract_arg(arg_set_id, 'debug.function') from slice where category = 'fault'",
        "select name from process where pid > 0",
    ]);
    assert_eq!(row(&rows[0]), [sums.faults, sums.ns]);
    for name in rows[1..].iter().flatten() {
        inert("Perfetto", name[0].as_str().unwrap());
    }
}
