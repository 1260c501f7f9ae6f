//! For tests: the fixture (`pauselens demo-target`), whose faults are known, and pauselens attached to it.
//!
//! Every wait has a deadline, nothing is waited for by sleeping, and what was started is gone after the test, however
//! the test ends.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Read, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, geteuid, kill_process, pidfd_open},
};
use tempfile::TempDir;
use tracer::{
    demo::target::stats::Stats,
    report::model::{Pause, Report},
};

/// Where the binary under test is; `cargo xtask test` sets it.
const BINARY_VARIABLE: &str = "PAUSELENS_BIN";

/// Longer than anything takes here, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The binary under test.
///
/// # Panics
///
/// Not root, or nobody said where the binary is.
pub(crate) fn binary() -> PathBuf {
    assert!(geteuid().is_root(), "this test loads BPF programs: run it as root, with `cargo xtask test`");
    let path = env::var_os(BINARY_VARIABLE).map(PathBuf::from).unwrap_or_else(|| {
        panic!("{BINARY_VARIABLE} is not set to the release build's path: use `cargo xtask test`")
    });
    assert!(path.is_file(), "{BINARY_VARIABLE} names no file: {}", path.display());
    path
}

/// A child process: killed by its handle when dropped, if it has not ended by then.
#[derive(Debug)]
struct Process {
    child: Child,
    name: &'static str,
}

impl Process {
    fn start(name: &'static str, command: &mut Command) -> Self {
        let child = command.spawn().unwrap_or_else(|error| panic!("can't start the {name}: {error}"));
        Self { child, name }
    }

    fn ended(&mut self) -> ExitStatus {
        let descriptor = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())
            .unwrap_or_else(|error| panic!("can't watch the {}: {error}", self.name));
        let limit = Timespec::try_from(DEADLINE).expect("a minute");
        let ended = poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&limit));
        assert_eq!(ended, Ok(1), "the {} has not ended after {DEADLINE:?}", self.name);
        self.child.wait().unwrap_or_else(|error| panic!("can't wait for the {}: {error}", self.name))
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal)
            .unwrap_or_else(|error| panic!("can't signal the {}: {error}", self.name));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of an output, read by a thread of their own, so that waiting for one can have a deadline.
#[derive(Debug)]
struct Lines {
    receiver: Receiver<String>,
    seen: Vec<String>,
    of: &'static str,
}

impl Lines {
    fn of(name: &'static str, output: Option<impl Read + Send + 'static>) -> Self {
        let (sender, receiver) = channel();
        let output = output.unwrap_or_else(|| panic!("the {name} has no pipe"));
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { receiver, seen: Vec::new(), of: name }
    }

    /// The next line; `None` at the end.
    fn next(&mut self) -> Option<String> {
        match self.receiver.recv_timeout(DEADLINE) {
            Ok(line) => {
                self.seen.push(line.clone());
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                panic!("the {} has said nothing for {DEADLINE:?}; before: {:?}", self.of, self.seen)
            }
        }
    }

    /// The next line that begins like this.
    fn wait_for(&mut self, begin: &str) -> String {
        loop {
            match self.next() {
                Some(line) if line.starts_with(begin) => return line,
                Some(_) => {}
                None => panic!("the {} has ended without saying {begin:?}: {:?}", self.of, self.seen),
            }
        }
    }

    fn rest(&mut self) -> String {
        while self.next().is_some() {}
        self.seen.join("\n")
    }
}

/// The fixture, running.
#[derive(Debug)]
pub(crate) struct Fixture {
    process: Process,
    input: Option<ChildStdin>,
    lines: Lines,
    pub(crate) pid: u32,
}

#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
impl Fixture {
    /// Starts it, waiting for [`Fixture::go`] before its first pause.
    pub(crate) fn start(options: &[&str]) -> Self {
        Self::start_at_once(&[&["--wait-for-line"], options].concat())
    }

    /// Starts it; with `--hold-open` its first pause begins right away.
    pub(crate) fn start_at_once(options: &[&str]) -> Self {
        Self::start_program(&binary(), options)
    }

    /// The same with another copy of the binary.
    pub(crate) fn start_program(program: &Path, options: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.arg("demo-target").args(options).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::start("fixture", &mut command);
        let input = process.child.stdin.take();
        let mut lines = Lines::of("fixture", process.child.stdout.take());
        let ready = lines.wait_for("ready ");
        let pid = ready["ready ".len()..].parse().expect("`ready` is followed by the process id");
        Self { process, input, lines, pid }
    }

    /// Lets it go on: from the start, or from inside the pause that it holds open.
    pub(crate) fn go(&mut self) {
        let input = self.input.as_mut().expect("the pipe is kept");
        input.write_all(b"\n").expect("the fixture reads its input");
    }

    /// Waits until it is inside the pause that it holds open.
    pub(crate) fn wait_until_held(&mut self) {
        self.lines.wait_for("holding");
    }

    /// Waits for its end and gives its own account.
    ///
    /// # Panics
    ///
    /// Its exit status is not 0, or its own counters contradict its account: then nothing can be tested with it.
    pub(crate) fn finish(self) -> Stats {
        let stats = self.finish_inexact();
        assert!(stats.exact, "the fixture's own counters contradict its account: {stats:?}");
        stats
    }

    /// The same where it can fault on more than it wants to, as when it is short of memory.
    pub(crate) fn finish_inexact(mut self) -> Stats {
        self.input = None;
        let line = self.lines.wait_for("{");
        let stats = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let status = self.process.ended();
        assert!(status.success(), "the fixture has ended with {status}");
        stats
    }
}

/// pauselens, attached.
#[derive(Debug)]
pub(crate) struct Tracer {
    process: Process,
    lines: Lines,
    folder: TempDir,
}

/// What a trace came to.
#[derive(Debug)]
pub(crate) struct Traced {
    /// The file named with `--output`.
    pub(crate) text: String,
    /// The exit status.
    pub(crate) status: i32,
    /// Standard error, whole.
    pub(crate) stderr: String,
}

#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
impl Tracer {
    /// Attaches to the process with a JSON report; returns when all probes are in place.
    pub(crate) fn attach(pid: u32, options: &[&str]) -> Self {
        Self::attach_as("json", pid, options)
    }

    /// The same with another format.
    pub(crate) fn attach_as(format: &str, pid: u32, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the report");
        let mut command = Command::new(binary());
        command.args(["attach", "--pid", &pid.to_string(), "--format", format, "--output"]);
        command.arg(folder.path().join("report")).args(options);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = Process::start("tracer", &mut command);
        let mut lines = Lines::of("tracer", process.child.stderr.take());
        lines.wait_for("pauselens: attached");
        Self { process, lines, folder }
    }

    /// What Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        self.process.signal(Signal::INT);
    }

    /// Keeps it from reading what the kernel side sends.
    pub(crate) fn stop(&self) {
        self.process.signal(Signal::STOP);
    }

    /// Lets it read again.
    pub(crate) fn go_on(&self) {
        self.process.signal(Signal::CONT);
    }

    /// Ends it without giving it a chance to tidy up.
    pub(crate) fn kill(mut self) {
        self.process.signal(Signal::KILL);
        let status = self.process.ended();
        assert_eq!(status.signal(), Some(libc::SIGKILL), "the tracer has ended otherwise: {status}");
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Traced {
        let status = self.process.ended();
        let stderr = self.lines.rest();
        let status = status.code().unwrap_or_else(|| panic!("the tracer has ended with {status}: {stderr}"));
        let text = fs::read_to_string(self.folder.path().join("report"))
            .unwrap_or_else(|error| panic!("no report ({error}), exit status {status}: {stderr}"));
        Traced { text, status, stderr }
    }
}

#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
impl Traced {
    /// The report, read from its JSON.
    pub(crate) fn report(&self) -> Report {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {}", self.text))
    }

    /// The report of a trace that has seen everything.
    ///
    /// # Panics
    ///
    /// It says that it has not.
    pub(crate) fn complete(&self) -> Report {
        let report = self.report();
        assert_eq!(report.trace.incomplete, [] as [&str; 0], "{}", self.stderr);
        let dropped = |(cause, count): (&String, &u64)| (*count > 0).then(|| format!("{count} {cause}"));
        let dropped: Vec<_> = report.trace.dropped.iter().filter_map(dropped).collect();
        // A thread can be inside a fault when the trace begins, and a kernel can keep switches to itself.
        let harmless = ["fault_begin_missing", "switch_untold"];
        let lost = dropped.iter().filter(|what| !harmless.iter().any(|cause| what.ends_with(cause)));
        assert_eq!(lost.count(), 0, "{dropped:?}");
        let details = report.trace.fault_details;
        assert_eq!(details.have, details.of, "every fault inside a pause has its details");
        assert_eq!((report.trace.complete, self.status), (true, 0), "{}", self.stderr);
        report
    }
}

/// Runs the fixture to its end with pauselens attached from before its first pause.
#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
pub(crate) fn trace(fixture_options: &[&str], options: &[&str]) -> (Stats, Traced) {
    let mut fixture = Fixture::start(fixture_options);
    let tracer = Tracer::attach(fixture.pid, options);
    fixture.go();
    let stats = fixture.finish();
    (stats, tracer.finish())
}

/// The report's pauses in the order of time.
#[allow(dead_code, reason = "each test file includes this module and uses a part of it")]
pub(crate) fn in_order(report: &Report) -> Vec<&Pause> {
    let mut pauses: Vec<_> = report.pauses.iter().collect();
    pauses.sort_by_key(|pause| pause.id);
    pauses
}
