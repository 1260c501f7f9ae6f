//! The command line, as clap reads it.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use crate::probe::optional_tracepoints;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  pauselens check --pid 4242                      is everything here, and what would be probed?
  pauselens attach --pid 4242 --duration 60s      the worst pauses of the next minute
  pauselens attach --pid 4242 --format json -o r.json
  pauselens run -- ./service --port 8080          from the first pause on
  pauselens exposure --pid 4242                   what is swapped out, and what the next pause would cost

Exit status: 0 done; 1 the trace could not start or the input is unusable; 2 wrong usage; 3 the result is incomplete \
(details were dropped, the target ended early) although the report was printed.";
const EXIT_STATUS: &str = "\
Exit status: 0 done; 1 the trace could not start or the input is unusable; 2 wrong usage; 3 the result is incomplete \
(details were dropped, the target ended early) although the report was printed.";

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
    /// Start a command and trace it from its first pause
    #[command(after_help = EXIT_STATUS)]
    Run(RunArgs),
    /// How much of a process's memory is swapped out, and what its next pause would cost
    #[command(after_help = EXIT_STATUS)]
    Exposure(ExposureArgs),
    /// Test each thing that tracing needs, by itself
    Check(CheckArgs),
    /// Trace a built-in target whose faults are known
    Demo(DemoArgs),
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

/// The report's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people: at most 100 columns
    Text,
    /// For programs: see docs/json.md
    Json,
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
    /// The report's format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the report to a file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Kernel buffer for the details of faults, such as 8MiB (a power of two)
    #[arg(long, default_value = "8MiB", value_name = "SIZE", value_parser = ring_bytes)]
    pub ring_size: u32,
    /// How many threads can be followed at once
    #[arg(long, default_value_t = 32768, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_194_304))]
    pub max_threads: u32,
    /// Also probe what the runtime's own stamps tell, and compare (one more trap in each pause)
    #[arg(long)]
    pub cross_check: bool,
    /// Don't use this tracepoint, such as sched:sched_waking; what rests on it is reported as unavailable (repeatable)
    #[arg(long, value_name = "EVENT", value_parser = clap::builder::PossibleValuesParser::new(optional_tracepoints()))]
    pub without: Vec<String>,
    /// Measure what the kernel-side programs cost (slows every BPF program on the host a little)
    #[arg(long)]
    pub measure_overhead: bool,
}

/// `attach`.
#[derive(Args, Debug)]
pub struct AttachArgs {
    /// The process
    #[arg(long, short, value_name = "PID")]
    pub pid: u32,
    /// How to trace it.
    #[command(flatten)]
    pub trace: TraceArgs,
}

/// `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
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

/// `demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// The report's format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the report to a file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
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

fn ring_bytes(text: &str) -> Result<u32, String> {
    const SMALLEST: u64 = 4096;
    const LARGEST: u64 = 1 << 30;
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
    let bytes = number.saturating_mul(factor);
    if !bytes.is_power_of_two() || !(SMALLEST..=LARGEST).contains(&bytes) {
        return Err(format!(
            "{bytes} bytes: the kernel wants a power of two from 4KiB to 1GiB, such as 8MiB"
        ));
    }
    u32::try_from(bytes).map_err(|error| error.to_string())
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
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert!(duration("0s").is_err() && duration("soon").is_err());
    }
}
