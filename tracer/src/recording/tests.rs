//! Recordings in every state: whole, cut off, damaged, foreign, newer.

use std::{io::Write as _, path::Path};

use serde_json::{Value, json};

use super::{
    Item, Recording, RecordingError, Wanted,
    line::{
        End, Fault, Frame, Header, Host, Line, Losses, Mapping, Memory, Names, Pause, Process, ProcessEnd,
        Role, Stack,
    },
    parse,
};
use crate::report::{
    fixtures,
    model::{Ended, Kind, Region, Report, State},
};

/// A report whose sums are those of its pauses.
fn report() -> Report {
    let mut report = fixtures::story();
    report.pauses.retain(|pause| pause.state == State::Complete);
    report
}

fn fault(pause: u64, ns: u64) -> Fault {
    Fault {
        process: 1,
        pause,
        tid: 4250,
        role: Role::Driver,
        kind: Kind::SwapIn,
        inferred: false,
        major: true,
        begin_ns: 1_000,
        ns,
        full_ns: None,
        blocked_ns: Some(ns / 2),
        reclaim_ns: None,
        address: "0xc000123000".to_owned(),
        region: Region::RuntimeMetadata,
        what: "span sets".to_owned(),
        place_inferred: false,
        stack: 1,
    }
}

/// Every kind of line, in frames as the recorder makes them: one of the begin, one of each pause with its faults, one of
/// the end.
fn frames() -> Vec<Vec<Line>> {
    let report = report();
    let header = Header {
        host: Host { name: "h1".to_owned(), ..Host::default() },
        started_unix_ms: report.trace.started_unix_ms,
        ..parse::unknown_header()
    };
    let process = Process {
        process: 1,
        target: report.target.clone(),
        windows: report.windows.clone(),
        covered_from_ns: 0,
        plan: report.trace.plan.clone(),
        unavailable: Vec::new(),
    };
    let mapping = Mapping {
        process: 1,
        start: "0x400000".to_owned(),
        end: "0x500000".to_owned(),
        offset_bytes: 0x1000,
        file: "/usr/bin/api".to_owned(),
        build_id: None,
    };
    let stack = |stack, address: &str| Stack {
        process: 1,
        stack,
        addresses: vec![address.to_owned()],
        cut: false,
        at_entry: false,
    };
    let mut frames = vec![vec![
        Line::Header(header),
        Line::Process(Box::new(process)),
        Line::Mapping(mapping),
        Line::Stack(stack(1, "0x400123")),
        Line::Stack(stack(2, "0x600000")),
        Line::Memory(Box::new(Memory { process: 1, at_ns: 5, ..Memory::default() })),
    ]];
    for pause in &report.pauses {
        let mut frame: Vec<Line> = (0..20).map(|number| Line::Fault(fault(pause.id, number))).collect();
        let mut pause = pause.clone();
        pause.requested_by = Some(vec!["@1".to_owned()]);
        frame.push(Line::Pause(Box::new(Pause { process: 1, pause })));
        frames.push(frame);
    }
    let name = Frame { name: "runtime.gcStart".to_owned(), address: Some("0x400123".to_owned()) };
    let pauses = report.pauses.len() as u64;
    frames.push(vec![
        Line::Losses(Losses { at_ns: 9, dropped: [("fault_ring_full".to_owned(), 3)].into() }),
        Line::Names(Names { process: 1, stack: 1, frames: vec![name] }),
        Line::ProcessEnd(Box::new(ProcessEnd { process: 1, report })),
        Line::End(End { trace: None, unrecognised: Vec::new(), pauses, faults: 20 * pauses }),
    ]);
    frames
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

fn frame(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn file(frames: &[Vec<Line>]) -> Vec<u8> {
    frames.iter().flat_map(|lines| frame(text(lines).as_bytes())).collect()
}

fn open(bytes: &[u8]) -> Result<Recording, RecordingError> {
    Recording::of_bytes(bytes, Path::new("test.jsonl.zst"))
}

fn problems(recording: &Recording) -> String {
    let all: Vec<String> = recording.all_problems().into_iter().map(|problem| problem.what).collect();
    all.join("\n")
}

/// How many pauses and faults come out.
fn counts(recording: &Recording) -> (usize, usize) {
    let (mut pauses, mut faults) = (0, 0);
    recording
        .each(Wanted { pauses: true, faults: true }, |item| match item {
            Item::Pause(..) => pauses += 1,
            Item::Fault(..) => faults += 1,
        })
        .unwrap();
    (pauses, faults)
}

fn why(bytes: &[u8]) -> String {
    match open(bytes) {
        Err(RecordingError::Foreign { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_whole_one_is_what_was_written() {
    let recording = open(&file(&frames())).unwrap();
    assert_eq!(problems(&recording), "");
    let report = report();
    assert_eq!(recording.processes[0].report, report);
    assert!(recording.processes[0].is_whole);
    assert_eq!(counts(&recording), (report.pauses.len(), 20 * report.pauses.len()));
    assert_eq!((recording.memory.len(), recording.losses.dropped["fault_ring_full"]), (1, 3));
    let longest = recording.longest(1, Some(2)).unwrap();
    assert_eq!(longest.len(), 2);
    assert_eq!(longest[0].requested_by, Some(vec!["runtime.gcStart".to_owned()]));
    assert_eq!(longest[0].duration_ns, report.pauses[0].duration_ns);
}

#[test]
fn the_same_without_compression() {
    let text: String = frames().iter().map(|lines| text(lines)).collect();
    let recording = open(text.as_bytes()).unwrap();
    assert_eq!(problems(&recording), "");
    assert_eq!(recording.processes[0].report, report());
    // Without the last line's end, or the end of its line.
    assert_eq!(problems(&open(text.trim_end().as_bytes()).unwrap()), "");
    let cut = open(&text.as_bytes()[..text.len() - 3]).unwrap();
    assert!(problems(&cut).contains("the file ends inside it"), "{}", problems(&cut));
    assert!(cut.processes[0].is_whole && cut.end.is_none());
}

#[test]
fn cut_off_anywhere_it_gives_what_it_holds() {
    let frames = frames();
    let bytes = file(&frames);
    let first = file(&frames[..1]).len();
    let before_last = file(&frames[..frames.len() - 1]).len();
    let (mut pauses_before, mut rebuilt) = (0, 0);
    // Another place within frames and blocks each time.
    for length in (0..bytes.len()).step_by(13) {
        match open(&bytes[..length]) {
            Err(RecordingError::Foreign { .. }) => assert!(length < first, "{length}"),
            Err(error) => panic!("{length}: {error}"),
            Ok(recording) => {
                assert!(!problems(&recording).is_empty(), "{length}");
                let (pauses, _) = counts(&recording);
                assert!(pauses >= pauses_before, "{length}: {pauses} < {pauses_before}");
                pauses_before = pauses;
                let recorded = &recording.processes[0];
                if recorded.is_whole {
                    // Only the last frame's checksum is missing.
                    assert!(length + 4 >= bytes.len() && recorded.report == report());
                    continue;
                }
                assert_eq!(recorded.report.summary.pauses, pauses as u64, "{length}");
                assert!(!recorded.report.trace.complete);
                rebuilt += 1;
            }
        }
    }
    assert!(rebuilt > (before_last - first) / 13);
    assert_eq!(pauses_before, report().pauses.len());
}

#[test]
fn a_report_is_rebuilt_from_its_pauses() {
    let frames = frames();
    let recording = open(&file(&frames[..frames.len() - 1])).unwrap();
    let (rebuilt, of) = (&recording.processes[0].report, report());
    assert_eq!(rebuilt.trace.ended, Ended::RecordingCutOff);
    assert_eq!(
        (rebuilt.target.clone(), rebuilt.trace.plan.clone()),
        (of.target.clone(), of.trace.plan.clone())
    );
    assert_eq!(rebuilt.trace.overhead.attach_ns, None);
    assert_eq!(rebuilt.trace.reconciliation.minor, None);
    assert_eq!(rebuilt.summary.worst_ns, of.summary.worst_ns);
    assert_eq!(
        rebuilt.summary.paused_ns,
        of.pauses.iter().filter_map(|pause| pause.duration_ns).sum::<u64>()
    );
    assert_eq!(rebuilt.summary.faults, of.pauses.iter().map(|pause| pause.faults).sum::<u64>());
    let budgets: u64 = of.pauses.iter().filter_map(|pause| Some(pause.budget?.sum_ns())).sum();
    assert_eq!(rebuilt.summary.budget.unwrap().sum_ns(), budgets);
    assert_eq!(rebuilt.pauses.len(), of.pauses.len().min(5));
    assert!(!rebuilt.diagnosis.is_empty());
    assert!(rebuilt.trace.incomplete[0].contains("without its end"), "{:?}", rebuilt.trace.incomplete);
    // Names come at a trace's end only: places stand for them.
    assert_eq!(rebuilt.pauses[0].requested_by, Some(vec!["[api+0x1123]".to_owned()]));
    assert_eq!(recording.processes[0].stacks.names(2), ["[0x600000]"]);
    assert_eq!(recording.processes[0].stacks.names(3), ["[stack missing from the recording]"]);
}

#[test]
fn what_is_damaged_in_the_middle_costs_its_frame() {
    let frames = frames();
    let bytes = file(&frames);
    let (from, to) = (file(&frames[..2]).len(), file(&frames[..3]).len());
    let mut damaged = bytes.clone();
    damaged[from + (to - from) / 2] ^= 0xff;
    let recording = open(&damaged).unwrap();
    let all = report().pauses.len();
    assert_eq!(counts(&recording), (all - 1, 20 * (all - 1)));
    assert_eq!(recording.processes[0].report, report(), "it was recorded at the end");
    let told = problems(&recording);
    let count = crate::report::units::count;
    for expected in [
        format!("bytes {} to {} of the file can't be decoded", count(from as u64), count(to as u64)),
        format!("1 of {all} pauses are missing"),
        format!("20 of {} faults are missing", 20 * all),
    ] {
        assert!(told.contains(&expected), "{expected}: {told}");
    }
    // The first frame: what it told is in the report too.
    let mut damaged = bytes.clone();
    damaged[20] ^= 0xff;
    let recording = open(&damaged).unwrap();
    assert_eq!(recording.processes[0].report, report());
    assert_eq!((recording.header.host.name.as_str(), counts(&recording).0), ("unknown", all));
    assert_eq!(recording.header.started_unix_ms, report().trace.started_unix_ms);
    assert!(problems(&recording).contains("the first line is missing"), "{}", problems(&recording));
    // The last one.
    let mut damaged = bytes.clone();
    let last = bytes.len() - 20;
    damaged[last] ^= 0xff;
    let recording = open(&damaged).unwrap();
    assert!(!recording.processes[0].is_whole && counts(&recording).0 == all);
    // The first line alone.
    let header = frame(text(&frames[0][..1]).as_bytes());
    assert!(matches!(open(&header), Err(RecordingError::Bare { .. })));
    // The first and the last one: nothing says what the pauses are of.
    damaged[20] ^= 0xff;
    assert!(why(&damaged).contains("neither its first line nor a line of a process"));
}

#[test]
fn lines_that_are_none_are_left_out_and_named() {
    let frames = frames();
    let mut lines: Vec<Vec<u8>> =
        frames.iter().flatten().map(|line| serde_json::to_vec(line).unwrap()).collect();
    lines.insert(3, b"{\"type\":\"weather\",\"sun\":true}".to_vec());
    lines.insert(3, b"{\"type\":\"weather\",\"sun\":false}".to_vec());
    lines.insert(3, b"{\"type\":\"mapping\",\"file\":\"\xff\"}".to_vec());
    lines.insert(3, b"not JSON".to_vec());
    lines.insert(3, b"".to_vec());
    lines.insert(3, b"{\"type\":\"stack\",\"process\":1,\"stack\":-1,\"addresses\":[]}".to_vec());
    lines.insert(3, b"{\"type\":\"losses\",\"at_ns\":9007199254740993,\"dropped\":{}}".to_vec());
    let mut long = b"{\"type\":\"mapping\",\"file\":\"".to_vec();
    long.resize(17 << 20, b'x');
    lines.insert(3, long);
    let joined = lines.join(&b'\n');
    for bytes in [joined.clone(), frame(&joined)] {
        let recording = open(&bytes).unwrap();
        let told = problems(&recording);
        for expected in [
            "line 4",
            "is longer than 16 MiB",
            "9007199254740993 is out of range",
            "invalid value: integer `-1`",
            "expected ident",
            "its byte 27 is not UTF-8",
            "types that this pauselens does not know were left out (2 \"weather\")",
        ] {
            assert!(told.contains(expected), "{expected}: {told}");
        }
        assert_eq!(told.lines().count(), 6, "{told}");
        assert_eq!(recording.processes[0].report, report());
        assert_eq!(counts(&recording).0, report().pauses.len());
    }
}

#[test]
fn a_fault_that_cannot_be_read_is_found_though_nobody_asked_for_it() {
    let frames = frames();
    let text: String = frames.iter().map(|lines| text(lines)).collect();
    let recording = open(text.replacen("\"kind\":\"swap_in\"", "\"kind\":\"magic\"", 1).as_bytes()).unwrap();
    assert!(problems(&recording).contains("unknown variant `magic`"), "{}", problems(&recording));
    let all = report().pauses.len();
    assert_eq!(counts(&recording), (all, 20 * all - 1));
}

#[test]
fn a_newer_one_is_read_as_far_as_it_is_understood() {
    let mut frames = frames();
    let Line::Header(header) = &mut frames[0][0] else { panic!() };
    header.schema = "pauselens.recording/2".to_owned();
    let recording = open(&file(&frames)).unwrap();
    assert_eq!(recording.processes[0].report, report());
    assert!(problems(&recording).contains("recorded by a newer pauselens"), "{}", problems(&recording));
    let Line::Header(header) = &mut frames[0][0] else { panic!() };
    header.schema = "pauselens.report/1".to_owned();
    assert!(why(&file(&frames)).contains("its schema is \"pauselens.report/1\""));
}

#[test]
fn two_recordings_in_one_file_are_not_mixed() {
    let bytes = file(&frames());
    let recording = open(&[&bytes[..], &bytes].concat()).unwrap();
    assert!(problems(&recording).contains("another recording begins at line"), "{}", problems(&recording));
    assert_eq!(counts(&recording).0, report().pauses.len());
}

#[test]
fn what_is_none_is_refused_with_what_it_is() {
    assert_eq!(why(b""), "it is empty");
    assert!(why(b"\x1f\x8b\x08\0\0\0\0\0").contains("gzip"));
    assert!(why(b"hello\n").contains("68 65 6c 6c 6f"));
    assert!(why(b"{\"a\":1}\n").contains("none of its lines"));
    let of_report = crate::report::json::render(&report()).unwrap();
    assert!(why(of_report.as_bytes()).contains("it is a report of pauselens"));
    assert!(why(&frame(b"hello\n")).contains("none of the lines in them"));
    assert!(why(&frame(b"")).contains("nothing is in them"));
    // However long, it is soon put away.
    let bomb = frame(&vec![b'\n'; 20 << 20]);
    assert!(why(&bomb).contains("nothing is in them"));
    let bomb = frame(&[b'x'].repeat(20 << 20));
    assert!(bomb.len() < 100_000);
    why(&bomb);
}

#[test]
fn hostile_names_come_through() {
    let hostile = fixtures::hostile();
    let mut frames = frames();
    let end = frames.last_mut().unwrap();
    let place = end.iter().position(|line| matches!(line, Line::ProcessEnd(_))).unwrap();
    end[place] = Line::ProcessEnd(Box::new(ProcessEnd { process: 1, report: hostile.clone() }));
    assert_eq!(open(&file(&frames)).unwrap().processes[0].report, hostile);
}

/// A field's name has one form in all lines, so that the file can be read as one table.
#[test]
fn one_name_has_one_form() {
    fn form(value: &Value) -> &'static str {
        match value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "list",
            Value::Object(_) => "object",
        }
    }
    let mut forms = std::collections::BTreeMap::new();
    for line in frames().into_iter().flatten() {
        let Value::Object(fields) = json!(line) else { panic!() };
        for (name, value) in fields {
            if !value.is_null() {
                let known = *forms.entry(name.clone()).or_insert(form(&value));
                assert_eq!(known, form(&value), "{name}");
            }
        }
    }
    assert!(forms.len() > 50, "{forms:?}");
}
