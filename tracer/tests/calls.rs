//! Calls of a function and windows between two places, in Go and in C: each call is one window with the faults that are
//! known to be in it, whoever it moves to and however it is left. As root, on the release build.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use attached::{ALL_AS_JSON, Running, as_root, attach, pauselens, report_of};
use tempfile::TempDir;
use tracer::report::model::{KeyedBy, Kind, Pause, Report, Stack, State, Unit};

const GO: &str = include_str!("support/calls.go");
const C: &str = include_str!("support/calls.c");
/// How long each call of `main.touched` sleeps.
const SLEEP_NS: u64 = 200_000;

/// A program that does what it is told, and answers.
struct Program(Running);

impl Program {
    fn start(program: &Path) -> Self {
        as_root();
        let mut command = Command::new(program);
        command.env("GOMAXPROCS", "2").env_remove("GOGC").env_remove("GODEBUG");
        let mut running = Running::start(command);
        assert!(running.line().starts_with("ready"));
        Self(running)
    }

    fn go(folder: &Path) -> Self {
        Self::go_of("1.27.3", folder)
    }

    fn go_of(version: &str, folder: &Path) -> Self {
        let (source, program) = (folder.join("calls.go"), folder.join("calls-go"));
        fs::write(&source, GO).unwrap();
        go::build(version, &source, &program, &[]);
        Self::start(&program)
    }

    fn c(folder: &Path) -> Self {
        Self::start(&built(folder))
    }

    #[track_caller]
    fn does(&mut self, command: &str) {
        self.0.tell(command);
        assert_eq!(self.0.line(), command);
    }

    /// The report of a trace with these options while it does something.
    #[track_caller]
    fn traced(&mut self, command: &str, options: &[&str]) -> Report {
        let tracer = attach(self.0.pid(), &[options, &ALL_AS_JSON].concat());
        self.does(command);
        let report = report_of(tracer);
        holds_together(&report);
        report
    }

    /// What pauselens says on standard error when it can't trace this, and its exit status.
    fn refused(&self, options: &[&str]) -> (i32, String) {
        let mut command = Command::new(pauselens());
        command.args(["attach", "--pid", &self.0.pid().to_string(), "--duration", "1s"]).args(options);
        let ended = Running::start(command).ended();
        (ended.code(), ended.stderr)
    }
}

/// The C program. A second file brings in a function of a name that the first one has too.
fn built(folder: &Path) -> PathBuf {
    let (source, second, program) = (folder.join("calls.c"), folder.join("second.c"), folder.join("calls"));
    let twin = "static __attribute__((noinline, noclone, used)) int twin(int n) { __asm__ volatile(\"\"); return n; }\n";
    fs::write(&source, format!("{twin}{C}")).unwrap();
    fs::write(&second, twin).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-fno-omit-frame-pointer", "-pthread", "-o"]).arg(&program).args([&source, &second]);
    let output = gcc.output().unwrap();
    assert!(output.status.success(), "gcc: {}", String::from_utf8_lossy(&output.stderr));
    program
}

fn complete(report: &Report) -> Vec<&Pause> {
    report.pauses.iter().filter(|pause| pause.state == State::Complete).collect()
}

fn of_state(report: &Report, state: State) -> u64 {
    report.summary.by_state.get(&state).copied().unwrap_or(0)
}

/// What holds of every trace of calls and windows: it is whole, sums are the sums of their parts, and every budget adds up.
#[track_caller]
fn holds_together(report: &Report) {
    assert!(report.trace.complete, "{:?}", report.trace.incomplete);
    let (summary, pauses) = (&report.summary, complete(report));
    let (short, short_ns, short_faults) =
        report.windows.short.map_or((0, 0, 0), |short| (short.count, short.ns, short.faults));
    assert_eq!(summary.pauses, pauses.len() as u64 + short);
    assert_eq!(
        summary.paused_ns,
        pauses.iter().map(|pause| pause.duration_ns.unwrap()).sum::<u64>() + short_ns
    );
    assert_eq!(summary.faults, pauses.iter().map(|pause| pause.faults).sum::<u64>() + short_faults);
    assert_eq!(summary.stopping_ns, None);
    for pause in pauses {
        let budget = pause.budget.as_ref().unwrap();
        assert_eq!(Some(budget.sum_ns()), pause.duration_ns, "{pause:?}");
        assert_eq!((pause.stopped_ns, pause.restarting_ns, pause.is_gc), (None, None, None));
    }
}

/// First touches in this very function: what else the runtime touches meanwhile is on other code paths.
fn touched_in(pause: &Pause, function: &str) -> u64 {
    let stacks =
        pause.stacks.iter().filter(|stack| stack.frames.first().is_some_and(|frame| frame == function));
    stacks.filter_map(|stack| stack.by_kind.get(&Kind::FirstTouch)).map(|total| total.count).sum()
}

#[test]
fn a_thousand_calls_of_64_goroutines_that_move_between_threads() {
    let folder = TempDir::new().unwrap();
    let mut program = Program::go(folder.path());
    // Once before, so that threads and stacks are there.
    program.does("touch");
    let report = program.traced("touch", &["--function", "main.touched"]);
    let windows = &report.windows;
    assert_eq!((windows.unit, windows.keyed_by), (Unit::Call, KeyedBy::Goroutine));
    assert_eq!((windows.of.as_deref(), windows.has_stopped), (Some("main.touched"), false));
    assert_eq!(
        (report.summary.pauses, of_state(&report, State::Complete), report.pauses.len()),
        (1000, 1000, 1000)
    );
    let calls: Vec<_> = report.pauses.iter().map(|pause| (pause, pause.call.unwrap())).collect();
    for (pause, call) in &calls {
        // Ten pages that nobody else touches; the runtime's own faults come on top, on code paths of its own.
        assert_eq!(touched_in(pause, "main.touched"), 10, "{pause:?}");
        assert!(pause.faults >= 10);
        let others =
            pause.stacks.iter().filter(|stack| stack.frames.first().is_some_and(|at| at != "main.touched"));
        for stack in others {
            let at = &stack.frames[0];
            let known = ["runtime.", "internal/", "syscall.", "time."];
            assert!(known.iter().any(|begin| at.starts_with(begin)), "{stack:?}");
        }
        // It slept and gave its turn away: put on a thread again after each.
        assert!(call.resumptions >= 1 && pause.budget.unwrap().parked_ns > 0, "{pause:?}");
        assert!(pause.duration_ns.unwrap() > SLEEP_NS);
        assert_eq!((call.inner_calls, call.tail_call), (0, false));
    }
    // The timer can be over before a goroutine that lost its CPU has got as far as to wait for it, but seldom is.
    let slept = calls.iter().filter(|(pause, _)| pause.budget.unwrap().parked_ns > SLEEP_NS).count();
    assert!(slept >= 900, "{slept} of 1000 calls were parked for longer than they slept");
    let goroutines: BTreeSet<_> = calls.iter().map(|(_, call)| call.goroutine.unwrap()).collect();
    assert!((2..=64).contains(&goroutines.len()), "{} goroutines", goroutines.len());
    assert!(calls.iter().any(|(_, call)| call.moved), "no call has moved to another thread");
    assert!(
        report.diagnosis.iter().any(|found| found.rule == "goroutine_parked_during_call"),
        "{:?}",
        report.diagnosis
    );
}

#[test]
fn recursion_and_panics_in_go() {
    let folder = TempDir::new().unwrap();
    let mut program = Program::go(folder.path());
    let report = program.traced("recurse", &["--function", "main.recursive"]);
    assert_eq!((report.summary.pauses, report.pauses.len()), (10, 10));
    for pause in &report.pauses {
        assert_eq!(pause.call.unwrap().inner_calls, 5);
        assert_eq!(touched_in(pause, "main.touched"), 2);
    }
    // Every second call panics. The last one returns, so that the one before is known to be left.
    let report = program.traced("panic", &["--function", "main.panics"]);
    assert_eq!((of_state(&report, State::Complete), of_state(&report, State::LeftWithoutReturn)), (5, 5));
    for pause in report.pauses.iter().filter(|pause| pause.state == State::LeftWithoutReturn) {
        assert_eq!((pause.duration_ns, pause.resumed_ns, pause.budget), (None, None, None));
    }
}

/// The runtime copies a stack that is full to a larger one, whose pages are new, from the thread's own stack: who needed
/// the room can't be walked to from there, but with 1.19, which keeps the frame pointer.
#[test]
fn callers_of_a_function_whose_stack_grows_are_known_or_marked() {
    const MARK: &str = "[callers not recorded: the runtime was growing this stack]";
    for (version, marked) in [("1.19.8", false), ("1.22.10", true), ("1.25.5", true), ("1.27.3", true)] {
        let folder = TempDir::new().unwrap();
        let report = Program::go_of(version, folder.path()).traced("grow", &["--function", "main.needsRoom"]);
        assert_eq!(report.pauses.len(), 1, "Go {version}");
        let stacks = &report.pauses[0].stacks;
        let growing =
            || stacks.iter().filter(|stack| stack.frames.iter().any(|at| at == "runtime.morestack"));
        let faults: u64 = growing().map(|stack| stack.faults).sum();
        assert!(faults > 100, "Go {version}: {faults} of {}", report.pauses[0].faults);
        for Stack { frames, .. } in growing() {
            assert_eq!(frames.iter().any(|at| at == MARK), marked, "Go {version}: {frames:?}");
            assert_eq!(frames.iter().any(|at| at.starts_with("main.")), !marked, "Go {version}: {frames:?}");
        }
        let whole = stacks.iter().filter(|stack| stack.frames.iter().all(|at| at != "runtime.morestack"));
        for Stack { frames, .. } in whole {
            assert!(frames.iter().all(|at| at != MARK), "Go {version}: {frames:?}");
        }
    }
}

#[test]
fn short_calls_are_counted_and_add_up() {
    const LIMIT_NS: u64 = 20_000_000;
    let folder = TempDir::new().unwrap();
    let mut program = Program::go(folder.path());
    let report = program.traced("lengths", &["--function", "main.touched", "--longer-than", "20ms"]);
    let short = report.windows.short.unwrap();
    // Ten sleep for longer than the limit; of the others one can take that long on a busy machine.
    assert_eq!((report.summary.pauses, short.than_ns), (60, LIMIT_NS));
    assert!(report.pauses.len() >= 10 && short.count == 60 - report.pauses.len() as u64, "{short:?}");
    assert!(report.pauses.iter().all(|pause| pause.duration_ns.unwrap() >= LIMIT_NS));
    assert!(short.ns <= short.count * LIMIT_NS, "{short:?}");
    assert!(short.faults >= 4 * short.count, "{short:?}");
    assert!(report.summary.median_ns.unwrap() <= LIMIT_NS, "the lengths hold the short ones");
}

#[test]
fn the_text_calls_them_calls() {
    let folder = TempDir::new().unwrap();
    let mut program = Program::go(folder.path());
    let tracer = attach(program.0.pid(), &["--function", "main.recursive"]);
    program.does("recurse");
    tracer.send(libc::SIGINT);
    let text = tracer.ended().stdout;
    for part in [
        "Calls        10 of main.recursive\n",
        "\nIn calls ",
        "Worst calls (",
        "5 inner calls of the same function",
    ] {
        assert!(text.contains(part), "{part:?}:\n{text}");
    }
    for word in ["pauses", "Pause #", "stopping", "restarting", "unknown reason"] {
        assert!(!text.contains(word), "{word:?}:\n{text}");
    }
}

#[test]
fn calls_of_threads_in_c() {
    let folder = TempDir::new().unwrap();
    let mut program = Program::c(folder.path());
    let report = program.traced("threads", &["--function", "work"]);
    assert_eq!((report.summary.pauses, report.windows.keyed_by), (100, KeyedBy::Thread));
    let threads: BTreeSet<u32> = report.pauses.iter().map(|pause| pause.driver_tid).collect();
    assert_eq!(threads.len(), 4);
    for pause in &report.pauses {
        assert_eq!(pause.by_kind.get(&Kind::FirstTouch).map(|total| total.count), Some(3), "{pause:?}");
        assert_eq!(pause.call.unwrap().goroutine, None);
    }

    let report = program.traced("recurse", &["--function", "recursive"]);
    let inner: Vec<u32> = report.pauses.iter().map(|pause| pause.call.unwrap().inner_calls).collect();
    assert_eq!(inner, [5; 10]);
}

#[test]
fn calls_that_do_not_return_in_c() {
    let folder = TempDir::new().unwrap();
    let mut program = Program::c(folder.path());
    let report = program.traced("leave", &["--function", "leaves"]);
    assert_eq!((of_state(&report, State::Complete), of_state(&report, State::LeftWithoutReturn)), (5, 5));

    let report = program.traced("tail", &["--function", "tail"]);
    assert_eq!((report.summary.pauses, of_state(&report, State::Complete)), (10, 10));
    for pause in &report.pauses {
        assert!(pause.call.unwrap().tail_call, "{pause:?}");
        // What the other function touches is not in the call any more.
        assert_eq!(pause.by_kind[&Kind::FirstTouch].count, 5);
    }
}

#[test]
fn windows_between_two_places() {
    let folder = TempDir::new().unwrap();
    let mut program = Program::c(folder.path());
    let pair = ["--enter", "txn_begin", "--exit", "txn_end", "--key", "thread", "--reason-arg", "0"];
    let report = program.traced("transactions", &pair);
    assert_eq!((report.windows.unit, report.windows.keyed_by), (Unit::Window, KeyedBy::Thread));
    assert_eq!((report.summary.pauses, report.summary.by_reason.len()), (20, 10));
    assert!(report.summary.by_reason.values().all(|&count| count == 2), "{:?}", report.summary.by_reason);
    let tracepoints = ["--enter", "usdt:calls:begin", "--exit", "usdt:calls:end"];
    let by_tracepoints = program.traced("tracepoints", &tracepoints);
    assert_eq!((by_tracepoints.summary.pauses, by_tracepoints.windows.keyed_by), (10, KeyedBy::Process));
    for pause in report.pauses.iter().chain(&by_tracepoints.pauses) {
        assert_eq!(pause.by_kind[&Kind::FirstTouch].count, 7, "{pause:?}");
        assert_eq!(pause.call, None);
    }
}

#[test]
fn places_that_are_none() {
    let folder = TempDir::new().unwrap();
    let program = Program::c(folder.path());
    for (options, status, says) in [
        (&["--function", "recursiv"][..], 1, &["recursiv is in none of", "recursive"][..]),
        (&["--function", "twin"], 1, &["twin is 2 different functions", "+0xOFFSET"]),
        (&["--enter", "calls+0x10", "--exit", "txn_end"], 1, &["calls+0x10 is not in the code"]),
        (&["--enter", "usdt:calls:begun", "--exit", "txn_end"], 1, &["usdt:calls:begun is in none of"]),
        (&["--function", "nowhere.so:work"], 1, &["no file nowhere.so"]),
        (&["--enter", "txn_begin"], 2, &["--exit"]),
        (&["--exit", "txn_end"], 2, &["--enter"]),
    ] {
        let (code, stderr) = program.refused(options);
        assert_eq!(code, status, "{options:?}: {stderr}");
        for part in says {
            assert!(stderr.contains(part), "{options:?} says nothing of {part:?}: {stderr}");
        }
    }
}
