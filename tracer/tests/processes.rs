//! Several processes in one trace: each with the pauses that are its own, however it came to be there.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/cgroup.rs"]
mod cgroup;
#[path = "support/go.rs"]
mod go;
#[path = "support/jdk.rs"]
#[allow(dead_code, reason = "only the command is used")]
mod jdk;
#[path = "support/paused.rs"]
mod paused;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use attached::{Ended, Running, as_root, attached, pauselens};
use cgroup::Cgroup;
use paused::{build_paused, paused};
use tempfile::TempDir;
use tracer::{
    pause::Kind,
    report::{
        model::{self, Report},
        processes::ProcessesReport,
    },
};

/// The program in a folder of its own.
struct Program {
    folder: TempDir,
    path: PathBuf,
}

impl Program {
    fn new() -> Self {
        as_root();
        let folder = tempfile::tempdir().unwrap();
        let path = build_paused(folder.path(), "paused");
        Self { folder, path }
    }

    fn start(&self, words: &str) -> Running {
        Running::start(paused(&self.path, words))
    }

    /// Starts it, and waits until it has said who it is.
    fn told(&self, words: &str) -> Running {
        let mut running = self.start(words);
        let line = running.line();
        assert_eq!(line, format!("told {}", running.pid()));
        running
    }

    /// Lets everybody go on who waits.
    fn go(&self) {
        fs::write(self.folder.path().join("go"), "").unwrap();
    }
}

/// `pauselens` with these arguments.
fn tracer(arguments: &[&str]) -> Command {
    let mut command = Command::new(pauselens());
    command.args(arguments);
    command
}

#[track_caller]
fn several(ended: &Ended) -> ProcessesReport {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}; {}", ended.told()))
}

#[track_caller]
fn interrupted(running: Running) -> (Ended, ProcessesReport) {
    running.send(libc::SIGINT);
    let ended = running.ended();
    let report = several(&ended);
    (ended, report)
}

/// How many pauses each traced program had, by the length of the list in which they come: pids differ each time.
fn pauses(report: &ProcessesReport) -> Vec<u64> {
    let mut pauses: Vec<u64> = report.processes.iter().map(|process| process.summary.pauses).collect();
    pauses.sort_unstable();
    pauses
}

fn by_pid(report: &ProcessesReport) -> BTreeMap<u32, &Report> {
    report.processes.iter().map(|process| (process.target.pid, process)).collect()
}

/// All records and totals agree, and nothing was dropped.
#[track_caller]
fn is_whole(report: &ProcessesReport) {
    assert_eq!(report.trace.incomplete, [] as [&str; 0]);
    for process in &report.processes {
        assert_eq!(process.trace.incomplete, [] as [&str; 0], "process {}", process.target.pid);
        let details = process.trace.fault_details;
        assert_eq!(details.have, details.of, "process {}", process.target.pid);
    }
    assert!(report.trace.complete);
}

// ---- several ids

#[test]
fn two_of_three_twins_are_traced_each_with_its_own_pauses() {
    let program = Program::new();
    let twins: Vec<Running> = ["t r p7 t", "t r p11 t", "t r p500 t"].map(|words| program.told(words)).into();
    let [first, second, third] = [twins[0].pid(), twins[1].pid(), twins[2].pid()];
    let ids = format!("{first},{second}");
    let running = attached(tracer(&["attach", "--pid", &ids, "--all", "--format", "json"]));
    program.go();
    // It ends by itself when both have ended.
    let ended = running.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = several(&ended);
    is_whole(&report);
    let found = by_pid(&report);
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), {
        let mut ids = vec![first, second];
        ids.sort_unstable();
        ids
    });
    assert_eq!((found[&first].summary.pauses, found[&second].summary.pauses), (7, 11));
    assert!(!found.contains_key(&third));
    for process in &report.processes {
        assert_eq!(process.pauses.len() as u64, process.summary.pauses);
        assert_eq!(process.trace.ended, model::Ended::TargetExited);
        assert!(process.pauses.iter().all(|pause| pause.driver_tid == process.target.pid));
        assert_eq!(process.trace.covered_from_ns, 0);
    }
    // The worst one comes first.
    let worst: Vec<_> = report.processes.iter().map(|process| process.summary.worst_ns).collect();
    assert!(worst.is_sorted_by(|before, after| before >= after), "{worst:?}");
    for twin in twins {
        assert_eq!(twin.ended().code(), 0);
    }
}

#[test]
fn one_that_ends_leaves_the_others_traced() {
    let program = Program::new();
    let mut short = program.told("t r p3");
    let long = program.told("t r p3 s400 p4 s60000");
    let running = attached(tracer(&[
        "attach",
        "--pid",
        &short.pid().to_string(),
        "--pid",
        &long.pid().to_string(),
        "--format",
        "json",
        "--duration",
        "2s",
    ]));
    program.go();
    short.status();
    let ended = running.ended();
    let report = several(&ended);
    let found = by_pid(&report);
    assert_eq!((found[&short.pid()].summary.pauses, found[&long.pid()].summary.pauses), (3, 7));
    assert_eq!(found[&short.pid()].trace.ended, model::Ended::TargetExited);
    assert_eq!(found[&long.pid()].trace.ended, model::Ended::Duration);
    // Two seconds were asked for of both.
    assert!(!found[&short.pid()].trace.complete && found[&long.pid()].trace.complete);
    assert_eq!(ended.code(), 3, "{}", ended.told());
}

#[test]
fn the_text_has_a_table_of_all_before_each_one() {
    let program = Program::new();
    let first = program.told("t r p7 s60000");
    let second = program.told("t r p11 s60000");
    let ids = format!("{},{}", first.pid(), second.pid());
    let running = attached(tracer(&["attach", "--pid", &ids, "--duration", "1s"]));
    program.go();
    let ended = running.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let text = &ended.stdout;
    let at = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("{needle}: {text}"));
    assert!(at("2 processes traced") < at("covered from") && at("covered from") < at("──── process"));
    for (pid, pauses) in [(first.pid(), 7), (second.pid(), 11)] {
        let row = text.lines().find(|line| line.trim_start().starts_with(&format!("{pid}  paused")));
        let row = row.unwrap_or_else(|| panic!("{pid}: {text}"));
        assert!(row.split_whitespace().any(|cell| cell == pauses.to_string()), "{row}");
    }
}

// ---- children

#[test]
fn children_that_are_not_followed_are_not_counted_and_not_harmed() {
    let program = Program::new();
    // The child inherits the breakpoints with the parent's memory.
    let mut parent = program.told("t r p5 f q1000 t . w p2");
    let running = attached(tracer(&["attach", "--pid", &parent.pid().to_string(), "--format", "json"]));
    program.go();
    assert!(parent.line().starts_with("told "), "the child has come through its thousand pauses");
    assert_eq!(parent.status().code(), Some(0), "the child has ended well");
    let ended = running.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    assert_eq!(ended.report().summary.pauses, 7);
}

#[test]
fn children_are_processes_of_their_own_with_follow_forks() {
    let program = Program::new();
    let words = "t p5 f r p7 . f f r p11 . r p9 w . r p2 w";
    let mut command = tracer(&["run", "--follow-forks", "--all", "--format", "json", "--"]);
    command.arg(&program.path).args(words.split(' ')).env("GO", program.folder.path().join("go"));
    let mut running = attached(command);
    for _ in 0..3 {
        running.says("pauselens: attached to");
    }
    program.go();
    let ended = running.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = several(&ended);
    is_whole(&report);
    assert_eq!(pauses(&report), [7, 7, 9, 11]);
    assert_eq!(report.unrecognised, []);
    let late: Vec<_> = report.processes.iter().filter(|process| process.trace.covered_from_ns > 0).collect();
    assert_eq!(late.len(), 3);
    for process in late {
        assert!(process.trace.notes.iter().any(|note| note.contains("its pauses are covered from")));
        // Times are counted from the start of the whole trace.
        let covered = i64::try_from(process.trace.covered_from_ns).unwrap();
        assert!(process.pauses.iter().all(|pause| pause.requested_ns.unwrap() >= covered));
    }
}

/// A breakpoint that was left behind in either would end it.
#[test]
fn a_killed_tracer_leaves_nothing_behind_in_children() {
    let program = Program::new();
    let parent = program.told("t r f s1500 q1000 . s1500 q1000 w");
    let pid = parent.pid().to_string();
    let mut running = attached(tracer(&["attach", "--pid", &pid, "--follow-forks"]));
    program.go();
    running.says("pauselens: attached to");
    running.send(libc::SIGKILL);
    running.ended();
    assert_eq!(parent.ended().code(), 0, "parent and child came through their pauses");
}

/// What `posix_spawn` and most runtimes do: until the exec the child shares its parent's memory, breakpoints included.
#[test]
fn a_program_begun_through_vfork_is_a_process_of_its_own() {
    let program = Program::new();
    let words = format!("t r p4 v {} s400 p6 . p2 w", program.path.display());
    let parent = program.told(&words);
    let pid = parent.pid().to_string();
    let running = attached(tracer(&["attach", "--pid", &pid, "--follow-forks", "--format", "json"]));
    program.go();
    let ended = running.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = several(&ended);
    is_whole(&report);
    assert_eq!(pauses(&report), [6, 6], "{}", ended.told());
    assert_eq!(report.unrecognised, []);
    assert_eq!(parent.ended().code(), 0);
}

#[test]
fn children_too_short_for_a_probe_are_told_of() {
    let program = Program::new();
    let parent = program.told("t r f p3 . f p3 . w s500");
    let pid = parent.pid().to_string();
    let running = attached(tracer(&["attach", "--pid", &pid, "--follow-forks", "--format", "json"]));
    program.go();
    let ended = running.ended();
    let report = several(&ended);
    let parts: Vec<_> =
        report.processes.iter().filter(|process| process.target.pid != parent.pid()).collect();
    // Each child is either traced in part, with a note, or listed as not traced.
    assert_eq!(parts.len() + report.unrecognised.len(), 2, "{}", ended.told());
    for process in &parts {
        assert!(process.summary.pauses <= 3);
        assert!(process.trace.notes.iter().any(|note| note.contains("its pauses are covered from")));
    }
    if !report.unrecognised.is_empty() {
        assert!(report.trace.incomplete[0].contains("ended before"), "{:?}", report.trace.incomplete);
        assert_eq!(ended.code(), 3, "{}", ended.told());
    }
}

// ---- other programs

#[test]
fn an_exec_begins_anew_where_children_are_followed() {
    let program = Program::new();
    let other = build_paused(program.folder.path(), "other");
    let words = format!("t r p4 x {} s10 r2 s300 p6", other.display());
    let before = program.told(&words);
    let pid = before.pid();
    let command = ["attach", "--pid", &pid.to_string(), "--follow-forks", "--format", "json"];
    let mut running = attached(tracer(&command));
    program.go();
    running.says(&format!("pauselens: attached to {pid} (other"));
    let ended = running.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = several(&ended);
    let mut found: Vec<_> = report
        .processes
        .iter()
        .map(|process| {
            let name = Path::new(&process.target.exe).file_name().unwrap().to_str().unwrap();
            (name, process.target.pid, process.summary.pauses, process.trace.ended)
        })
        .collect();
    found.sort_unstable_by_key(|(name, ..)| *name);
    let expected =
        [("other", pid, 6, model::Ended::TargetExited), ("paused", pid, 4, model::Ended::ProgramReplaced)];
    assert_eq!(found, expected);
    drop(before);
}

/// The program makes four pauses, runs itself anew in the way that `exec` says, and makes six more: two parts of the trace.
fn an_exec_begins_anew(exec: char, wait_ms: u32) {
    let program = Program::new();
    let before = program.told(&format!("t r m4 {exec} {} s{wait_ms} m6", program.path.display()));
    let pid = before.pid();
    let command = ["attach", "--pid", &pid.to_string(), "--follow-forks", "--format", "json"];
    let mut running = attached(tracer(&command));
    program.go();
    running.says(&format!("pauselens: attached to {pid}"));
    let ended = running.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = several(&ended);
    is_whole(&report);
    assert_eq!(pauses(&report), [4, 6], "{}", ended.told());
    // The kernel's thread is the same one, its id and its counters are not: faults and waits are its own all the same.
    for part in &report.processes {
        // The exec maps the program's file, and the kernel puts the probes' breakpoints there: it counts a fault for each, and
        // tells nobody.
        let counts = &part.trace.reconciliation;
        assert!(matches!(counts.left_over, None | Some(0..=4)), "{counts:?}");
        for pause in &part.pauses {
            let touched = pause.by_kind.get(&Kind::FirstTouch).map_or(0, |kind| kind.count);
            assert!(touched >= 3 && pause.bystanders.faults == 0, "{pause:?}");
            let budget = pause.budget.unwrap();
            assert!(budget.blocked_other_ns > 90_000 && budget.unknown_ns == 0, "{budget:?}");
        }
    }
}

#[test]
fn an_exec_of_the_same_file_begins_anew_as_well() {
    an_exec_begins_anew('x', 300);
}

/// The thread that runs the new program takes the first one's place, and what was attached to that one is gone.
#[test]
fn an_exec_by_another_thread_begins_anew() {
    an_exec_begins_anew('X', 1000);
}

#[test]
fn a_started_command_is_waited_for_until_it_runs_the_program() {
    let program = Program::new();
    let script = format!("sleep 0.1; exec {} s300 p6", program.path.display());
    let ended = Running::start({
        let mut command = tracer(&["run", "--format", "json", "--", "sh", "-c", &script]);
        command.env("GO", "/nowhere");
        command
    })
    .ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = ended.report();
    assert_eq!(report.summary.pauses, 6);
    assert_eq!(report.target.exe, program.path.to_str().unwrap());
    assert!(report.trace.covered_from_ns > 90_000_000, "{}", report.trace.covered_from_ns);
    assert!(report.trace.notes.iter().any(|note| note.contains("pauses are covered from")));
}

#[test]
fn a_started_command_without_a_runtime_is_an_error_at_its_end() {
    as_root();
    let ended = Running::start(tracer(&["run", "--format", "json", "--", "sleep", "0.2"])).ended();
    assert_eq!(ended.code(), 1, "{}", ended.told());
    assert_eq!(ended.stdout, "");
    assert!(
        ended.stderr.contains("nothing was traced") && ended.stderr.contains("sleep"),
        "{}",
        ended.told()
    );
}

// ---- all that run a file

#[test]
fn every_process_of_an_executable_is_traced_also_those_that_start_later() {
    let program = Program::new();
    let other = build_paused(program.folder.path(), "other");
    let early = program.told("t r p3 s60000");
    let stranger = Running::start(paused(&other, "r p500 s60000"));
    let path = program.path.to_str().unwrap();
    let mut running = attached(tracer(&["attach", "--exe", path, "--all", "--format", "json"]));
    let late = program.start("r p5 f r s300 p8 . w s60000");
    running.says(&format!("pauselens: attached to {} (", late.pid()));
    program.go();
    // The child of one that is traced runs the same file.
    running.says("pauselens: attached to");
    wait_for_pauses();
    let (ended, report) = interrupted(running);
    assert_eq!(ended.code(), 0, "{}", ended.told());
    is_whole(&report);
    let found = by_pid(&report);
    assert_eq!(pauses(&report), [3, 5, 8], "{}", ended.told());
    assert_eq!((found[&early.pid()].summary.pauses, found[&late.pid()].summary.pauses), (3, 5));
    assert!(!found.contains_key(&stranger.pid()));
    assert_eq!(found[&early.pid()].trace.covered_from_ns, 0);
    assert!(found[&late.pid()].trace.covered_from_ns > 0);
    assert!(report.trace.asked.contains(path), "{}", report.trace.asked);
}

/// Until what the programs were told to do is done.
fn wait_for_pauses() {
    std::thread::sleep(std::time::Duration::from_millis(1000));
}

#[test]
fn an_executable_without_a_runtime_is_an_error_with_each_reason() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let sleep = folder.path().join("sleeper");
    fs::copy("/bin/sleep", &sleep).unwrap();
    let mut sleepers = Vec::new();
    for _ in 0..2 {
        let mut command = Command::new(&sleep);
        command.arg("60");
        sleepers.push(Running::start(command));
    }
    let arguments = ["attach", "--exe", sleep.to_str().unwrap(), "--duration", "300ms", "--format", "json"];
    let ended = Running::start(tracer(&arguments)).ended();
    assert_eq!((ended.code(), ended.stdout.as_str()), (1, ""), "{}", ended.told());
    for sleeper in &sleepers {
        let line = format!("process {} ({})", sleeper.pid(), sleep.display());
        assert!(ended.stderr.contains(&line), "{}", ended.told());
    }
    assert!(ended.stderr.contains("no runtime whose pauses are known"), "{}", ended.told());
}

// ---- all of a cgroup

#[test]
fn every_process_of_a_cgroup_is_traced_also_those_that_come_later() {
    let program = Program::new();
    let group = Cgroup::with("memory").unwrap_or_else(|why| panic!("{why}"));
    let early = program.told("t r p3 s60000");
    group.add(early.pid());
    let moved = program.told("t r p9 s60000");
    let outside = program.told("t r p500 s60000");
    let mut sleep = group.command(Path::new("/bin/sleep"));
    sleep.arg("60");
    let sleep = Running::start(sleep);
    let path = group.path();
    let mut running = attached(tracer(&["attach", "--cgroup", &path, "--all", "--format", "json"]));
    let mut late = group.command(&program.path);
    late.args(["r", "p5", "s60000"]).env("GO", program.folder.path().join("go"));
    let late = Running::start(late);
    running.says(&format!("pauselens: attached to {} (", late.pid()));
    group.add(moved.pid());
    running.says(&format!("pauselens: attached to {} (", moved.pid()));
    program.go();
    wait_for_pauses();
    let (ended, report) = interrupted(running);
    assert_eq!(ended.code(), 0, "{}", ended.told());
    is_whole(&report);
    let found = by_pid(&report);
    let counted = [&early, &late, &moved].map(|one| found[&one.pid()].summary.pauses);
    assert_eq!((counted, found.len()), ([3, 5, 9], 3), "{}", ended.told());
    assert!(!found.contains_key(&outside.pid()));
    let unrecognised: Vec<_> = report.unrecognised.iter().map(|process| process.pid).collect();
    assert!(unrecognised.contains(&sleep.pid()), "{}", ended.told());
    assert!(
        report.unrecognised.iter().all(|process| process.why.contains("no runtime whose pauses are known"))
    );
    drop((early, moved, outside, late, sleep));
}

// ---- ids that are used again

/// In a pid namespace of its own, where the next id can be chosen. The tracer is inside of it as well.
#[test]
fn a_process_with_another_one_s_id_is_another_process() {
    let program = Program::new();
    let script = format!(
        "echo 99 > /proc/sys/kernel/ns_last_pid && {0} s300 p3 && echo 99 > /proc/sys/kernel/ns_last_pid && \
         {0} s300 p5 && sleep 0.3 && kill -INT $1",
        program.path.display()
    );
    // The shell, process 1, starts the tracer and then both programs, each as process 100.
    let outer = format!(
        "{} attach --exe {} --format json 2> {said} & tracer=$!; while ! grep -q attached {said}; do sleep 0.05; done; \
         sh -c '{script}' sh $tracer; wait $tracer",
        pauselens().display(),
        program.path.display(),
        said = program.folder.path().join("said").display(),
    );
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc", "sh", "-c", &outer]);
    let ended = Running::start(command).ended();
    let report = several(&ended);
    let ids: Vec<_> = report.processes.iter().map(|process| process.target.pid).collect();
    assert_eq!(ids, [100, 100], "{}", ended.told());
    assert_eq!(pauses(&report), [3, 5], "{}", ended.told());
    is_whole(&report);
}

// ---- namespaces

/// Runs a command in namespaces of its own, over an overlay whose upper layer holds the program: its path exists nowhere
/// else.
fn in_namespaces(program: &Path, words: &str, go: &Path) -> Command {
    let mounts = "mount -t tmpfs tmpfs /mnt && mkdir /mnt/lower /mnt/upper /mnt/work /mnt/all && \
                  cp \"$1\" /mnt/upper/overlaid && \
                  mount -t overlay overlay -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work /mnt/all && \
                  shift && exec unshare --user --map-root-user --pid --fork --kill-child \
                  /mnt/all/overlaid \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", mounts, "sh"]).arg(program).args(words.split(' ')).env("GO", go);
    command
}

#[test]
fn a_program_on_an_overlay_in_namespaces_of_its_own_is_traced() {
    let program = Program::new();
    let go = program.folder.path().join("go");
    let mut contained = Running::start(in_namespaces(&program.path, "t r p7 s300 p2 t", &go));
    // It sees itself as the first process.
    assert_eq!(contained.line(), "told 1");
    let pid = attached::last_descendant(contained.pid(), "overlaid");
    let running = attached(tracer(&["attach", "--pid", &pid.to_string(), "--all", "--format", "json"]));
    program.go();
    let ended = running.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = ended.report();
    assert_eq!(report.summary.pauses, 9);
    assert_eq!((report.target.pid, report.target.pid_in_namespace), (pid, Some(1)));
    assert_eq!(report.target.exe, "/mnt/all/overlaid");
    assert!(!Path::new("/mnt/all/overlaid").exists(), "only the program sees it");
    let frames = report.pauses[0].requested_by.as_ref().unwrap();
    assert_eq!(frames[..2], ["pauselens_demo_stop_world", "pauses"], "{frames:?}");
    assert_eq!(contained.status().code(), Some(0));
}

#[test]
fn a_program_that_only_others_see_is_found_by_its_path() {
    let program = Program::new();
    let go = program.folder.path().join("go");
    let mut contained = Running::start(in_namespaces(&program.path, "t r p7 s60000", &go));
    assert_eq!(contained.line(), "told 1");
    let mut running = attached(tracer(&["attach", "--exe", "/mnt/all/overlaid", "--format", "json"]));
    // Another one that starts later, in namespaces of its own.
    let late = Running::start(in_namespaces(&program.path, "r p5 s60000", &go));
    running.says("pauselens: attached to");
    program.go();
    wait_for_pauses();
    let (ended, report) = interrupted(running);
    assert_eq!(ended.code(), 0, "{}", ended.told());
    assert_eq!(pauses(&report), [5, 7], "{}", ended.told());
    assert!(report.processes.iter().all(|process| process.target.pid_in_namespace == Some(1)));
    drop(late);
}

/// The tracer itself is in a pid namespace: the kernel's ids of its children mean nothing to it.
#[test]
fn children_are_followed_inside_a_pid_namespace() {
    let program = Program::new();
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc"]).arg(pauselens());
    command.args(["run", "--follow-forks", "--format", "json", "--"]).arg(&program.path);
    command.args("p5 f s400 p7 . f s400 p9 . p2 w".split(' '));
    let ended = Running::start(command).ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = several(&ended);
    is_whole(&report);
    assert_eq!(pauses(&report), [7, 7, 9], "{}", ended.told());
    assert!(report.processes.iter().all(|process| process.target.pid < 100), "ids of the namespace");
}

// ---- input that can't be used

#[test]
fn what_is_not_there_is_an_error() {
    let program = Program::new();
    let good = program.told("t s60000");
    let mut sleep = Command::new("sleep");
    sleep.arg("60");
    let sleep = Running::start(sleep);
    let both = format!("{},{}", good.pid(), sleep.pid());
    let good_one = good.pid().to_string();
    let missing = program.folder.path().join("missing");
    let missing = missing.to_str().unwrap();
    let cases: [(&[&str], i32, &[&str]); 8] = [
        (&["--exe", missing], 1, &[missing, "no process runs", "ls -l /proc/PID/exe"]),
        (&["--cgroup", "/no/such/group"], 1, &["/no/such/group", "/proc/PID/cgroup"]),
        (&["--pid", &both], 1, &["no runtime whose pauses are known", "sleep"]),
        (&["--pid", "4194305"], 1, &["no process 4194305"]),
        (&["--pid", &good_one, "--exe", missing], 2, &["--exe", "cannot be used with", "--pid"]),
        (&["--exe", missing, "--cgroup", "/"], 2, &["--cgroup", "cannot be used with", "--exe"]),
        (&["--exe", missing, "--wait-for-runtime", "1s"], 2, &["--wait-for-runtime", "cannot be used with"]),
        (&[], 2, &["--pid"]),
    ];
    for (arguments, code, words) in cases {
        let mut command = tracer(&["attach", "--duration", "300ms"]);
        command.args(arguments);
        let ended = Running::start(command).ended();
        assert_eq!((ended.code(), ended.stdout.as_str()), (code, ""), "{arguments:?}: {}", ended.told());
        for word in words {
            assert!(ended.stderr.contains(word), "{arguments:?}: {word}: {}", ended.told());
        }
    }
}

#[test]
fn a_runtime_that_does_not_come_in_time_is_an_error_then() {
    as_root();
    let mut command = Command::new("sleep");
    command.arg("60");
    let sleep = Running::start(command);
    let pid = sleep.pid().to_string();
    let ended = Running::start(tracer(&["attach", "--pid", &pid, "--wait-for-runtime", "300ms"])).ended();
    assert_eq!((ended.code(), ended.stdout.as_str()), (1, ""), "{}", ended.told());
    assert!(ended.stderr.contains("no runtime whose pauses are known"), "{}", ended.told());
}

/// A shell that becomes the program a little later.
#[test]
fn a_process_is_waited_for_until_its_runtime_is_there() {
    let program = Program::new();
    let script = format!("read line; exec {} t s400 p6 s60000", program.path.display());
    let mut command = Command::new("sh");
    command.args(["-c", &script]);
    let mut shell = Running::start(command);
    let pid = shell.pid().to_string();
    let arguments = ["attach", "--pid", &pid, "--wait-for-runtime", "30s", "--format", "json"];
    let mut running = attached(tracer(&arguments));
    shell.tell("go");
    running.says(&format!("pauselens: attached to {pid} (paused"));
    wait_for_pauses();
    running.send(libc::SIGINT);
    let ended = running.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = ended.report();
    assert_eq!(report.summary.pauses, 6);
    assert!(report.trace.notes.iter().any(|note| note.contains("pauses are covered from")));
}

// ---- runtimes in libraries that are mapped late

const COLLECTS: &str = "
public class Collects {
    public static void main(String[] arguments) throws Exception {
        Thread.sleep(2500);
        for (int round = 0; round < 12; round++) System.gc();
    }
}";

/// The launcher maps the machine's library some milliseconds after its start.
#[test]
fn a_launcher_is_waited_for_until_it_has_mapped_its_runtime() {
    let folder = tempfile::tempdir().unwrap();
    as_root();
    let source = folder.path().join("Collects.java");
    fs::write(&source, COLLECTS).unwrap();
    let java = jdk::java("17");
    let mut compiler = Command::new(&java);
    compiler.args(["-m", "jdk.compiler/com.sun.tools.javac.Main"]).arg(&source);
    assert!(compiler.status().unwrap().success());
    let log = folder.path().join("gc.log");
    let mut command = tracer(&["run", "--all", "--format", "json", "--"]);
    command.arg(java);
    command.args(["-XX:+UseSerialGC", &format!("-Xlog:gc:file={}", log.display()), "-cp"]);
    command.arg(folder.path()).arg("Collects");
    let ended = Running::start(command).ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report = ended.report();
    assert_eq!(report.target.runtime.name, "hotspot");
    let covered_s = report.trace.covered_from_ns as f64 / 1e9;
    assert!(covered_s < 2.0, "covered from {covered_s} s on: too late to compare");
    let logged = fs::read_to_string(&log).unwrap().lines().filter(|line| line.contains("Pause Full")).count();
    assert_eq!((logged, report.summary.collections), (12, 12), "{}", ended.told());
}
