//! For tests as root: programs as children that never outlive their test, the busy Go program, and the release
//! build of pauselens attached to it.
//!
//! Every wait has a limit. Nothing is synchronised by sleeping: a tracer is ready when it has said so, a program has
//! done what it was told when it has answered.

#![allow(dead_code, reason = "each test file includes this module and uses a part of it")]

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead as _, BufReader, Read, Write as _},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tracer::report::model::Report;

use super::go;

/// The longest that anything here may take. A loaded machine needs a few seconds for what takes milliseconds.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// Between two looks at something that can't be waited for.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// What these tests do needs root.
///
/// # Panics
///
/// Not root: a test that did nothing must not pass.
pub(crate) fn as_root() {
    let user = rustix::process::geteuid();
    assert!(user.is_root(), "this test attaches probes: run it as root (user id {})", user.as_raw());
}

/// The binary under test, which `cargo xtask test` names.
///
/// # Panics
///
/// It isn't named, or isn't there.
pub(crate) fn pauselens() -> PathBuf {
    let path = std::env::var_os("PAUSELENS_BIN").map(PathBuf::from).unwrap_or_default();
    assert!(
        path.is_file(),
        "PAUSELENS_BIN is not the release build's path ({path:?}): use `cargo xtask test`"
    );
    path
}

/// Waits until the condition holds.
///
/// # Panics
///
/// It doesn't hold in time.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {LIMIT:?}: {what}");
        thread::sleep(LOOK_AGAIN);
    }
}

/// Waits for the first answer that satisfies.
///
/// # Panics
///
/// There is none in time: the last one is told.
#[track_caller]
pub(crate) fn until_it_is<T: std::fmt::Debug>(
    what: &str,
    mut ask: impl FnMut() -> T,
    satisfies: impl Fn(&T) -> bool,
) -> T {
    let deadline = Instant::now() + LIMIT;
    loop {
        let answer = ask();
        if satisfies(&answer) {
            return answer;
        }
        assert!(Instant::now() < deadline, "not within {LIMIT:?}: {what}; at last {answer:?}");
        thread::sleep(LOOK_AGAIN);
    }
}

// ---- children

/// A child process. It is killed when this is dropped, and when the test's process dies.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<Output>,
    stderr: Output,
    name: String,
    /// It takes down what it has set up when it is asked to end.
    tidies: bool,
}

/// What a child writes, line by line as it comes, and as a whole.
#[derive(Debug)]
struct Output {
    lines: Receiver<String>,
    all: Arc<Mutex<String>>,
}

/// A child that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How.
    pub(crate) status: ExitStatus,
    /// What it wrote there, where it was read.
    pub(crate) stdout: String,
    /// What it wrote there.
    pub(crate) stderr: String,
}

impl Output {
    fn of(pipe: impl Read + Send + 'static) -> Self {
        let (send, lines) = channel();
        let all = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&all);
        thread::spawn(move || {
            for line in BufReader::new(pipe).split(b'\n') {
                let Ok(line) = line else { return };
                let line = String::from_utf8_lossy(&line).into_owned();
                {
                    let mut all = kept.lock().unwrap();
                    all.push_str(&line);
                    all.push('\n');
                }
                // Whether or not anybody looks at single lines.
                let _ = send.send(line);
            }
        });
        Self { lines, all }
    }

    fn so_far(&self) -> String {
        self.all.lock().unwrap().clone()
    }

    /// The whole, after the end of the child; its own children may hold the pipe for longer.
    fn whole(&self) -> String {
        let deadline = Instant::now() + Duration::from_secs(5);
        while let Ok(_) | Err(RecvTimeoutError::Timeout) =
            self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            if Instant::now() >= deadline {
                break;
            }
        }
        self.so_far()
    }
}

impl Running {
    /// Starts it with pipes on all its ends.
    pub(crate) fn start(command: Command) -> Self {
        Self::start_with(command, true, false)
    }

    /// Starts something that sets up more than itself: it is asked to end before it is killed.
    pub(crate) fn start_tidy(command: Command) -> Self {
        Self::start_with(command, true, true)
    }

    /// Starts it with a stdout that nobody reads.
    pub(crate) fn start_unread(command: Command) -> Self {
        Self::start_with(command, false, false)
    }

    fn start_with(mut command: Command, read_stdout: bool, tidies: bool) -> Self {
        let name = format!("{command:?}");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let signal = if tidies { libc::SIGTERM } else { libc::SIGKILL };
        // SAFETY: between fork and exec only this one system call is made; it allocates nothing.
        unsafe {
            command.pre_exec(move || {
                libc::prctl(libc::PR_SET_PDEATHSIG, signal);
                Ok(())
            });
        }
        let mut child = command.spawn().unwrap_or_else(|error| panic!("can't start {name}: {error}"));
        let stdin = child.stdin.take();
        let stderr = Output::of(child.stderr.take().unwrap());
        let stdout = if read_stdout { child.stdout.take().map(Output::of) } else { None };
        Self { child, stdin, stdout, stderr, name, tidies }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line to its stdin.
    pub(crate) fn tell(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("its stdin is open");
        writeln!(stdin, "{line}").unwrap_or_else(|error| panic!("{error}; {}", self.said()));
    }

    /// Closes its stdin.
    pub(crate) fn no_more(&mut self) {
        self.stdin = None;
    }

    /// Its next line on stdout.
    #[track_caller]
    pub(crate) fn line(&mut self) -> String {
        let lines = &self.stdout.as_ref().expect("its stdout is read").lines;
        match lines.recv_timeout(LIMIT) {
            Ok(line) => line,
            Err(error) => panic!("no further line ({error}) from {}", self.said()),
        }
    }

    /// Waits for a line on stderr that begins like this.
    #[track_caller]
    pub(crate) fn says(&mut self, begin: &str) -> String {
        let deadline = Instant::now() + LIMIT;
        loop {
            match self.stderr.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line.starts_with(begin) => return line,
                Ok(_) => {}
                Err(error) => panic!("no line \"{begin}...\" ({error}) from {}", self.said()),
            }
        }
    }

    /// What it has written there so far.
    pub(crate) fn stderr_so_far(&self) -> String {
        self.stderr.so_far()
    }

    /// What it is and what it has written so far, for messages.
    fn said(&self) -> String {
        let stdout = self.stdout.as_ref().map_or_else(String::new, Output::so_far);
        format!("{}\n--- stdout\n{stdout}\n--- stderr\n{}", self.name, self.stderr.so_far())
    }

    pub(crate) fn send(&self, signal: i32) {
        send(self.pid(), signal);
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn ended(self) -> Ended {
        self.ended_within(LIMIT)
    }

    /// Waits for its end, and keeps its pipes: what it has started may go on.
    #[track_caller]
    pub(crate) fn status(&mut self) -> ExitStatus {
        self.status_within(LIMIT)
    }

    #[track_caller]
    fn status_within(&mut self, limit: Duration) -> ExitStatus {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it runs for longer than {limit:?}: {}", self.said());
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn ended_within(mut self, limit: Duration) -> Ended {
        let status = self.status_within(limit);
        let stdout = self.stdout.as_ref().map_or_else(String::new, Output::whole);
        Ended { status, stdout, stderr: self.stderr.whole() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stdin = None;
        if self.tidies && self.child.try_wait().ok().flatten().is_none() {
            send(self.child.id(), libc::SIGTERM);
            let deadline = Instant::now() + Duration::from_secs(30);
            while self.child.try_wait().ok().flatten().is_none() && Instant::now() < deadline {
                thread::sleep(LOOK_AGAIN);
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// The exit status.
    #[track_caller]
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("{}", self.told()))
    }

    /// The report on stdout.
    #[track_caller]
    pub(crate) fn report(&self) -> Report {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}; {}", self.told()))
    }

    /// Everything, for messages.
    pub(crate) fn told(&self) -> String {
        let Self { status, stdout, stderr } = self;
        let signal = status.signal();
        format!("{status} (signal {signal:?})\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

fn send(pid: u32, signal: i32) {
    // SAFETY: our own child, not yet collected, so the id can't stand for another process.
    unsafe { libc::kill(pid.cast_signed(), signal) };
}

/// Sends a signal to a process that a child of ours has started.
pub(crate) fn send_to_descendant(pid: u32, signal: i32) {
    send(pid, signal);
}

/// The one process at the end of a chain of children, such as the program that `unshare --fork` runs.
#[track_caller]
pub(crate) fn last_descendant(of: u32, command_name: &str) -> u32 {
    let mut found = 0;
    until(&format!("a descendant of {of} that runs {command_name}"), || {
        found = of;
        while let Some(child) = children(found).first() {
            found = *child;
        }
        fs::read_to_string(format!("/proc/{found}/comm")).is_ok_and(|name| name.trim_end() == command_name)
    });
    found
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|ids| ids.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

// ---- the busy Go program

/// The source of the busy Go program.
const BUSY: &str = include_str!("busy.go");

/// Builds the busy Go program into a folder.
pub(crate) fn build_busy(version: &str, folder: &Path) -> PathBuf {
    let (source, program) = (folder.join("busy.go"), folder.join("busy"));
    fs::write(&source, BUSY).unwrap();
    go::build(version, &source, &program, &[]);
    program
}

/// A command that runs it, told what to do by its arguments.
pub(crate) fn busy_command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env("GOMAXPROCS", "2").env_remove("GOGC").env_remove("GODEBUG");
    command
}

/// The busy Go program while it runs.
#[derive(Debug)]
pub(crate) struct Busy {
    running: Running,
    pid: u32,
}

/// What it has counted since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Its id, as it sees it.
    pub(crate) pid: u32,
    /// Work done in the background.
    pub(crate) progress: u64,
    /// Stops for collections; 0 before Go 1.22, which doesn't count them there.
    pub(crate) gc_stops: u64,
    /// Stops for other reasons; 0 before Go 1.22.
    pub(crate) other_stops: u64,
}

impl Counted {
    /// Reads the program's answer.
    #[track_caller]
    pub(crate) fn from(line: &str) -> Self {
        let answer: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let number = |name: &str| answer[name].as_u64().unwrap_or(0);
        Self {
            pid: u32::try_from(number("pid")).unwrap(),
            progress: number("progress"),
            gc_stops: number("gc_stops"),
            other_stops: number("other_stops"),
        }
    }
}

impl Busy {
    /// Starts the program.
    pub(crate) fn start(program: &Path) -> Self {
        Self::start_by(busy_command(program, &[]))
    }

    /// Starts a command that becomes the program.
    pub(crate) fn start_by(command: Command) -> Self {
        let mut running = Running::start(command);
        Counted::from(&running.line());
        let pid = running.pid();
        Self { running, pid }
    }

    /// Starts a command that runs the program as a descendant of its own.
    pub(crate) fn start_below(command: Command) -> Self {
        let mut busy = Self::start_by(command);
        busy.pid = last_descendant(busy.running.pid(), "busy");
        busy
    }

    /// Its process id, as the test sees it.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Has it done a command.
    #[track_caller]
    pub(crate) fn does(&mut self, command: &str) -> Counted {
        self.running.tell(command);
        Counted::from(&self.running.line())
    }

    /// Starts its work in the background.
    #[track_caller]
    pub(crate) fn is_busy(&mut self) {
        self.does("busy");
    }

    /// It still works.
    #[track_caller]
    pub(crate) fn goes_on(&mut self) {
        let before = self.does("counters").progress;
        until("the program's own progress", || self.does("counters").progress > before);
    }

    /// Sends it a signal.
    pub(crate) fn send(&self, signal: i32) {
        send(self.pid, signal);
    }
}

// ---- the tracer

/// `pauselens attach` that has said that it is attached.
#[track_caller]
pub(crate) fn attach<S: AsRef<OsStr>>(pid: u32, arguments: &[S]) -> Running {
    let mut command = Command::new(pauselens());
    command.args(["attach", "--pid", &pid.to_string()]).args(arguments);
    attached(command)
}

/// Starts a command and waits until pauselens in it is attached.
#[track_caller]
pub(crate) fn attached(command: Command) -> Running {
    let mut tracer = Running::start(command);
    tracer.says("pauselens: attached");
    tracer
}

/// Ends a trace as Ctrl-C does. The report was asked for as JSON on stdout.
#[track_caller]
pub(crate) fn report_of(tracer: Running) -> Report {
    tracer.send(libc::SIGINT);
    let ended = tracer.ended();
    assert_eq!(ended.code(), 0, "{}", ended.told());
    ended.report()
}

/// The arguments for a report of all pauses, as JSON.
pub(crate) const ALL_AS_JSON: [&str; 3] = ["--all", "--format", "json"];
