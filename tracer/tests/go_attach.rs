//! Attaching to a running Go program, in every way in which a program can run: what is seen is what the program itself
//! counts, and nothing is left behind in it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    os::unix::{fs::FileExt as _, process::ExitStatusExt as _},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use attached::{
    ALL_AS_JSON, Busy, Counted, Running, as_root, attach, attached, build_busy, busy_command,
    last_descendant, pauselens, report_of, send_to_descendant, until,
};
use tracer::{
    elf::{Image, find_functions},
    pause::{Keep, State},
    probe::Sizes,
    report::model::{self, Report},
    runtime::Chosen,
    session::{Observer, Options, Progress, Scope, Subject, Unwind, trace},
};

const VERSION: &str = "1.27.3";

// ---- nothing is left behind

/// The code that probes are placed in: addresses and what the file holds there.
struct Code {
    functions: Vec<(u64, Vec<u8>)>,
}

impl Code {
    /// Of a program that is not position independent, so that its addresses are those in the file.
    fn of(program: &Path) -> Self {
        let image = Image::open(File::open(program).unwrap(), program.to_owned()).unwrap();
        let names = ["runtime.stopTheWorldWithSema", "runtime.startTheWorldWithSema"];
        let functions = find_functions(&image, &names);
        assert_eq!(functions.len(), 2);
        let bytes = |function: &tracer::elf::Function| {
            let size = usize::try_from(function.size_bytes).unwrap();
            (function.address.0, image.bytes(function.address, size).unwrap().to_vec())
        };
        Self { functions: functions.iter().map(bytes).collect() }
    }

    /// How many bytes of it are different in the process.
    fn changed_in(&self, pid: u32) -> usize {
        let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
        let changed = |(address, file): &(u64, Vec<u8>)| {
            let mut found = vec![0; file.len()];
            memory.read_exact_at(&mut found, *address).unwrap();
            found.iter().zip(file).filter(|(memory, file)| memory != file).count()
        };
        self.functions.iter().map(changed).sum()
    }
}

/// What this process holds of the kernel's things.
#[derive(Debug)]
struct Own {
    descriptors: usize,
    threads: usize,
}

impl Own {
    fn now() -> Self {
        let count = |folder: &str| fs::read_dir(folder).unwrap().count();
        Self { descriptors: count("/proc/self/fd"), threads: count("/proc/self/task") }
    }
}

/// Memory that is in use, without mapped files: what the allocator keeps for later is given back first.
fn resident_bytes() -> usize {
    // SAFETY: no preconditions; glibc's allocator locks what it gives back.
    unsafe { libc::malloc_trim(0) };
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

/// The BPF programs that descriptors of this process stand for, by the kernel's ids.
fn own_programs() -> BTreeSet<u32> {
    let infos = fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    infos
        .filter_map(|info| fs::read_to_string(info.path()).ok())
        .filter_map(|info| info.lines().find_map(|line| line.strip_prefix("prog_id:")?.trim().parse().ok()))
        .collect()
}

fn loaded_programs() -> BTreeSet<u32> {
    aya::programs::loaded_programs().flatten().map(|info| info.id()).collect()
}

/// Notes what is there while the probes are in place.
struct Watch<'a> {
    pid: u32,
    code: &'a Code,
    programs: BTreeSet<u32>,
}

impl Observer for Watch<'_> {
    fn attached(&mut self, _threads: usize) {
        self.programs = own_programs();
        assert!(self.programs.len() >= 10, "{} programs", self.programs.len());
        assert!(self.code.changed_in(self.pid) >= 3, "the probes' breakpoints are not there");
    }
    fn progress(&mut self, _progress: &Progress) {}
}

/// One trace inside this process, from reading the target to the last probe's end. Returns the programs that were
/// loaded for it, and the pauses that it saw.
fn round(events: &tokio::runtime::Runtime, pid: u32, code: &Code) -> (BTreeSet<u32>, u64) {
    let subject = Subject::find(pid, &Chosen::Recognised).unwrap();
    let options = Options {
        duration: Some(Duration::from_millis(5)),
        keep: Keep::Worst(5),
        sizes: Sizes::default(),
        cross_check: false,
        without: Vec::new(),
        max_rate: u64::MAX,
        sample: None,
        unwind: Unwind::default(),
        measure_programs: false,
    };
    let mut watch = Watch { pid, code, programs: BTreeSet::new() };
    let traced =
        events.block_on(trace(Scope::of(subject), &options, Instant::now(), &mut watch, None)).unwrap();
    (watch.programs, traced.processes[0].1.totals.completed)
}

/// Attaches and detaches again and again, which must leave the program as it was and this process no larger.
///
/// A round takes from half a second to more than one on a loaded machine: the kernel waits at the end of each
/// probe until no CPU can be inside it any more. `PAUSELENS_ROUNDS` sets another number of rounds.
#[test]
fn many_rounds_leave_nothing_behind() {
    as_root();
    // Programs are loaded by several threads, and the allocator keeps megabytes for each: with one pool of memory for all of
    // them what grows is what is not given back.
    // SAFETY: sets a number of the allocator's.
    assert_eq!(unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) }, 1);
    let rounds = std::env::var("PAUSELENS_ROUNDS").map_or(50, |rounds| rounds.parse().unwrap());
    assert!(rounds > WARM_UP);
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let code = Code::of(&program);
    let mut busy = Busy::start(&program);
    busy.is_busy();
    let events = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let began = Instant::now();
    let mut before = None;
    let mut programs = BTreeSet::new();
    let mut pauses = 0;
    for number in 1..=rounds {
        let (loaded, seen) = round(&events, busy.pid(), &code);
        programs.extend(loaded);
        pauses += seen;
        assert_eq!(code.changed_in(busy.pid()), 0, "after round {number}");
        if number == WARM_UP {
            before = Some((Own::now(), resident_bytes()));
        }
        if number % 100 == 0 {
            println!("{number} rounds in {:?}, {pauses} pauses seen", began.elapsed());
            busy.goes_on();
        }
    }
    println!("{rounds} rounds in {:?}, {pauses} pauses seen", began.elapsed());
    busy.goes_on();
    let (own, resident) = before.unwrap();
    // A thread that has been joined is counted for a moment longer.
    until("as many threads as before", || Own::now().threads <= own.threads);
    assert_eq!(Own::now().descriptors, own.descriptors);
    let grown = resident_bytes().saturating_sub(resident);
    println!("resident memory grew by {grown} bytes");
    assert!(grown < 2 << 20, "resident memory grew by {grown} bytes in {rounds} rounds");
    assert!(pauses > 0);
    // Programs are freed a little later than their descriptors are closed.
    until("the programs are gone", || loaded_programs().is_disjoint(&programs));
}

/// Rounds that fill what is made once.
const WARM_UP: u32 = 5;

/// The same with the command, whole.
#[test]
fn many_commands_leave_nothing_behind() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let code = Code::of(&program);
    let mut busy = Busy::start(&program);
    busy.is_busy();
    let mut pauses = 0;
    for number in 1..=20 {
        let tracer = attach(busy.pid(), &ALL_AS_JSON);
        busy.goes_on();
        pauses += report_of(tracer).summary.pauses;
        assert_eq!(code.changed_in(busy.pid()), 0, "after round {number}");
    }
    assert!(pauses > 0);
    busy.goes_on();
}

#[test]
fn a_killed_tracer_leaves_nothing_behind() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let code = Code::of(&program);
    let mut busy = Busy::start(&program);
    busy.is_busy();
    let tracer = attach(busy.pid(), &ALL_AS_JSON);
    assert!(code.changed_in(busy.pid()) >= 3, "the probes' breakpoints are not there");
    tracer.send(libc::SIGKILL);
    assert_eq!(tracer.ended().status.signal(), Some(libc::SIGKILL));
    // The kernel takes the probes away, and may take its time.
    until("the probes are gone", || code.changed_in(busy.pid()) == 0);
    busy.goes_on();
}

/// Killed in the worst moment: with the report written, the probes on their way out. (A kernel that takes a probe away
/// for somebody who is being killed can leave its breakpoint behind.)
#[test]
fn a_tracer_killed_while_it_ends_leaves_nothing_behind() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let code = Code::of(&program);
    let mut busy = Busy::start(&program);
    busy.is_busy();
    for _ in 0..5 {
        let mut tracer = attach(busy.pid(), &ALL_AS_JSON);
        tracer.send(libc::SIGINT);
        while tracer.line() != "}" {}
        tracer.send(libc::SIGKILL);
        tracer.ended();
        until("the probes are gone", || code.changed_in(busy.pid()) == 0);
    }
    busy.goes_on();
}

// ---- what is seen is what the program counts

/// Lets the program collect while it is traced: the tracer and the program must have counted the same.
#[track_caller]
fn counts_agree(busy: &mut Busy, tracer: Running) -> Report {
    let before = busy.does("counters");
    busy.does("collect 20");
    // The last pause of a collection may still be on its way out when the collection is done; the next stop waits for
    // it, and is over when its caller goes on.
    let after = busy.does("stop memstats 1");
    let report = report_of(tracer);
    same_counts(&report, before, after);
    assert_eq!((report.summary.collections, report.summary.other_stops), (40, 1));
    report
}

#[track_caller]
fn same_counts(report: &Report, before: Counted, after: Counted) {
    let summary = &report.summary;
    assert_eq!(
        (summary.collections, summary.other_stops, summary.pauses),
        (
            after.gc_stops - before.gc_stops,
            after.other_stops - before.other_stops,
            after.gc_stops + after.other_stops - before.gc_stops - before.other_stops
        )
    );
    assert_eq!(summary.by_state.keys().collect::<Vec<_>>(), [&State::Complete]);
    assert_eq!(report.pauses.len() as u64, summary.pauses);
    assert!(report.trace.complete, "{:?}", report.trace.incomplete);
}

#[test]
fn an_executable_that_was_replaced_or_deleted_is_traced() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let code = Code::of(&program);
    let mut replaced = Busy::start(&program);
    let other = folder.path().join("other");
    fs::write(&other, "not a program").unwrap();
    fs::rename(&other, &program).unwrap();
    let tracer = attach(replaced.pid(), &ALL_AS_JSON);
    let report = counts_agree(&mut replaced, tracer);
    assert!(report.target.exe.ends_with("/busy (deleted)"), "{}", report.target.exe);
    assert_eq!(code.changed_in(replaced.pid()), 0);

    fs::remove_file(&program).unwrap();
    let program = build_busy(VERSION, folder.path());
    let mut deleted = Busy::start(&program);
    fs::remove_file(&program).unwrap();
    let tracer = attach(deleted.pid(), &ALL_AS_JSON);
    let report = counts_agree(&mut deleted, tracer);
    // Names come from the file that can no longer be opened by its path.
    let frames = report.pauses.iter().flat_map(|pause| &pause.stacks).flat_map(|stack| &stack.frames);
    for frame in frames {
        assert!(!frame.starts_with("0x"), "{frame}");
    }
}

#[test]
fn the_twin_of_a_program_is_not_traced() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let (mut traced, mut twin) = (Busy::start(&program), Busy::start(&program));
    let tracer = attach(traced.pid(), &ALL_AS_JSON);
    twin.does("collect 10");
    twin.is_busy();
    counts_agree(&mut traced, tracer);
    twin.goes_on();
}

/// `unshare` in a pid namespace of its own: the program is process 2 or so there.
fn in_pid_namespace(program: &Path) -> Busy {
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"]);
    // A shell takes the stdin of what it runs in the background away.
    command.arg("exec 3<&0; \"$0\" <&3 & wait").arg(program).env("GOMAXPROCS", "2");
    Busy::start_below(command)
}

#[test]
fn a_program_in_a_pid_namespace_is_traced_from_outside() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let mut busy = in_pid_namespace(&program);
    assert_ne!(busy.does("counters").pid, busy.pid());
    let tracer = attach(busy.pid(), &ALL_AS_JSON);
    let report = counts_agree(&mut busy, tracer);
    assert_eq!(report.target.pid, busy.pid());
    assert_eq!(report.trace.reconciliation.left_over, Some(0), "{:?}", report.trace.reconciliation);
}

#[test]
fn a_program_is_traced_inside_a_pid_namespace() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let mut busy = in_pid_namespace(&program);
    let pid = busy.does("counters").pid;
    let mut command = Command::new("nsenter");
    command.args(["--target", &busy.pid().to_string(), "--pid", "--mount"]).arg(pauselens());
    command.args(["attach", "--pid", &pid.to_string()]).args(ALL_AS_JSON);
    let tracer = attached(command);

    let before = busy.does("counters");
    busy.does("collect 20");
    busy.does("threads 50");
    let after = busy.does("stop memstats 1");
    let name = pauselens().file_name().unwrap().to_string_lossy().into_owned();
    send_to_descendant(last_descendant(tracer.pid(), &name), libc::SIGINT);
    let ended = tracer.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = ended.report();
    same_counts(&report, before, after);
    assert_eq!(report.target.pid, pid);
    // Thread ids are those that the tracer sees as well: the target's own.
    assert!(report.pauses.iter().all(|pause| pause.driver_tid < 1000), "{:?}", report.trace.threads);
    assert!(report.trace.threads.iter().all(|thread| thread.name.as_deref() == Some("busy")));
    assert_eq!(report.trace.reconciliation.left_over, Some(0), "{:?}", report.trace.reconciliation);
}

#[test]
fn an_executable_that_only_the_target_sees_is_traced() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let hidden = folder.path().join("hidden");
    fs::create_dir(&hidden).unwrap();
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs none \"$1\" && cp \"$0\" \"$1/busy\" && exec \"$1/busy\"";
    command.args(["--mount", "sh", "-c", script]).arg(&program).arg(&hidden).env("GOMAXPROCS", "2");
    let mut busy = Busy::start_by(command);
    assert!(!hidden.join("busy").exists());
    let tracer = attach(busy.pid(), &ALL_AS_JSON);
    let report = counts_agree(&mut busy, tracer);
    assert_eq!(report.target.exe, hidden.join("busy").to_str().unwrap());
}

/// Threads that are born, fault and end while the trace runs: no fault of theirs is missed or counted twice.
#[test]
fn faults_of_short_lived_threads_are_all_counted() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let mut busy = Busy::start(&program);
    let tracer = attach(busy.pid(), &ALL_AS_JSON);
    for _ in 0..5 {
        busy.does("threads 200");
        busy.does("collect 1");
    }
    busy.does("stop memstats 1");
    let report = report_of(tracer);
    let counted = &report.trace.reconciliation;
    assert_eq!(counted.left_over, Some(0), "{counted:?} {:?}", report.trace.dropped);
    assert!(counted.minor.unwrap() > 1000 * 32, "{counted:?}");
    assert_eq!(report.trace.dropped["fault_begin_missing"], 0);
    for thread in &report.trace.threads {
        assert_eq!(thread.counts.left_over, Some(0), "{thread:?}");
    }
}

// ---- how a trace ends

#[test]
fn the_first_interrupt_reports_and_the_second_one_kills() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let code = Code::of(&program);
    let mut busy = Busy::start(&program);
    let tracer = attach(busy.pid(), &ALL_AS_JSON);
    let report = counts_agree(&mut busy, tracer);
    assert_eq!(report.trace.ended, model::Ended::Interrupted);

    // Nobody reads this report, so writing it never ends.
    let mut command = Command::new(pauselens());
    command.args(["attach", "--pid", &busy.pid().to_string()]).args(ALL_AS_JSON);
    let mut tracer = Running::start_unread(command);
    tracer.says("pauselens: attached");
    busy.does("collect 200");
    tracer.send(libc::SIGINT);
    until("the first interrupt is taken", || !catches_interrupts(tracer.pid()));
    assert!(tracer.is_running());
    tracer.send(libc::SIGINT);
    let ended = tracer.ended_within(Duration::from_secs(10));
    assert_eq!(ended.status.signal(), Some(libc::SIGINT), "{}", ended.told());
    // The kernel takes the probes away, and may take its time.
    until("the probes are gone", || code.changed_in(busy.pid()) == 0);
    busy.does("collect 1");
}

/// Whether the process has a handler for SIGINT.
fn catches_interrupts(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
    u64::from_str_radix(caught, 16).unwrap() & (1 << (libc::SIGINT - 1)) != 0
}

#[test]
fn a_duration_ends_the_trace_and_not_the_program() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let mut busy = Busy::start(&build_busy(VERSION, folder.path()));
    busy.is_busy();
    let tracer = attach(busy.pid(), &["--duration", "300ms", "--format", "json"]);
    let ended = tracer.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = ended.report();
    assert_eq!(report.trace.ended, model::Ended::Duration);
    assert!(report.trace.duration_ns >= 300_000_000, "{}", report.trace.duration_ns);
    assert!(report.summary.pauses > 0, "{:?}", report.summary);
    // Those that were cut by the begin or the end of the trace come on top of the worst five.
    let complete = report.pauses.iter().filter(|pause| pause.state == State::Complete);
    assert!(complete.count() <= 5, "{:?}", report.summary.by_state);
    busy.goes_on();
}

/// The program ends before the asked-for time: there is a report, and it says so.
#[test]
fn a_target_that_ends_early_is_reported_as_far_as_it_was_seen() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let mut busy = Busy::start(&build_busy(VERSION, folder.path()));
    let tracer = attach(busy.pid(), &["--duration", "10m", "--all", "--format", "json"]);
    busy.does("collect 20");
    busy.does("stop memstats 1");
    busy.send(libc::SIGKILL);
    let ended = tracer.ended();
    assert_eq!(ended.code(), 3, "{}", ended.told());
    let report = ended.report();
    assert_eq!((report.trace.ended, report.trace.complete), (model::Ended::TargetExited, false));
    assert_eq!((report.summary.collections, report.summary.other_stops), (40, 1));
    assert!(report.trace.incomplete.iter().any(|text| text.contains("ended after")));
    // Unknown, or right: never wrong.
    assert!(matches!(report.trace.reconciliation.left_over, None | Some(0)), "{:?}", report.trace);
}

// ---- `pauselens run`

#[test]
fn a_started_command_is_traced_from_its_first_pause() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let mut command = busy_command(&pauselens(), &["run", "--all", "--format", "json", "--"]);
    command.arg(&program).args(["collect 5", "stop procs 2", "stop memstats 1", "exit 7"]);
    let ended = Running::start(command).ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    // Standard output holds the report and nothing else; what the program prints goes to standard error.
    let report = ended.report();
    let last = ended.stderr.lines().rfind(|line| line.starts_with('{')).unwrap();
    let counted = Counted::from(last);
    assert_eq!((counted.gc_stops, counted.other_stops), (10, 3));
    same_counts(&report, Counted { gc_stops: 0, other_stops: 0, ..counted }, counted);
    assert_eq!(report.target.pid, counted.pid);
    assert_eq!(report.trace.exit.as_deref(), Some("exit status: 7"));
    assert_eq!(report.trace.ended, model::Ended::TargetExited);
    // In the order of time the first one is the first collection's.
    let first = report.pauses.iter().find(|pause| pause.id == 1).unwrap();
    assert_eq!(first.reason, "GC sweep termination");
}

#[test]
fn a_signal_that_ends_a_started_command_is_told() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let mut command = busy_command(&pauselens(), &["run", "--format", "json", "--"]);
    let mut tracer = Running::start({
        command.arg(&program);
        command
    });
    tracer.says("pauselens: attached");
    send_to_descendant(last_descendant(tracer.pid(), "busy"), libc::SIGTERM);
    let ended = tracer.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let exit = ended.report().trace.exit.unwrap();
    assert!(exit.contains("SIGTERM"), "{exit}");
}

#[test]
fn a_command_that_cannot_be_started_is_an_error() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let not_executable = folder.path().join("text");
    fs::write(&not_executable, "#!/bin/sh\n").unwrap();
    for (path, why) in [(&missing, "No such file"), (&not_executable, "Permission denied")] {
        let mut command = Command::new(pauselens());
        command.args(["run", "--format", "json", "--"]).arg(path);
        let ended = Running::start(command).ended();
        assert_eq!(ended.code(), 1, "{}", ended.told());
        assert_eq!(ended.stdout, "");
        let path = path.to_str().unwrap();
        assert!(ended.stderr.contains(path) && ended.stderr.contains(why), "{}", ended.told());
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.told());
    }
}

/// The trace's time is over before the command ends: the command goes on by itself.
#[test]
fn a_started_command_outlives_its_trace() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let output = folder.path().join("report.json");
    let arguments =
        ["run", "--duration", "300ms", "--format", "json", "--output", output.to_str().unwrap(), "--"];
    let mut command = busy_command(&pauselens(), &arguments);
    command.arg(&program).arg("busy");
    let mut tracer = Running::start(command);
    tracer.says("pauselens: attached");
    let status = tracer.status();
    assert_eq!(status.code(), Some(0));
    let report: Report = serde_json::from_str(&fs::read_to_string(&output).unwrap()).unwrap();
    assert!(report.summary.pauses > 0 && report.trace.exit.is_none());
    let pid = report.target.pid;
    assert!(report.trace.notes.iter().any(|note| note.contains(&format!("goes on as process {pid}"))));
    assert_eq!(Code::of(&program).changed_in(pid), 0);
    // It still obeys.
    let before = Counted::from(&tracer.line());
    assert_eq!(before.pid, pid);
    tracer.line();
    tracer.tell("collect 3");
    let after = Counted::from(&tracer.line());
    assert!(after.gc_stops >= before.gc_stops + 6 && after.pid == pid);
    // It ends with its stdin.
    tracer.no_more();
    until("the command's end", || !Path::new(&format!("/proc/{pid}")).exists());
}

// ---- stops that are no collections

#[test]
fn stops_for_other_reasons_are_told_apart() {
    as_root();
    for version in ["1.21.13", "1.22.10", "1.25.5", "1.27.3"] {
        let folder = tempfile::tempdir().unwrap();
        let mut busy = Busy::start(&build_busy(version, folder.path()));
        let tracer = attach(busy.pid(), &ALL_AS_JSON);
        let before = busy.does("counters");
        busy.does("stop memstats 11");
        busy.does("stop procs 12");
        busy.does("stop stacks 13");
        let after = busy.does("stop profile 14");
        let report = report_of(tracer);
        let counted: Vec<_> =
            report.summary.by_reason.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
        // Until Go 1.22 the world is stopped once more to find out how large the profile will be.
        let profiles = if version < "1.23" { 28 } else { 14 };
        let expected = [
            ("GOMAXPROCS", 12),
            ("all goroutines stack trace", 13),
            ("goroutine profile", profiles),
            ("goroutine profile cleanup", 14),
            ("read mem stats", 11),
        ];
        assert_eq!(counted, expected, "Go {version}");
        let stops = 50 + profiles;
        assert_eq!((report.summary.pauses, report.summary.other_stops), (stops, stops), "Go {version}");
        assert_eq!(report.summary.collections, 0, "Go {version}");
        assert!(report.pauses.iter().all(|pause| pause.is_gc == Some(false)), "Go {version}");
        assert_eq!(report.target.runtime.version, version);
        if version != "1.21.13" {
            same_counts(&report, before, after);
        }
    }
}
