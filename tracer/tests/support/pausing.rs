//! For tests: the small C program `pausing.c`, which pauses itself, and pauselens attached to it.

#![allow(dead_code, reason = "each test file includes this module and uses a part of it")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tracer::report::model::Report;

use super::attached::{Running, as_root, attach, last_descendant};

const SOURCE: &str = include_str!("pausing.c");

/// How many pages each of its pauses touches.
pub(crate) const PAGES: u64 = 5;

/// How many pages its pause `many` touches.
pub(crate) const MANY: u64 = 2000;

/// Builds the program into a folder.
#[track_caller]
pub(crate) fn build(folder: &Path, arguments: &[&str]) -> PathBuf {
    let (source, program) = (folder.join("pausing.c"), folder.join("pausing"));
    fs::write(&source, SOURCE).unwrap();
    let output = Command::new("gcc").arg("-o").arg(&program).args(arguments).arg(&source).output().unwrap();
    assert!(output.status.success(), "gcc {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

/// The program while it runs.
pub(crate) struct Pausing {
    running: Running,
    pid: u32,
}

impl Pausing {
    /// Starts it.
    #[track_caller]
    pub(crate) fn start(program: &Path) -> Self {
        as_root();
        let mut running = Running::start(Command::new(program));
        assert_eq!(running.line(), format!("ready {}", running.pid()));
        let pid = running.pid();
        Self { running, pid }
    }

    /// Starts a command that runs it as a descendant of its own.
    #[track_caller]
    pub(crate) fn start_below(command: Command, program: &Path) -> Self {
        as_root();
        let mut running = Running::start(command);
        assert!(running.line().starts_with("ready "));
        let name = program.file_name().unwrap().to_str().unwrap();
        let pid = last_descendant(running.pid(), name);
        Self { running, pid }
    }

    /// Its process id, as the test sees it.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Has it done a command.
    #[track_caller]
    pub(crate) fn does(&mut self, command: &str) {
        self.running.tell(command);
        assert_eq!(self.running.line(), command);
    }

    /// Attaches pauselens to it.
    #[track_caller]
    pub(crate) fn attach(&self, options: &[&str]) -> Traced {
        Traced(attach(self.pid, &[options, &["--format", "json"]].concat()))
    }

    /// Lets it end.
    pub(crate) fn ends(mut self) {
        self.running.no_more();
        self.running.status();
    }
}

/// pauselens attached to it.
pub(crate) struct Traced(Running);

impl Traced {
    /// Ends the trace while the program lives.
    #[track_caller]
    pub(crate) fn interrupted(self) -> Report {
        self.0.send(libc::SIGINT);
        self.ended_report()
    }

    /// The same for one whose result may be incomplete.
    #[track_caller]
    pub(crate) fn interrupted_with_status(self) -> (i32, Report) {
        self.0.send(libc::SIGINT);
        let ended = self.0.ended();
        (ended.code(), ended.report())
    }

    /// The report of a trace that ends by itself.
    #[track_caller]
    pub(crate) fn ended_report(self) -> Report {
        let ended = self.0.ended();
        assert_eq!(ended.code(), 0, "{}", ended.told());
        ended.report()
    }
}

/// The code path of a pause with the most faults, and how many it has. Pauses are counted in the order of time.
#[track_caller]
pub(crate) fn frames(report: &Report, pause: usize) -> (Vec<String>, u64) {
    let mut pauses: Vec<_> = report.pauses.iter().collect();
    pauses.sort_by_key(|pause| pause.id);
    let stacks = &pauses[pause].stacks;
    let most = stacks.iter().max_by_key(|stack| stack.faults).unwrap();
    (most.frames.clone(), most.faults)
}

/// The code path of a pause whose innermost function is this one.
#[track_caller]
pub(crate) fn frames_of(report: &Report, pause: usize, innermost: &str) -> Vec<String> {
    let mut pauses: Vec<_> = report.pauses.iter().collect();
    pauses.sort_by_key(|pause| pause.id);
    let stacks = &pauses[pause].stacks;
    let found = stacks.iter().find(|stack| stack.frames.first().is_some_and(|frame| frame == innermost));
    found.unwrap_or_else(|| panic!("{stacks:?}")).frames.clone()
}

/// The code path of a pause that goes through this function.
#[track_caller]
pub(crate) fn frames_with(report: &Report, pause: usize, function: &str) -> Vec<String> {
    let mut pauses: Vec<_> = report.pauses.iter().collect();
    pauses.sort_by_key(|pause| pause.id);
    let stacks = &pauses[pause].stacks;
    let found = stacks.iter().find(|stack| stack.frames.iter().any(|frame| frame == function));
    found.unwrap_or_else(|| panic!("{stacks:?}")).frames.clone()
}
