//! Recordings that are kept in the repository, one for each version of the schema, and what becomes of a recording that is
//! damaged: what the program prints, and its exit status.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;
#[path = "support/shell_tools.rs"]
mod shell_tools;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use attached::{Ended, Running, pauselens};
use serde_json::{Value, json};
use shell_tools::shell_tools;
use tempfile::TempDir;
use tracer::{
    recording::{Item, Recording, Wanted},
    report::{
        model::{Ended as TraceEnded, Report, State},
        processes::ProcessesReport,
    },
};

/// Recorded with the first version: `pauselens demo --record`.
const V1: &str = "v1.jsonl.zst";

/// Two processes, in a cgroup, with the state of memory at the ends of their pauses: `attach --pid A,B --record`.
const V1_SEVERAL: &str = "v1-several.jsonl.zst";

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(name)
}

/// `pauselens report`, with these arguments.
#[track_caller]
fn report(file: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new(pauselens());
    command.arg("report").arg(file).args(arguments).env("NO_COLOR", "1");
    Running::start(command).ended()
}

/// Writes a recording, reports it as JSON.
#[track_caller]
fn report_of(bytes: &[u8], folder: &Path) -> Ended {
    let file = folder.join("run.jsonl.zst");
    fs::write(&file, bytes).unwrap();
    report(&file, &["--format", "json"])
}

fn lines(name: &str) -> Vec<Value> {
    let text = zstd::decode_all(fs::File::open(kept(name)).unwrap()).unwrap();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn of_type<'a>(lines: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| line["type"] == name)
}

/// Where each frame of the file ends.
fn frame_ends(bytes: &[u8]) -> Vec<usize> {
    let magic = [0x28, 0xb5, 0x2f, 0xfd];
    let begins = bytes.windows(4).enumerate().filter(|(_, window)| *window == magic);
    begins.map(|(at, _)| at).skip(1).chain([bytes.len()]).collect()
}

/// The report that is inside, as `attach` printed it.
fn recorded_report(lines: &[Value]) -> Report {
    let end = of_type(lines, "process_end").next().unwrap();
    serde_json::from_value(end["report"].clone()).unwrap()
}

#[test]
fn the_first_version_reads_to_the_report_that_was_recorded() {
    let lines = lines(V1);
    let expected = recorded_report(&lines);
    let ended = report(&kept(V1), &["--format", "json"]);
    assert_eq!((ended.code(), ended.stderr.as_str()), (0, ""), "{}", ended.told());
    assert_eq!(ended.report(), expected);
    assert_eq!(ended.stdout, tracer::report::json::render(&expected).unwrap());
    let text = report(&kept(V1), &[]);
    assert_eq!(text.code(), 0);
    assert_eq!(text.stdout, tracer::report::text::render(&expected, &tracer::report::text::Style::default()));

    let recording = Recording::open(&kept(V1)).unwrap();
    let (mut pauses, mut faults, mut fault_ns) = (Vec::new(), 0, 0);
    recording
        .each(Wanted { pauses: true, faults: true }, |item| match item {
            Item::Pause(recorded, mut pause) => {
                recorded.name(&mut pause);
                pauses.push(*pause);
            }
            Item::Fault(_, fault) => {
                faults += 1;
                fault_ns += fault.ns;
            }
        })
        .unwrap();
    let end = recording.end.as_ref().unwrap();
    assert_eq!((pauses.len() as u64, faults), (end.pauses, end.faults));
    assert_eq!(
        (pauses.len(), faults as usize),
        (of_type(&lines, "pause").count(), of_type(&lines, "fault").count())
    );
    assert_eq!(fault_ns, of_type(&lines, "fault").map(|fault| fault["ns"].as_u64().unwrap()).sum::<u64>());
    assert!(faults > 1000 && recording.processes[0].mappings.len() > 2);
    // The lines of the pauses are the report's own pauses, all of which it lists.
    pauses.sort_by_key(|pause| (std::cmp::Reverse(pause.duration_ns), pause.id));
    assert_eq!(pauses, expected.pauses);
}

#[test]
fn more_or_fewer_pauses_than_were_listed() {
    let expected = recorded_report(&lines(V1));
    let two = report(&kept(V1), &["--format", "json", "--top", "2"]).report();
    assert_eq!(two.pauses, expected.pauses[..2]);
    let all = report(&kept(V1), &["--format", "json", "--all"]).report();
    assert_eq!(all, expected);
    let by_number = report(&kept(V1), &["--format", "json", "--process", "1"]).report();
    assert_eq!(by_number, expected);
    let nobody = report(&kept(V1), &["--process", "4000000"]);
    assert_eq!(nobody.code(), 1);
    assert!(nobody.stderr.contains("no process 4000000"), "{}", nobody.told());
}

/// What only the end of a trace tells is unknown, everything else is the same.
#[test]
fn without_its_last_lines_the_report_is_rebuilt_from_the_pauses() {
    let lines = lines(V1);
    let expected = recorded_report(&lines);
    let folder = TempDir::new().unwrap();
    let kept = lines
        .iter()
        .filter(|line| !["names", "process_end", "end"].contains(&line["type"].as_str().unwrap()));
    let text: String = kept.map(|line| format!("{line}\n")).collect();
    let ended = report_of(text.as_bytes(), folder.path());
    assert_eq!(ended.code(), 3, "{}", ended.told());
    assert!(ended.stderr.contains("its last line is missing"), "{}", ended.told());
    let report = ended.report();
    assert_eq!(report.trace.ended, TraceEnded::RecordingCutOff);
    assert!(!report.trace.complete);
    let mut summary = report.summary.clone();
    // Read when the trace ends.
    assert_eq!((&summary.throttling, &summary.memory_limit), (&None, &None));
    summary.throttling.clone_from(&expected.summary.throttling);
    summary.memory_limit.clone_from(&expected.summary.memory_limit);
    assert_eq!(summary, expected.summary);
    assert_eq!((&report.target, &report.trace.plan), (&expected.target, &expected.trace.plan));
    assert_eq!((report.trace.reconciliation.minor, report.trace.overhead.attach_ns), (None, None));
    let ids = |report: &Report| report.pauses.iter().map(|pause| pause.id).take(5).collect::<Vec<_>>();
    assert_eq!(ids(&report), ids(&expected));
    let rules = |report: &Report| report.diagnosis.iter().map(|found| found.rule.clone()).collect::<Vec<_>>();
    assert_eq!(rules(&report), rules(&expected));
    // Names are written at the end: on another host, functions are told by where their code is.
    let frames: Vec<&String> =
        report.pauses.iter().flat_map(|pause| &pause.stacks).flat_map(|stack| &stack.frames).collect();
    assert!(frames.iter().any(|frame| frame.starts_with("[pauselens+0x")), "{:?}", frames.first());
}

#[test]
fn cut_off_at_every_thousandth_byte() {
    let bytes = fs::read(kept(V1)).unwrap();
    let expected = recorded_report(&lines(V1));
    let folder = TempDir::new().unwrap();
    let ends = frame_ends(&bytes);
    let (mut pauses_before, mut refused) = (0, 0);
    for length in (0..bytes.len()).step_by(1000) {
        let ended = report_of(&bytes[..length], folder.path());
        if ended.code() == 1 {
            assert!(length < ends[1], "{length}: {}", ended.told());
            assert_eq!(ended.stdout, "");
            assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.told());
            refused += 1;
            continue;
        }
        assert_eq!(ended.code(), 3, "{length}: {}", ended.told());
        assert!(ended.stderr.contains("cut off"), "{length}: {}", ended.told());
        let pauses = ended.report().summary.by_state.get(&State::Complete).copied().unwrap_or(0);
        assert!(pauses >= pauses_before && pauses <= expected.summary.pauses, "{length}: {pauses}");
        pauses_before = pauses;
    }
    assert!(refused >= 1 && pauses_before > expected.summary.pauses / 2, "{refused}, {pauses_before}");
}

#[test]
fn damaged_in_the_middle() {
    let bytes = fs::read(kept(V1)).unwrap();
    let ends = frame_ends(&bytes);
    assert!(ends.len() >= 4, "{ends:?}");
    let expected = recorded_report(&lines(V1));
    let folder = TempDir::new().unwrap();
    for at in [ends[0] + 30, (ends[1] + ends[2]) / 2] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let ended = report_of(&damaged, folder.path());
        assert_eq!(ended.code(), 3, "{at}: {}", ended.told());
        assert_eq!(ended.report(), expected, "it was recorded at the end");
        for told in ["can't be decoded", "faults are missing"] {
            assert!(ended.stderr.contains(told), "{told}: {}", ended.told());
        }
        let csv = report(&folder.path().join("run.jsonl.zst"), &["--format", "csv"]);
        assert_eq!(csv.code(), 3);
    }
    // A hole of zeros, as a disk that went away leaves it.
    let mut holed = bytes.clone();
    holed[ends[0]..ends[2]].fill(0);
    let ended = report_of(&holed, folder.path());
    assert_eq!((ended.code(), ended.report()), (3, expected), "{}", ended.stderr);
}

#[test]
fn newer_empty_and_foreign_files() {
    let folder = TempDir::new().unwrap();
    let text: String = lines(V1).iter().map(|line| format!("{line}\n")).collect();
    let newer = text.replacen("pauselens.recording/1", "pauselens.recording/2", 1);
    let newer =
        newer.replacen("{\"type\":\"fault\"", "{\"type\":\"weather\",\"sun\":true}\n{\"type\":\"fault\"", 1);
    let ended = report_of(newer.as_bytes(), folder.path());
    assert_eq!((ended.code(), ended.report()), (3, recorded_report(&lines(V1))));
    for told in ["recorded by a newer pauselens", "1 \"weather\""] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.told());
    }
    let foreign: [(&[u8], &str); 5] = [
        (b"", "it is empty"),
        (b"\x7fELF\x02\x01\x01", "program or library"),
        (b"plain words\n", "neither a zstd frame nor a line of JSON"),
        (b"{\"name\":\"somebody's\"}\n", "none of its lines is one of a recording"),
        (b"{\"schema\":\"pauselens.report/1\"}\n", "it is a report of pauselens"),
    ];
    for (bytes, told) in foreign {
        let ended = report_of(bytes, folder.path());
        assert_eq!((ended.code(), ended.stdout.as_str()), (1, ""), "{}", ended.told());
        assert!(ended.stderr.contains(told) && ended.stderr.lines().count() == 1, "{told}: {}", ended.told());
        assert!(ended.stderr.contains("`pauselens record"), "it says what to do next: {}", ended.told());
    }
    let missing = report(&folder.path().join("none"), &[]);
    assert_eq!(missing.code(), 1);
    assert!(missing.stderr.contains("none can't be read"), "{}", missing.told());
    let a_folder = report(folder.path(), &[]);
    assert_eq!((a_folder.code(), a_folder.stderr.lines().count()), (1, 1), "{}", a_folder.told());
}

#[test]
fn wrong_usage_and_places_that_cannot_be_written() {
    let wrong = report(&kept(V1), &["--format", "picture"]);
    assert_eq!(wrong.code(), 2, "{}", wrong.told());
    assert_eq!(report(&kept(V1), &["--top", "3", "--all"]).code(), 2);
    let nowhere = report(&kept(V1), &["-o", "/nonexistent/report"]);
    assert_eq!(nowhere.code(), 1);
    assert!(nowhere.stderr.contains("can't be written"), "{}", nowhere.told());
    let folder = TempDir::new().unwrap();
    let copy = folder.path().join("run.jsonl.zst");
    fs::copy(kept(V1), &copy).unwrap();
    let itself = report(&copy, &["-o", copy.to_str().unwrap()]);
    assert_eq!(itself.code(), 1, "{}", itself.told());
    assert_eq!(fs::read(&copy).unwrap(), fs::read(kept(V1)).unwrap(), "it is as it was");
}

#[test]
fn a_table_of_pauses() {
    let expected = recorded_report(&lines(V1));
    let ended = report(&kept(V1), &["--format", "csv"]);
    assert_eq!((ended.code(), ended.stderr.as_str()), (0, ""));
    let mut table = csv::Reader::from_reader(ended.stdout.as_bytes());
    let heading = table.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), expected.pauses.len());
    let column = |name: &str| heading.iter().position(|column| column == name).unwrap();
    let sum = |name: &str| rows.iter().map(|row| row[column(name)].parse::<u64>().unwrap_or(0)).sum::<u64>();
    assert_eq!(sum("duration_ns"), expected.summary.paused_ns);
    assert_eq!(
        (sum("faults"), sum("in_faults_ns")),
        (expected.summary.faults, expected.summary.in_faults_ns)
    );
    for (kind, total) in &expected.summary.by_kind {
        let of_kind = (sum(&format!("{}_faults", kind.word())), sum(&format!("{}_fault_ns", kind.word())));
        assert_eq!(of_kind, (total.count, total.ns), "{kind:?}");
    }
    let budget = expected.summary.budget.unwrap();
    for part in budget.parts() {
        assert_eq!(sum(&format!("{}_ns", part.name)), part.ns, "{}", part.name);
    }
}

#[test]
fn several_processes_of_the_first_version_read_to_the_reports_that_were_recorded() {
    let lines = lines(V1_SEVERAL);
    let mut expected: Vec<Report> = of_type(&lines, "process_end")
        .map(|end| serde_json::from_value(end["report"].clone()).unwrap())
        .collect();
    // The one that ended first comes first there.
    expected.sort_by_key(|report| report.target.pid);
    let ended = report(&kept(V1_SEVERAL), &["--format", "json"]);
    assert_eq!((ended.code(), ended.stderr.as_str()), (0, ""), "{}", ended.told());
    let read: ProcessesReport = serde_json::from_str(&ended.stdout).unwrap();
    assert!(read.processes.len() == 2 && read.processes == expected);
    let recording = Recording::open(&kept(V1_SEVERAL)).unwrap();
    assert_eq!(Some(&read.trace), recording.end.as_ref().unwrap().trace.as_ref());

    for expected in &expected {
        let pid = expected.target.pid.to_string();
        let one = report(&kept(V1_SEVERAL), &["--format", "json", "--process", &pid]);
        assert_eq!((one.code(), &one.report()), (0, expected));
        // The states of memory in the pauses are those of the lines.
        for pause in &expected.pauses {
            let memory = pause.memory.as_ref().unwrap();
            let is_there = of_type(&lines, "memory").any(|line| {
                line["at_ns"] == memory.at_ns && line["resident_bytes"] == memory.resident_bytes.unwrap()
            });
            assert!(is_there && memory.cgroup.as_ref().unwrap().path == "/pauselens-golden", "{memory:?}");
        }
    }
    let text = report(&kept(V1_SEVERAL), &[]);
    assert!(text.stdout.contains("memory at its end: "), "{}", text.told());
}

/// Every input that the fuzzer has found worth keeping.
#[test]
fn whatever_the_fuzzer_kept_is_read_without_a_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let mut read = 0;
    for target in ["file", "lines", "sides"] {
        for entry in fs::read_dir(corpus.join(target)).unwrap() {
            let mut bytes = fs::read(entry.unwrap().path()).unwrap();
            if target != "file" {
                bytes = zstd::encode_all(&bytes[..], 1).unwrap();
            }
            if target == "sides" {
                compare_with_the_first_version(&bytes);
            } else {
                use_all(&bytes);
            }
            read += 1;
        }
    }
    assert!(read > 20, "{read}");
}

fn compare_with_the_first_version(bytes: &[u8]) {
    use tracer::{
        compare::{Input, Options, compare},
        report::{
            compare::{render_html, render_json},
            text::render_comparison,
        },
    };
    let input = |recording| [Input { recording }];
    let (Ok(one), Ok(other)) =
        (Recording::open(&kept(V1)), Recording::of_bytes(bytes, Path::new("kept.jsonl.zst")))
    else {
        return;
    };
    let options = Options { process: None, seed: 1, smallest_difference: 0.05 };
    let Ok(compared) = compare(&input(one), &input(other), &options) else { return };
    let _ = render_comparison(&compared.comparison, &Default::default());
    let _ = render_html(&compared.comparison);
    render_json(&compared.comparison).unwrap();
}

fn use_all(bytes: &[u8]) {
    use tracer::report::pictures::{self, Listed, Picture, Wish};
    let Ok(recording) = Recording::of_bytes(bytes, Path::new("kept.jsonl.zst")) else { return };
    for picture in Picture::ALL {
        let by = tracer::report::samples::By::Time;
        let wish = Wish { picture, style: Default::default(), listed: Listed::AsRecorded, by };
        let _ = pictures::write(&recording, &wish, &mut std::io::sink());
    }
}

/// The command of docs/recording.md that has `jq` look for the worst pause.
#[test]
fn the_documented_command_finds_the_worst_pause() {
    let document = include_str!("../../docs/recording.md");
    let (_, rest) = document.split_once("```sh\nzstdcat ").unwrap();
    let line = format!("zstdcat {}", rest.split_once("\n```").unwrap().0);
    let folder = TempDir::new().unwrap();
    fs::copy(kept(V1), folder.path().join("run.jsonl.zst")).unwrap();
    let path = format!("{}:{}", shell_tools().display(), env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-c", &format!("set -o pipefail; {line}")]).current_dir(folder.path()).env("PATH", path);
    let ended = Running::start(command).ended();
    assert_eq!((ended.code(), &*ended.stderr), (0, ""), "{}", ended.told());
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    let report = recorded_report(&lines(V1));
    let worst = &report.pauses[0];
    assert_eq!(
        found,
        json!({"id": worst.id, "reason": worst.reason, "duration_ns": worst.duration_ns, "faults": worst.faults,
            "in_faults_ns": worst.in_faults_ns})
    );
}

/// The queries of docs/recording.md, by DuckDB, over two recordings at once.
#[test]
fn the_documented_queries_work() {
    const PROGRAM: &str = "import duckdb, json, sys\n\
        rows = duckdb.sql(sys.stdin.read()).fetchall()\n\
        print(json.dumps(rows, default=str))";
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("recordings")).unwrap();
    for name in ["a", "b"] {
        fs::copy(kept(V1), folder.path().join(format!("recordings/{name}.jsonl.zst"))).unwrap();
    }
    let document = include_str!("../../docs/recording.md");
    let queries: Vec<&str> =
        document.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [longest, faults, memory] = queries[..] else { panic!("{} queries", queries.len()) };
    let python = python();
    let rows = |query: &str| -> Vec<Vec<Value>> {
        let mut command = Command::new(&python);
        command.args(["-c", PROGRAM]).current_dir(folder.path());
        let mut running = Running::start(command);
        running.tell(query);
        running.no_more();
        let ended = running.ended();
        assert_eq!(ended.code(), 0, "{}", ended.told());
        serde_json::from_str(&ended.stdout).unwrap()
    };

    let lines = lines(V1);
    let report = recorded_report(&lines);
    let host = &lines[0]["host"]["name"];
    let found = rows(longest);
    assert_eq!(found.len(), 20.min(2 * report.summary.pauses as usize));
    let worst = report.pauses.iter().find(|pause| pause.state == State::Complete).unwrap();
    for row in &found[..2] {
        assert_eq!(
            (&row[0], row[2].as_str(), row[4].as_u64()),
            (host, Some(&*worst.reason), Some(worst.faults))
        );
        assert_eq!(row[3].as_f64().unwrap(), worst.duration_ns.unwrap() as f64 / 1e6);
    }
    let found = rows(faults);
    let count: u64 = found.iter().map(|row| row[3].as_u64().unwrap()).sum();
    assert_eq!(count, 2 * of_type(&lines, "fault").filter(|fault| fault["role"] == "driver").count() as u64);
    let found = rows(memory);
    let long =
        |pause: &&Value| pause["state"] == "complete" && pause["duration_ns"].as_u64() > Some(1_000_000);
    assert_eq!(found.len(), 20.min(2 * of_type(&lines, "pause").filter(long).count()));
    assert!(found.iter().any(|row| row[4].as_f64() > Some(0.0)), "resident memory is told: {found:?}");
}

/// The Python that has DuckDB.
fn python() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/fetch-python-tools");
    let output = Command::new(&script).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}
