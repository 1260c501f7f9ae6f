//! For tests as root: the programs of scripts/workloads/native, which collect when they are told to and say what they did,
//! and what pauselens saw of it.

#![allow(dead_code, reason = "each test file includes this module and uses a part of it")]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;
use tracer::report::model::{Pause, Report, State};

use super::attached::{ALL_AS_JSON, Ended, Running, attach, pauselens, report_of};

/// A program, built.
#[derive(Debug)]
pub(crate) struct Program {
    folder: TempDir,
}

/// What a program says of one thing that it did, by its own clock, which is the kernel's monotonic one but for a constant.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Interval {
    pub(crate) kind: String,
    /// How many collections the runtime counted meanwhile.
    pub(crate) collections: u64,
    pub(crate) began_ns: i64,
    pub(crate) ended_ns: i64,
}

/// A run of a program, as it says and as pauselens saw it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) intervals: Vec<Interval>,
    /// All that it said.
    pub(crate) said: Value,
    /// What its runtime logged during the run.
    pub(crate) log: String,
    pub(crate) report: Report,
    /// The complete windows, in the order in which they began.
    pub(crate) windows: Vec<Pause>,
}

impl Program {
    /// Builds it, with the runtime fetched if it isn't there yet.
    pub(crate) fn build(name: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/workloads/native/build");
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(script);
        command.arg(name).arg(folder.path());
        let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
        Self { folder }
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts it and waits until it is ready.
    pub(crate) fn start(&self, environment: &[(&str, &str)]) -> Running {
        let mut command = Command::new(self.folder.path().join("run"));
        command.envs(environment.iter().copied());
        let mut running = Running::start(command);
        while running.line() != "{}" {}
        running
    }

    /// Runs it with pauselens attached.
    pub(crate) fn traced(&self, environment: &[(&str, &str)]) -> Run {
        let mut running = self.start(environment);
        let tracer = attach(running.pid(), &ALL_AS_JSON);
        running.tell("run");
        let mut log = String::new();
        let said = loop {
            let line = running.line();
            if line.starts_with('{') {
                break line;
            }
            log.push_str(&line);
            log.push('\n');
        };
        let report = report_of(tracer);
        running.no_more();
        let stderr = running.ended().stderr;
        if let Some((_, run)) = stderr.split_once("--- run begins\n") {
            log.push_str(run.split("--- run ends\n").next().unwrap());
        }
        Run::new(&said, log, report)
    }

    /// What attaching to it says, which must be an error before anything is attached.
    pub(crate) fn refused(&self) -> Ended {
        let running = self.start(&[]);
        let mut command = Command::new(pauselens());
        command.args(["attach", "--pid", &running.pid().to_string(), "--format", "json"]);
        let ended = Running::start(command).ended();
        assert_eq!(ended.code(), 1, "{}", ended.told());
        assert_eq!(ended.stdout, "", "no report is better than an empty one: {}", ended.told());
        ended
    }
}

impl Run {
    fn new(said: &str, log: String, report: Report) -> Self {
        let said: Value = serde_json::from_str(said).unwrap_or_else(|error| panic!("{error}: {said}"));
        let intervals = serde_json::from_value(said["intervals"].clone()).unwrap();
        let complete = |pause: &&Pause| pause.state == State::Complete;
        let mut windows: Vec<Pause> = report.pauses.iter().filter(complete).cloned().collect();
        windows.sort_by_key(|pause| pause.requested_ns);
        Self { intervals, said, log, report, windows }
    }

    /// A number that the program said.
    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.said[name].as_u64().unwrap_or_else(|| panic!("no number {name} in {}", self.said))
    }

    /// How many windows have this reason.
    pub(crate) fn with_reason(&self, reason: &str) -> usize {
        self.windows.iter().filter(|window| window.reason == reason).count()
    }

    /// The time of all windows.
    pub(crate) fn sum_ns(&self) -> u64 {
        self.windows.iter().map(duration_ns).sum()
    }

    /// The runtime and its version, as the report has them.
    pub(crate) fn runtime(&self) -> (&str, &str) {
        let runtime = &self.report.target.runtime;
        (&runtime.name, &runtime.version)
    }

    /// Every window was seen whole, and none was lost. (Details of stacks may be.)
    #[track_caller]
    pub(crate) fn all_complete(&self) {
        let odd: Vec<_> = self.report.pauses.iter().filter(|pause| pause.state != State::Complete).collect();
        assert!(odd.is_empty(), "{odd:#?}");
        let dropped = &self.report.trace.dropped;
        assert_eq!((dropped["pause_ring_full"], dropped["window_table_full"]), (0, 0), "{dropped:?}");
    }

    /// Each collection of each interval is one window, in order, and lies in it: there is one offset between the two clocks
    /// with which all of them do.
    #[track_caller]
    pub(crate) fn one_window_each(&self) {
        self.all_complete();
        let counted: u64 = self.intervals.iter().map(|interval| interval.collections).sum();
        assert_eq!(self.windows.len() as u64, counted, "windows and the runtime's own count");
        let mut windows = self.windows.iter();
        let (mut least, mut most) = (i64::MIN, i64::MAX);
        for interval in &self.intervals {
            for _ in 0..interval.collections {
                let window = windows.next().unwrap();
                assert!(
                    duration_ns(window) <= (interval.ended_ns - interval.began_ns).cast_unsigned(),
                    "{interval:?} holds {window:#?}"
                );
                least = least.max(interval.began_ns - window.requested_ns.unwrap());
                most = most.min(interval.ended_ns - window.resumed_ns.unwrap());
            }
        }
        assert!(
            least <= most,
            "windows that are not in their intervals: {:#?} {:#?}",
            self.intervals,
            self.windows
        );
    }

    /// The windows do not take longer than the intervals that they are in, all together.
    #[track_caller]
    pub(crate) fn fits(&self) {
        let intervals: i64 =
            self.intervals.iter().map(|interval| interval.ended_ns - interval.began_ns).sum();
        assert!(self.sum_ns() <= intervals.cast_unsigned(), "{} ns in {intervals} ns", self.sum_ns());
    }

    /// The marks that are there come in their order.
    #[track_caller]
    pub(crate) fn in_order(&self) {
        for window in &self.windows {
            let marks = [window.requested_ns, window.stopped_ns, window.restarting_ns, window.resumed_ns];
            let known: Vec<i64> = marks.into_iter().flatten().collect();
            assert!(known.is_sorted(), "{window:#?}");
        }
    }
}

/// The length of a complete window.
pub(crate) fn duration_ns(window: &Pause) -> u64 {
    window.duration_ns.expect("a complete window has a length")
}

/// Where scripts/fetch-native puts a runtime.
pub(crate) fn runtime_folder(name: &str) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/fetch-native");
    let output = Command::new(script).arg(name).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim_end())
}
