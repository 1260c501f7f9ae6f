//! The command line, as clap reads it.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use super::{format::Format, report_args::FormatArgs};
use crate::{probe::optional_tracepoints, runtime::Place, session::Unwind};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use tracer_common::stack_copy::{CHUNK_BYTES, MOST_BYTES};

const EXAMPLES: &str = "\
Examples:
  pauselens check --pid 4242                      is everything here, and what would be probed?
  pauselens attach --pid 4242 --duration 60s      the worst pauses of the next minute
  pauselens attach --pid 4242 --format json -o r.json
  pauselens attach --exe /usr/bin/service         every process that runs it, also those that start later
  pauselens attach --cgroup system.slice/x.service --follow-forks
  pauselens run -- ./service --port 8080          from the first pause on
  pauselens exposure --pid 4242                   what is swapped out, and what the next pause would cost
  pauselens attach --pid 4242 --function main.buildMessage --longer-than 20ms
  pauselens attach --pid 4242 --enter txn_begin --exit txn_commit

Exit status: 0 done; 1 the trace could not start or the input is unusable; 2 wrong usage; 3 the result is incomplete \
(details were dropped, the target ended early) although the report was printed.";
const EXIT_STATUS: &str = "\
Exit status: 0 done; 1 the trace could not start or the input is unusable; 2 wrong usage; 3 the result is incomplete \
(details were dropped, the target ended early) although the report was printed.";
const EXPOSURE_STATUS: &str = "\
Exit status: 0 done; 1 the process can't be looked at, or the report not written; 2 wrong usage; 3 a part of the report \
is missing: it says which.";
const CHECK_STATUS: &str = "\
Exit status: 0 everything that tracing needs is here; 1 something is missing; 2 wrong usage.";
const RUNTIMES_STATUS: &str = "Exit status: 0 done; 1 there is no such runtime; 2 wrong usage.";
const DEMO_STATUS: &str = "\
Exit status: 0 the trace agrees with the target's own account; 1 the trace could not start; 2 wrong usage; 3 it does not \
agree, or the result is incomplete.";

/// Watches a process's stop-the-world pauses and says why the long ones were long.
#[derive(Debug, Parser)]
#[command(name = "pauselens", version, about, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Trace a process that is running
    #[command(after_help = EXIT_STATUS)]
    Attach(AttachArgs),
    /// Trace a process that is running into a file, for reports, pictures and comparisons later
    #[command(after_help = EXIT_STATUS)]
    Record(RecordArgs),
    /// What a recording tells, as a report or a picture
    #[command(after_help = super::report_args::HELP)]
    Report(super::report_args::ReportFileArgs),
    /// Two sides compared, each of one or many recordings: better, worse, or no difference shown
    #[command(after_help = super::compare_args::HELP)]
    Compare(super::compare_args::CompareArgs),
    /// Start a command and trace it from its first pause
    #[command(after_help = EXIT_STATUS)]
    Run(RunArgs),
    /// How much of a process's memory is swapped out, and what its next pause would cost
    #[command(after_help = EXPOSURE_STATUS)]
    Exposure(ExposureArgs),
    /// Test each thing that tracing needs, by itself
    #[command(after_help = CHECK_STATUS)]
    Check(CheckArgs),
    /// List the runtimes whose pauses are known, with the versions tested
    #[command(after_help = RUNTIMES_STATUS)]
    Runtimes(RuntimesArgs),
    /// Trace a built-in target whose faults are known
    #[command(after_help = DEMO_STATUS)]
    Demo(DemoArgs),
    /// Write shell completions and manual pages into a folder
    #[command(hide = true)]
    GenerateDocs(super::generate_docs_args::GenerateDocsArgs),
    /// The built-in target: faults a known number of pages inside its own pauses
    #[command(hide = true)]
    DemoTarget(Box<crate::demo::target::Options>),
}

/// Options of every command.
#[derive(Args, Clone, Copy, Debug)]
pub struct Global {
    /// Show more; twice shows the kernel side's diagnostics as well
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// Colours in the text
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
}

impl Global {
    /// Colours of pauselens's own log on standard error; without a choice the terminal and `NO_COLOR` decide.
    #[must_use]
    pub fn log_style(self) -> env_logger::WriteStyle {
        match self.color {
            Colour::Auto => env_logger::WriteStyle::Auto,
            Colour::Always => env_logger::WriteStyle::Always,
            Colour::Never => env_logger::WriteStyle::Never,
        }
    }

    /// The level of pauselens's own log on standard error.
    #[must_use]
    pub fn log_level(self) -> log::LevelFilter {
        match self.verbose {
            0 => log::LevelFilter::Error,
            1 => log::LevelFilter::Warn,
            _ => log::LevelFilter::Debug,
        }
    }
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How user stacks at faults are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UnwindBy {
    /// By frame pointers
    Fp,
    /// From a copy of the stack, by the call frame information of the target's files (.eh_frame)
    Dwarf,
    /// dwarf for faults in files without frame pointers, fp for the others
    Auto,
}

impl From<UnwindBy> for Unwind {
    fn from(by: UnwindBy) -> Self {
        match by {
            UnwindBy::Fp => Self::FramePointers,
            UnwindBy::Dwarf => Self::Copies,
            UnwindBy::Auto => Self::CopiesWhereNeeded,
        }
    }
}

/// Options of a trace.
#[derive(Args, Clone, Debug)]
pub struct TraceArgs {
    /// Stop after this time, such as 30s or 5m [default: until Ctrl-C or the target's end]
    #[arg(long, short, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// How many of the worst pauses to report (text breaks down the first three, with -v all)
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub top: u32,
    /// Report every pause; memory grows with their number
    #[arg(long, conflicts_with = "top")]
    pub all: bool,
    /// The recording grows to this size at most, such as 100MiB: the worst pauses stay in full, the others as totals
    #[arg(long, value_name = "SIZE", value_parser = max_size)]
    pub max_size: Option<u64>,
    /// Kernel buffer for the details of faults, such as 8MiB (a power of two)
    #[arg(long, default_value = "8MiB", value_name = "SIZE", value_parser = ring_bytes)]
    pub ring_size: u32,
    /// How many threads can be followed at once
    #[arg(long, default_value_t = 32768, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_194_304))]
    pub max_threads: u32,
    /// How often a recording gets the state of memory, such as 1s; it is read at the end of long pauses too (0: never)
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = memory_interval)]
    pub memory_interval: Duration,
    /// Trace children of the processes too, each as a process of its own, and what an exec begins
    #[arg(long)]
    pub follow_forks: bool,
    /// Also probe what the runtime's own stamps tell, and compare (one more trap in each pause)
    #[arg(long)]
    pub cross_check: bool,
    /// Don't use this tracepoint, such as sched:sched_waking; what rests on it is reported as unavailable (repeatable)
    #[arg(long, value_name = "EVENT", value_parser = clap::builder::PossibleValuesParser::new(optional_tracepoints()))]
    pub without: Vec<String>,
    /// How user stacks at faults are found
    #[arg(long, value_enum, default_value_t = UnwindBy::Fp, value_name = "HOW")]
    pub unwind: UnwindBy,
    /// How much of a stack is copied for --unwind dwarf and auto (1KiB to 31KiB)
    #[arg(long, default_value = "16KiB", value_name = "SIZE", value_parser = stack_bytes)]
    pub stack_bytes: u32,
    /// Which windows.
    #[command(flatten)]
    pub windows: WindowArgs,
    /// Measure what the kernel-side programs cost (slows every BPF program on the host a little)
    #[arg(long)]
    pub measure_overhead: bool,
}

/// Where the report of a trace goes.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// The report's format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Write the report to a file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also record everything to a file, such as run.jsonl.zst, for `pauselens report` and `compare`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// Which windows are traced: by default the pauses of the runtime that is recognised.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Windows (by default the pauses of the runtime that is recognised)")]
pub struct WindowArgs {
    /// Take the process for this runtime: see `pauselens runtimes`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["runtime_file", "enter", "function"])]
    pub runtime: Option<String>,
    /// Take the runtime's definition from a file, in the form of `pauselens runtimes --show NAME`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["enter", "function"])]
    pub runtime_file: Option<PathBuf>,
    /// Windows open at this place: SYMBOL, FILE:SYMBOL, return:SYMBOL, usdt:PROVIDER:NAME or FILE+0xOFFSET (repeatable)
    #[arg(long, value_name = "PLACE", requires = "exit", conflicts_with = "function")]
    pub enter: Vec<Place>,
    /// Windows close at this place (repeatable)
    #[arg(long, value_name = "PLACE", requires = "enter")]
    pub exit: Vec<Place>,
    /// Show this argument of the place where windows open, from 0, as their reason
    #[arg(long, value_name = "N", requires = "enter", value_parser = clap::value_parser!(u8).range(0..=8))]
    pub reason_arg: Option<u8>,
    /// How many windows between --enter and --exit can be open at the same time
    #[arg(long, value_enum, default_value_t = Key::Process, value_name = "WHOSE", requires = "enter")]
    pub key: Key,
    /// Trace the calls of this function: one window per call, by thread, or by goroutine in Go
    #[arg(long, value_name = "PLACE")]
    pub function: Option<Place>,
    /// Report only windows that are longer, such as 20ms; shorter ones are counted
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub longer_than: Option<Duration>,
    /// Stop when more windows than this begin in a second: each costs the target two traps
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub max_rate: u64,
    /// Trace during this share of the time only, such as 10%: for functions that are called very often
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub sample: Option<f64>,
}

impl WindowArgs {
    /// Whether they are others than the pauses of a runtime.
    #[must_use]
    pub fn are_own(&self) -> bool {
        self.function.is_some() || !self.enter.is_empty()
    }
}

/// Whose windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Key {
    /// One in the process
    Process,
    /// One in each thread
    Thread,
}

fn share(text: &str) -> Result<f64, String> {
    let wrong = || format!("{text:?} is no share; write for example 10% or 0.1");
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().map_err(|_| wrong())? / 100.0,
        None => text.parse().map_err(|_| wrong())?,
    };
    if (0.01..=1.0).contains(&value) { Ok(value) } else { Err("a share is from 1% to 100%".to_owned()) }
}

/// Which processes are traced.
#[derive(Args, Debug)]
pub struct WhichArgs {
    /// The process; several with --pid A,B or --pid A --pid B
    #[arg(long, short, value_name = "PID", value_delimiter = ',', required_unless_present_any = ["exe", "cgroup"])]
    pub pid: Vec<u32>,
    /// Every process that runs this file (or one of this path in its own root), also those that start later
    #[arg(long, value_name = "PATH", conflicts_with_all = ["pid", "cgroup"])]
    pub exe: Option<PathBuf>,
    /// Every process of this cgroup and of those below it, also those that come later: its folder, or its path as in /proc/PID/cgroup
    #[arg(long, value_name = "PATH", conflicts_with = "pid")]
    pub cgroup: Option<PathBuf>,
    /// A process in which no runtime is recognised is looked at again for so long, such as 10s
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with_all = ["exe", "cgroup"])]
    pub wait_for_runtime: Option<Duration>,
}

/// `attach`.
#[derive(Args, Debug)]
pub struct AttachArgs {
    /// Which processes.
    #[command(flatten)]
    pub which: WhichArgs,
    /// Where the report goes.
    #[command(flatten)]
    pub report: ReportArgs,
    /// How to trace it.
    #[command(flatten)]
    pub trace: TraceArgs,
}

/// `record`.
#[derive(Args, Debug)]
pub struct RecordArgs {
    /// Which processes.
    #[command(flatten)]
    pub which: WhichArgs,
    /// The recording: zstd-compressed JSON lines, such as run.jsonl.zst
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// How to trace it.
    #[command(flatten)]
    pub trace: TraceArgs,
}

/// `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// Where the report goes.
    #[command(flatten)]
    pub report: ReportArgs,
    /// How to trace it.
    #[command(flatten)]
    pub trace: TraceArgs,
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// `exposure`.
#[derive(Args, Debug)]
pub struct ExposureArgs {
    /// The process
    #[arg(long, short, value_name = "PID")]
    pub pid: u32,
    /// The report's format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the report to a file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Also say what would be traced in this process
    #[arg(long, short, value_name = "PID")]
    pub pid: Option<u32>,
}

/// `runtimes`.
#[derive(Args, Debug)]
pub struct RuntimesArgs {
    /// Print this runtime's definition, which is also the form of `--runtime-file`
    #[arg(long, value_name = "NAME")]
    pub show: Option<String>,
    /// The list's format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// `demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// The report's format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the report to a file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also record everything to a file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

fn duration(text: &str) -> Result<Duration, String> {
    // A bare number is seconds.
    let parsed = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => humantime::parse_duration(text)
            .map_err(|error| format!("{error}; write for example 30s, 5m or 500ms"))?,
    };
    if parsed.is_zero() {
        Err("a trace of no time sees nothing; write for example 30s".to_owned())
    } else {
        Ok(parsed)
    }
}

/// Zero is none.
fn memory_interval(text: &str) -> Result<Duration, String> {
    const SHORTEST: Duration = Duration::from_millis(20);
    if matches!(text.parse(), Ok(0.0)) {
        return Ok(Duration::ZERO);
    }
    let interval = duration(text).map_err(|error| format!("{error}, or 0 for never"))?;
    if interval < SHORTEST {
        return Err(format!(
            "{text:?} is shorter than 20ms, the shortest there is; write for example 1s, or 0 for never"
        ));
    }
    Ok(interval)
}

fn ring_bytes(text: &str) -> Result<u32, String> {
    const SMALLEST: u64 = 4096;
    const LARGEST: u64 = 1 << 30;
    let bytes = bytes(text)?;
    if !bytes.is_power_of_two() || !(SMALLEST..=LARGEST).contains(&bytes) {
        return Err(format!(
            "{bytes} bytes: the kernel wants a power of two from 4KiB to 1GiB, such as 8MiB"
        ));
    }
    u32::try_from(bytes).map_err(|error| error.to_string())
}

fn max_size(text: &str) -> Result<u64, String> {
    const SMALLEST: u64 = 256 << 10;
    let bytes = bytes(text)?;
    if bytes < SMALLEST {
        return Err(format!("{bytes} bytes: a recording needs at least {}KiB", SMALLEST >> 10));
    }
    Ok(bytes)
}

fn stack_bytes(text: &str) -> Result<u32, String> {
    let (step, most) = (CHUNK_BYTES as u64, MOST_BYTES as u64);
    let bytes = bytes(text)?;
    if bytes % step != 0 || !(step..=most).contains(&bytes) {
        return Err(format!(
            "{bytes} bytes: a stack is copied in steps of 1KiB, from 1KiB to {}KiB",
            most / step
        ));
    }
    u32::try_from(bytes).map_err(|error| error.to_string())
}

/// A size such as `64KiB`.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let factor = match &text[digits.len()..] {
        "" | "B" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        unit => return Err(format!("unknown unit {unit:?}; write for example 64KiB or 8MiB")),
    };
    let number: u64 =
        digits.parse().map_err(|_| "not a number; write for example 64KiB or 8MiB".to_owned())?;
    Ok(number.saturating_mul(factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_and_times() {
        assert_eq!(ring_bytes("64KiB"), Ok(65536));
        assert_eq!(ring_bytes("8M"), Ok(8 << 20));
        assert_eq!(ring_bytes("4096"), Ok(4096));
        for wrong in ["5KiB", "2KiB", "2GiB", "lots", "8MB", "", "99999999999999999999"] {
            assert!(ring_bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!((stack_bytes("16KiB"), stack_bytes("31K")), (Ok(16384), Ok(31744)));
        for wrong in ["0", "1000", "32KiB", "16KB", "1MiB", ""] {
            assert!(stack_bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(memory_interval("0"), Ok(Duration::ZERO));
        assert_eq!(memory_interval("20ms"), Ok(Duration::from_millis(20)));
        for wrong in ["19ms", "1ns", "soon", "0s", "-1", ""] {
            assert!(memory_interval(wrong).is_err(), "{wrong}");
        }
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!((share("10%"), share("0.5")), (Ok(0.1), Ok(0.5)));
        assert!(share("0%").is_err() && share("2").is_err() && share("some").is_err());
        assert!(duration("0s").is_err() && duration("soon").is_err());
    }
}
