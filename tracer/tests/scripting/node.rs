//! Node.js: V8's own lines (`--trace-gc`) are the account that windows are compared with.

use std::{collections::BTreeMap, fs, process::Command};

use tracer::report::model::Pause;

use crate::{
    attached::{ALL_AS_JSON, Running, as_root, attach, report_of},
    runtimes::{fetched, in_order, length, ready, refused, workload_path},
};

/// V8 prints milliseconds with two digits behind the point.
const ROUNDED_NS: u64 = 10_000;

/// What V8 prints of a collection.
#[derive(Clone, Debug)]
struct Line {
    isolate: String,
    /// As pauselens names it: the collector, and why it ran.
    reason: String,
    ns: u64,
}

impl Line {
    /// `[PID:ISOLATE]  12 ms: Scavenge 6.0 (10.5) -> 5.9 (10.7) MB, 17.83 / 0.00 ms (average mu = 1, current mu = 1) task;`
    fn parse(line: &str) -> Option<Self> {
        let (head, rest) = line.split_once(" ms: ")?;
        let isolate = head.split_once(':')?.1.split(']').next()?.to_owned();
        let collector =
            rest.split(|character: char| character.is_ascii_digit() || character == '(').next()?;
        let ms: f64 = rest.split(" / ").next()?.rsplit(' ').next()?.parse().ok()?;
        let why = rest.rsplit_once("current mu = ")?.1.split_once(") ")?.1.split(';').next()?;
        let reason = format!("{}: {}", collector.trim(), why.trim());
        Some(Self { isolate, reason, ns: (ms * 1e6).round() as u64 })
    }

    /// Whether the window is this collection: V8 starts its clock after the window opens and stops it before the window
    /// closes, and both readings are outside of the safepoint.
    fn is(&self, pause: &Pause) -> bool {
        let (stopped, restarting) = (pause.stopped_ns.unwrap(), pause.restarting_ns.unwrap());
        let in_safepoint = u64::try_from(restarting - stopped).unwrap();
        pause.reason == self.reason
            && pause.is_gc == Some(true)
            && in_safepoint <= self.ns + ROUNDED_NS
            && self.ns <= length(pause) + ROUNDED_NS
    }
}

/// Tells Node what to do: V8's lines until it is done, and what perf_hooks measured, in ns.
#[track_caller]
fn does(node: &mut Running, command: &str) -> (Vec<Line>, Vec<u64>) {
    node.tell(command);
    let mut lines = Vec::new();
    loop {
        let line = node.line();
        if let Some(lengths) = line.strip_prefix("done ") {
            return (lines, serde_json::from_str(lengths).unwrap());
        }
        lines.push(Line::parse(&line).unwrap_or_else(|| panic!("not V8's line: {line}")));
    }
}

fn node(name: &str) -> Running {
    let mut command = Command::new(fetched(name));
    command.args(["--expose-gc", "--trace-gc"]).arg(workload_path("workload.js"));
    ready(command)
}

/// One isolate's windows are its lines, one for one, for all that was asked for while the trace ran. V8 may have collected by
/// itself shortly before the trace began or after it ended; such lines have no window.
fn assert_same(windows: &[&Pause], lines: &[Line], asked_for: usize) {
    let from = lines.len() - asked_for.min(lines.len());
    let fits = |offset: usize| {
        offset + windows.len() == lines.len()
            && windows.iter().zip(&lines[offset..]).all(|(window, line)| line.is(window))
    };
    let shown = || {
        let of =
            |pause: &&Pause| (pause.reason.clone(), pause.stopped_ns, pause.restarting_ns, pause.duration_ns);
        format!("{:#?}\n{lines:#?}", windows.iter().map(of).collect::<Vec<_>>())
    };
    assert!((0..=from).any(fits), "{}", shown());
}

fn every_collection_is_a_window(name: &str, version: &str) {
    as_root();
    let mut node = node(name);
    // What the start of the program has left to collect is done with.
    let (mut lines, _) = does(&mut node, "major 2");
    let tracer = attach(node.pid(), &ALL_AS_JSON);
    let mut asked_for = 0;
    for command in ["minor 7", "major 3", "churn 5"] {
        let (seen, measured) = does(&mut node, command);
        // perf_hooks has an entry for each, from the first callback to the last; both are inside the window.
        assert_eq!(measured.len(), seen.len(), "{command}");
        asked_for += seen.len();
        lines.extend(seen);
    }
    let main = lines[0].isolate.clone();
    let (of_all, _) = does(&mut node, "threads 3");
    let report = in_order(report_of(tracer));
    assert_eq!(report.target.runtime.name, "v8");
    assert!(report.target.runtime.version.starts_with(version), "{}", report.target.runtime.version);
    assert!(report.trace.complete, "{:?}", report.trace.incomplete);
    assert_eq!(report.summary.collections, report.pauses.len() as u64);

    let (of_main, of_workers): (Vec<Line>, Vec<Line>) =
        of_all.into_iter().partition(|line| line.isolate == main);
    asked_for += of_main.len();
    lines.extend(of_main);
    let pid = node.pid();
    let windows: Vec<&Pause> = report.pauses.iter().filter(|pause| pause.driver_tid == pid).collect();
    assert_same(&windows, &lines, asked_for);
    let count = |reason: &str| windows.iter().filter(|pause| pause.reason == reason).count();
    assert_eq!((count("Scavenge: testing"), count("Mark-Compact: testing")), (7, 3));

    // Each worker has an isolate, a thread, and windows of its own; they lie across each other.
    let mut by_isolate: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for line in of_workers {
        by_isolate.entry(line.isolate.clone()).or_default().push(line);
    }
    let mut by_thread: BTreeMap<u32, Vec<&Pause>> = BTreeMap::new();
    for pause in report.pauses.iter().filter(|pause| pause.driver_tid != pid) {
        by_thread.entry(pause.driver_tid).or_default().push(pause);
    }
    assert_eq!((by_isolate.len(), by_thread.len()), (2, 2));
    let same = |windows: &Vec<&Pause>, lines: &Vec<Line>| {
        windows.len() == lines.len() && windows.iter().zip(lines).all(|(window, line)| line.is(window))
    };
    let [one, other] = by_thread.values().collect::<Vec<_>>()[..] else { unreachable!() };
    let [first, second] = by_isolate.values().collect::<Vec<_>>()[..] else { unreachable!() };
    let matched = same(one, first) && same(other, second) || same(one, second) && same(other, first);
    assert!(matched, "{by_thread:#?}\n{by_isolate:#?}");
    for windows in by_thread.values() {
        assert_eq!(windows.iter().filter(|pause| pause.reason == "Mark-Compact: testing").count(), 3);
    }
}

#[test]
fn node_20() {
    every_collection_is_a_window("node-20", "11.3.");
}

#[test]
fn node_22() {
    every_collection_is_a_window("node-22", "12.4.");
}

#[test]
fn node_24() {
    every_collection_is_a_window("node-24", "13.6.");
}

#[test]
fn node_26() {
    every_collection_is_a_window("node-26", "14.");
}

/// A distribution's build: the names that programs link against are left, V8's own are gone.
#[test]
fn a_stripped_node_is_refused() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let original = fs::canonicalize(fetched("node-24")).unwrap().with_file_name("package/bin/node");
    let stripped = folder.path().join("node");
    let done = Command::new("strip").arg("-o").arg(&stripped).arg(&original).status().unwrap();
    assert!(done.success(), "strip: {done}");
    let mut command = Command::new(&stripped);
    command.args(["--expose-gc", "--trace-gc"]).arg(workload_path("workload.js"));
    let node = ready(command);
    let ended = refused(node.pid());
    assert_eq!((ended.code(), ended.stdout.as_str()), (1, ""), "{}", ended.told());
    for part in ["V8", "4Heap14CollectGarbage", "StartInSafepoint", "separate debug file", "not stripped"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.told());
    }
}
