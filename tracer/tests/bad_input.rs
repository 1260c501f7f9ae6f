//! What can't be traced: one message that says what was found and what to do next, an exit status, and nothing left
//! behind. As root, since most of it is about processes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;

use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use attached::{ALL_AS_JSON, Busy, Ended, Running, as_root, build_busy, busy_command, pauselens, until};
use tempfile::TempDir;

const VERSION: &str = "1.27.3";
/// Nobody.
const USER: &str = "65534";

// ---- how a failure looks

/// Runs a command that must fail before it traces anything. Returns its message.
#[track_caller]
fn refused(command: Command) -> String {
    let ended = Running::start(command).ended();
    assert_eq!(ended.code(), 1, "{}", ended.told());
    the_only_message(&ended)
}

/// Nothing on stdout, one line on stderr.
#[track_caller]
fn the_only_message(ended: &Ended) -> String {
    assert_eq!(ended.stdout, "");
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let [line] = lines[..] else { panic!("not one line: {}", ended.told()) };
    assert!(line.starts_with("pauselens: "), "{line}");
    assert!(!line.contains("panicked"), "{line}");
    line.to_owned()
}

/// `pauselens attach` to a process that can't be traced: the message, which must hold these words, in this order.
#[track_caller]
fn refuses(pid: u32, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("report.json");
    let mut command = attach_command(&pauselens(), pid);
    command.arg("--output").arg(&output);
    holds(&refused(command), words);
    assert!(!output.exists(), "an empty report was left behind");
}

#[track_caller]
fn holds(message: &str, words: &[&str]) {
    let mut rest = message;
    for word in words {
        let (_, behind) =
            rest.split_once(word).unwrap_or_else(|| panic!("no {word:?} in its place: {message}"));
        rest = behind;
    }
}

fn attach_command(program: &Path, pid: u32) -> Command {
    let mut command = Command::new(program);
    command.args(["attach", "--pid", &pid.to_string()]).args(ALL_AS_JSON);
    command
}

fn sleeping() -> Running {
    let mut command = Command::new("sleep");
    command.arg("600");
    let sleeping = Running::start(command);
    // Between fork and exec it is still this test's program.
    let exe = format!("/proc/{}/exe", sleeping.pid());
    until("sleep runs", || fs::read_link(&exe).is_ok_and(|path| !path.ends_with(own_name())));
    sleeping
}

fn own_name() -> PathBuf {
    std::env::current_exe().unwrap().file_name().unwrap().into()
}

// ---- processes

#[test]
fn a_process_that_is_gone() {
    as_root();
    let child = Running::start(Command::new("true"));
    let pid = child.pid();
    child.ended();
    refuses(pid, &[&format!("no process {pid}"), "pgrep"]);
    refuses(0, &["no process 0", "pgrep"]);
    refuses(u32::MAX, &["no process 4294967295", "pgrep"]);
}

#[test]
fn a_zombie() {
    as_root();
    let child = Running::start(Command::new("true"));
    let pid = child.pid();
    let stat = format!("/proc/{pid}/stat");
    until("it is a zombie", || fs::read_to_string(&stat).unwrap().contains(") Z "));
    refuses(pid, &[&format!("process {pid} has already ended"), "zombie", "ps -e"]);
}

#[test]
fn a_thread_in_place_of_its_process() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let busy = Busy::start(&build_busy(VERSION, folder.path()));
    let pid = busy.pid();
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let threads = threads.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse::<u32>().unwrap());
    let thread = threads.into_iter().find(|thread| *thread != pid).unwrap();
    refuses(thread, &[&thread.to_string(), &format!("thread of process {pid}"), &format!("--pid {pid}")]);
}

#[test]
fn a_kernel_thread() {
    as_root();
    let is_one = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/status")).is_ok_and(|status| status.contains("\nKthread:\t1"))
            || fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "kthreadd\n")
    };
    let ids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let Some(pid) = ids.into_iter().find(is_one) else {
        println!("skipped: no kernel thread can be seen here (a pid namespace hides them)");
        return;
    };
    refuses(pid, &[&format!("process {pid} ("), "kernel thread", "user process"]);
}

#[test]
fn a_program_without_a_known_runtime() {
    as_root();
    let words = [
        "no runtime whose pauses are known",
        "Looked for: Go's build information",
        "--enter and --exit",
        "nm -C",
    ];
    let sleeping = sleeping();
    refuses(sleeping.pid(), &["sleep", words[0], words[1], words[2], words[3]]);

    // A script is its interpreter's process.
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, "#!/bin/sh\necho runs\nread line\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut running = Running::start(Command::new(&script));
    assert_eq!(running.line(), "runs");
    let interpreter = fs::canonicalize("/bin/sh").unwrap();
    refuses(running.pid(), &[interpreter.to_str().unwrap(), words[0], words[1], words[2], words[3]]);
}

#[test]
fn a_program_of_32_bits() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let (source, small) = (program.with_extension("go"), program.with_extension("386"));
    go::build_in(VERSION, &source, &small, &[], &[("CGO_ENABLED", "0"), ("GOARCH", "386")]);
    let busy = Busy::start(&small);
    refuses(busy.pid(), &[small.to_str().unwrap(), "32-bit"]);
}

#[test]
fn a_go_version_that_is_too_old() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy("1.21.13", folder.path());
    let (before, after) = (b"go1.21.13", b"go1.16.13");
    let mut bytes = fs::read(&program).unwrap();
    let places: Vec<usize> =
        (0..bytes.len() - before.len()).filter(|at| bytes[*at..].starts_with(before)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + after.len()].copy_from_slice(after);
    }
    let old = folder.path().join("old");
    fs::write(&old, bytes).unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    let busy = Busy::start(&old);
    let path = old.to_str().unwrap();
    refuses(
        busy.pid(),
        &[path, "built with Go 1.16.13", "1.18 or later is needed", &format!("`go version {path}`")],
    );
}

// ---- where the report goes

/// A command in a mount namespace of its own, after `setup` has been run there: it sees `folder` as `$1`.
fn with_mount(setup: &str, folder: &Path, pid: u32, output: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &format!("{setup} && shift && exec \"$@\""), "sh"]);
    command.arg(folder).arg(pauselens()).args(["attach", "--pid", &pid.to_string()]).args(ALL_AS_JSON);
    command.arg("--output").arg(output);
    command
}

#[test]
fn an_output_that_cannot_be_written_stops_before_anything_is_traced() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let mut busy = Busy::start(&build_busy(VERSION, folder.path()));
    let words = ["can't be written", "nothing was traced", "--output"];

    let missing = folder.path().join("missing/report.json");
    let mut command = attach_command(&pauselens(), busy.pid());
    command.arg("--output").arg(&missing);
    holds(&refused(command), &[missing.to_str().unwrap(), words[0], words[1], words[2], "No such file"]);
    assert!(!missing.parent().unwrap().exists());

    let mut command = attach_command(&pauselens(), busy.pid());
    command.arg("--output").arg(folder.path());
    holds(&refused(command), &[folder.path().to_str().unwrap(), words[0], words[1], words[2], "directory"]);

    let read_only = folder.path().join("read-only");
    fs::create_dir(&read_only).unwrap();
    let output = read_only.join("report.json");
    let command = with_mount("mount -t tmpfs -o ro none \"$1\"", &read_only, busy.pid(), &output);
    holds(&refused(command), &[output.to_str().unwrap(), words[0], words[1], words[2], "Read-only"]);
    busy.does("collect 1");
}

/// What was in the file before stays there when a trace can't begin.
#[test]
fn an_older_report_survives_a_failed_trace() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("report.json");
    fs::write(&output, "an older report").unwrap();
    let mut command = attach_command(&pauselens(), 0);
    command.arg("--output").arg(&output);
    refused(command);
    assert_eq!(fs::read_to_string(&output).unwrap(), "an older report");
}

#[test]
fn a_full_disk_loses_no_report() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let mut busy = Busy::start(&build_busy(VERSION, folder.path()));
    let small = folder.path().join("small");
    fs::create_dir(&small).unwrap();
    let output = small.join("report.json");
    let command = with_mount("mount -t tmpfs -o size=64k none \"$1\"", &small, busy.pid(), &output);
    let mut tracer = Running::start(command);
    tracer.says("pauselens: attached");
    busy.does("collect 200");
    busy.does("stop memstats 1");
    tracer.send(libc::SIGINT);
    let ended = tracer.ended();
    assert_eq!(ended.code(), 1, "{}", ended.stderr);
    let message = ended.stderr.lines().last().unwrap();
    let words =
        ["could not be written to", output.to_str().unwrap(), "printed instead", "--output", "No space left"];
    holds(message, &words);
    assert!(ended.stdout.len() > 64 << 10, "{} bytes", ended.stdout.len());
    let report = ended.report();
    assert_eq!((report.summary.pauses, report.pauses.len()), (401, 401));
}

// ---- rights

/// A folder and a copy of the program that everybody can look into and run.
fn for_everybody() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("pauselens");
    fs::copy(pauselens(), &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    (folder, copy)
}

/// Runs a command as a user without any rights.
fn as_nobody<S: AsRef<OsStr>>(program: &Path, arguments: &[S]) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", USER, "--regid", USER, "--clear-groups", "--"]).arg(program).args(arguments);
    command
}

#[test]
fn another_user_s_process() {
    as_root();
    let (_folder, copy) = for_everybody();
    let programs = tempfile::tempdir().unwrap();
    let busy = Busy::start(&build_busy(VERSION, programs.path()));
    let pid = busy.pid().to_string();
    let message = refused(as_nobody(&copy, &["attach", "--pid", &pid]));
    let command = format!("sudo pauselens attach --pid {pid}");
    holds(&message, &[&format!("process {pid} belongs to user id 0"), "user id 65534", &command]);
}

#[test]
fn an_own_process_without_the_rights_to_trace() {
    as_root();
    let (folder, copy) = for_everybody();
    let program = build_busy(VERSION, folder.path());
    let environment = busy_command(&program, &[]);
    let mut command = as_nobody::<&str>(&program, &[]);
    command.envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let busy = Busy::start_by(command);
    let pid = busy.pid().to_string();
    let message = refused(as_nobody(&copy, &["attach", "--pid", &pid]));
    // What is missing, and the command that looks at everything.
    holds(&message, &["Operation not permitted", "root", "CAP_BPF", "CAP_PERFMON", "`pauselens check`"]);
}

#[test]
fn check_tells_what_is_missing() {
    as_root();
    let mut command = Command::new(pauselens());
    let all = Running::start({
        command.arg("check");
        command
    })
    .ended();
    assert_eq!(all.code(), 0, "{}", all.told());
    assert!(all.stdout.contains("Everything that tracing needs is here") && !all.stdout.contains("MISSING"));

    let (_folder, copy) = for_everybody();
    let some = Running::start(as_nobody(&copy, &["check"])).ended();
    assert_eq!(some.code(), 1, "{}", some.told());
    for missing in ["MISSING  CAP_BPF", "MISSING  CAP_PERFMON", "MISSING  CAP_SYS_ADMIN", "MISSING  tracefs"]
    {
        assert!(some.stdout.contains(missing), "no {missing:?}: {}", some.told());
    }
    assert!(some.stdout.contains("sudo") && some.stdout.contains("things are missing"), "{}", some.told());
}

// ---- usage

#[test]
fn wrong_usage_has_a_status_of_its_own() {
    as_root();
    let sleeping = sleeping();
    let pid = sleeping.pid().to_string();
    let cases: [(&[&str], &[&str]); 9] = [
        (&["attach", "--pid", &pid, "--duration", "0"], &["--duration", "no time"]),
        (&["attach", "--pid", &pid, "--duration", "soon"], &["soon", "--duration", "30s"]),
        (&["attach", "--pid", &pid, "--ring-size", "5KiB"], &["5KiB", "--ring-size", "power of two"]),
        (&["attach", "--pid", &pid, "--top", "0"], &["0", "--top"]),
        (&["attach", "--pid", &pid, "--top", "3", "--all"], &["--top", "cannot be used with", "--all"]),
        (&["attach", "--pid", "-1"], &["-1"]),
        (&["attach", "--pid", "service"], &["service", "--pid"]),
        (&["attach"], &["--pid"]),
        (&["run"], &["CMD"]),
    ];
    for (arguments, words) in cases {
        let mut command = Command::new(pauselens());
        let ended = Running::start({
            command.args(arguments);
            command
        })
        .ended();
        assert_eq!(ended.code(), 2, "{arguments:?}: {}", ended.told());
        assert_eq!(ended.stdout, "", "{arguments:?}");
        holds(&ended.stderr, words);
    }
}
