//! CPython: with its lock, by tracepoints and by symbols, and without it.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::fs::FileExt as _,
    path::PathBuf,
    process::Command,
    sync::Arc,
};

use serde_json::Value;
use tracer::{
    elf::{Image, usdt},
    report::model::Pause,
    runtime::{MappedFiles, SiteKind, definitions::TEXTS, locate},
    target::Target,
};

use crate::{
    attached::{ALL_AS_JSON, Running, as_root, attach, report_of, until},
    runtimes::{does, fetched, fetched_if_to_be_had, length, ready, traced, traced_with, workload},
};

const COMMANDS: [&str; 4] = ["0 7", "1 3", "2 2", "churn 5"];

fn python(run: &PathBuf) -> Running {
    let mut command = Command::new(run);
    command.arg("-c").arg(workload("workload.py"));
    ready(command)
}

/// What gc.callbacks saw: generation and ns, in order.
fn collections(answers: &[Value]) -> Vec<(u64, u64)> {
    let pair = |pair: &Value| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap());
    answers.iter().flat_map(|answer| answer["lengths"].as_array().unwrap()).map(pair).collect()
}

/// How many of each generation gc.get_stats() counted between two answers.
fn counted(before: &Value, after: &Value) -> Vec<u64> {
    let of = |answer: &Value, generation: usize| answer["counted"][generation].as_u64().unwrap();
    (0..3).map(|generation| of(after, generation) - of(before, generation)).collect()
}

/// What lies between two readings of the runtime's own clock and the window inside them: two callbacks in Python.
fn assert_lengths(inside: &[u64], outside: &[u64]) {
    let mut rest: Vec<u64> = Vec::new();
    for (inside, outside) in inside.iter().zip(outside) {
        assert!(inside <= outside, "a window of {inside} ns in a collection of {outside} ns");
        rest.push(outside - inside);
    }
    rest.sort_unstable();
    // One or the other may have been interrupted there.
    let median = rest[rest.len() / 2];
    println!("windows end {median} ns earlier than the runtime's own clock, in the median");
    assert!(median < 500_000, "{rest:?}");
}

fn every_collection_is_a_window(run: &PathBuf, version: &str, options: &[&str]) {
    as_root();
    let mut python = python(run);
    let before = [does(&mut python, "0 1")];
    let (report, answers) = traced_with(options, &mut python, &COMMANDS);
    assert_eq!(report.target.runtime.name, "cpython");
    assert!(report.target.runtime.version.starts_with(version), "{}", report.target.runtime.version);
    assert!(report.trace.complete, "{:?}", report.trace.incomplete);

    let seen = collections(&answers);
    let reasons: Vec<String> =
        seen.iter().map(|(generation, _)| format!("generation {generation}")).collect();
    assert_eq!(report.pauses.iter().map(|pause| pause.reason.clone()).collect::<Vec<_>>(), reasons);
    assert!(report.pauses.iter().all(|pause| pause.is_gc == Some(true)));
    let of_generation = |generation: usize| {
        report.summary.by_reason.get(&format!("generation {generation}")).copied().unwrap_or(0)
    };
    assert_eq!((0..3).map(of_generation).collect::<Vec<_>>(), counted(&before[0], &answers[3]));
    assert!(report.summary.collections >= 7 + 3 + 2 + 5);
    let windows: Vec<u64> = report.pauses.iter().map(length).collect();
    assert_lengths(&windows, &seen.iter().map(|(_, ns)| *ns).collect::<Vec<_>>());
}

#[test]
fn python_3_11() {
    every_collection_is_a_window(&fetched("python-3.11"), "3.11.", &[]);
}

/// By the function, as in builds without tracepoints; its symbols are in a file of their own.
#[test]
fn python_3_11_by_symbols() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cpython.toml");
    let (_, whole) = TEXTS.iter().find(|(name, _)| *name == "cpython").unwrap();
    let mut parts = whole.split("[[windows]]");
    let (head, by_symbols) = (parts.next().unwrap(), parts.nth(1).unwrap());
    fs::write(&file, format!("{head}[[windows]]{by_symbols}")).unwrap();
    let options = ["--runtime-file", file.to_str().unwrap()];
    every_collection_is_a_window(&fetched("python-3.11-debug"), "3.11.", &options);
}

#[test]
fn python_3_13() {
    every_collection_is_a_window(&fetched("python-3.13"), "3.13.", &[]);
}

#[test]
fn python_3_14() {
    if let Some(run) = fetched_if_to_be_had("python-3.14") {
        every_collection_is_a_window(&run, "3.14.", &[]);
    }
}

/// Without the lock the world is stopped twice in each collection (gc_collect_internal in Python/gc_free_threading.c): while
/// what can be freed is looked for, and after finalizers have run.
#[test]
fn python_3_13_free_threaded() {
    as_root();
    let mut python = python(&fetched("python-3.13t"));
    let (report, answers) = traced(&mut python, &COMMANDS);
    assert_eq!(report.target.runtime.name, "cpython-free-threaded");
    assert!(report.trace.complete, "{:?}", report.trace.incomplete);
    let seen = collections(&answers);
    assert_eq!(report.summary.by_reason, BTreeMap::from([("collection".to_owned(), 2 * seen.len() as u64)]));
    let windows: Vec<u64> = report.pauses.chunks(2).map(|pair| pair.iter().map(length).sum()).collect();
    for (windows, (_, ns)) in windows.iter().zip(&seen) {
        assert!(windows <= ns, "stops of {windows} ns in a collection of {ns} ns");
    }
    let ordered = |pause: &Pause| {
        let marks =
            [pause.requested_ns, pause.stopped_ns, pause.restarting_ns, pause.resumed_ns].map(Option::unwrap);
        marks.is_sorted()
    };
    assert!(report.pauses.iter().all(ordered));
}

/// Debian's symbols lie in a file of their own, which the build id names.
#[test]
fn the_collector_is_found_in_a_separate_debug_file() {
    as_root();
    let python = python(&fetched("python-3.11-debug"));
    let target = Target::open(python.pid()).unwrap();
    let image = Arc::new(Image::open(target.open_executable().unwrap(), target.exe().to_owned()).unwrap());
    assert!(!image.has_symbols());
    let files = MappedFiles::of(&target, image).unwrap();
    let begin = locate(&"gc_collect_main*".parse().unwrap(), &files).unwrap();
    let end = locate(&"return:gc_collect_main*".parse().unwrap(), &files).unwrap();
    assert_eq!(begin.len(), 1, "the part that is split off is no function of its own: {begin:?}");
    assert!(begin[0].function.starts_with("gc_collect_main"), "{begin:?}");
    assert!(!end.is_empty() && end.iter().all(|site| site.kind == SiteKind::Return), "{end:?}");
}

/// Counters of the tracepoints: the kernel raises them in the traced process, and nowhere else.
struct Semaphores {
    addresses: Vec<u64>,
    /// Where the tracepoints are, and the byte that the file has there.
    code: Vec<(u64, u8)>,
}

impl Semaphores {
    /// In Debian's 3.11, which is not position independent: its addresses are those in the file.
    fn of(python: &Running) -> Self {
        let target = Target::open(python.pid()).unwrap();
        let image = Image::open(target.open_executable().unwrap(), target.exe().to_owned()).unwrap();
        let wanted = |name: &str| name == "gc__start" || name == "gc__done";
        let notes = usdt(&image);
        let notes: Vec<_> = notes.iter().filter(|note| wanted(&note.name)).collect();
        let counters = notes.iter().map(|note| note.semaphore.unwrap());
        let addresses = counters.map(|offset| image.elf_address(offset).unwrap().0).collect();
        let byte = |address| image.bytes(address, 1).unwrap()[0];
        let code = notes.iter().map(|note| (note.address.0, byte(note.address))).collect();
        Self { addresses, code }
    }

    /// Neither a counter nor a breakpoint is left.
    fn assert_gone(&self, python: &Running) {
        until("the tracepoints are off", || self.read(python) == [0, 0]);
        let memory = File::open(format!("/proc/{}/mem", python.pid())).unwrap();
        for (address, expected) in &self.code {
            let mut found = [0];
            memory.read_exact_at(&mut found, *address).unwrap();
            assert_eq!(found[0], *expected, "a breakpoint was left at {address:#x}");
        }
    }

    fn read(&self, python: &Running) -> Vec<u16> {
        let memory = File::open(format!("/proc/{}/mem", python.pid())).unwrap();
        let value = |address: &u64| {
            let mut bytes = [0; 2];
            memory.read_exact_at(&mut bytes, *address).unwrap();
            u16::from_le_bytes(bytes)
        };
        self.addresses.iter().map(value).collect()
    }
}

#[test]
fn tracepoints_are_switched_on_in_the_target_alone_and_off_again() {
    as_root();
    let run = fetched("python-3.11");
    let (traced, twin) = (python(&run), python(&run));
    let semaphores = Semaphores::of(&traced);
    assert_eq!(semaphores.addresses.len(), 2);
    assert_eq!(semaphores.read(&traced), [0, 0]);

    let first = attach(traced.pid(), &ALL_AS_JSON);
    assert_eq!(semaphores.read(&traced), [1, 1]);
    assert_eq!(semaphores.read(&twin), [0, 0]);
    // The kernel counts its own tracepoint there and not who uses it: for two traces it is 1 as well, until the last ends.
    let second = attach(traced.pid(), &ALL_AS_JSON);
    assert_eq!(semaphores.read(&traced), [1, 1]);
    report_of(first);
    assert_eq!(semaphores.read(&traced), [1, 1]);
    report_of(second);
    semaphores.assert_gone(&traced);

    // Killed in the middle: the kernel takes back what it did.
    let killed = attach(traced.pid(), &ALL_AS_JSON);
    assert_eq!(semaphores.read(&traced), [1, 1]);
    killed.send(libc::SIGKILL);
    let ended = killed.ended();
    assert_eq!(ended.status.code(), None, "{}", ended.told());
    semaphores.assert_gone(&traced);
    semaphores.assert_gone(&twin);
    // It works as before.
    let mut traced = traced;
    does(&mut traced, "2 1");
}
