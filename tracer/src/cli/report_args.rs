//! `pauselens report`: what can be typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::format::Format;

use crate::report::{
    pictures::{Listed, Picture},
    samples::By,
};

pub(super) const HELP: &str = "\
Examples:
  pauselens report run.jsonl.zst                             what attach would have printed
  pauselens report run.jsonl.zst --top 20 -v                 more of the worst pauses, in full
  pauselens report run.jsonl.zst --format html -o run.html   to look at and to share
  pauselens report run.jsonl.zst --format pprof -o run.pb.gz; go tool pprof -http : run.pb.gz
  pauselens report run.jsonl.zst --format csv -o pauses.csv  one line per pause

Exit status: 0 done; 1 nothing in the file can be used; 2 wrong usage; 3 the recording is damaged or was cut off, or its \
trace did not see everything: what is missing is named on standard error.";

/// `report`.
#[derive(Args, Debug)]
pub struct ReportFileArgs {
    /// The recording, such as run.jsonl.zst
    #[arg(value_name = "FILE")]
    pub recording: PathBuf,
    /// What to make of it
    #[command(flatten)]
    pub format: FormatArgs,
    /// List so many of the worst pauses in text and JSON [default: as many as were listed when the trace ended]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub top: Option<u32>,
    /// List every pause; memory grows with their number
    #[arg(long, conflicts_with = "top")]
    pub all: bool,
    /// Only this process: its pid, or its number in the recording
    #[arg(long, value_name = "PID")]
    pub process: Option<u32>,
    /// Write to a file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl ReportFileArgs {
    /// Which pauses are listed.
    pub(super) fn listed(&self) -> Listed {
        match (self.all, self.top) {
            (true, _) => Listed::All,
            (false, Some(top)) => Listed::Longest(top as usize),
            (false, None) => Listed::AsRecorded,
        }
    }
}

/// What a trace or a recording is made into.
#[derive(Args, Clone, Copy, Debug)]
pub struct FormatArgs {
    /// What to make of it
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// What the sizes in flamegraph and folded stand for
    #[arg(long, value_enum, default_value_t = Size::Time)]
    pub by: Size,
}

impl Default for FormatArgs {
    fn default() -> Self {
        Self::of(ReportFormat::Text)
    }
}

impl FormatArgs {
    /// This format, by time.
    pub(super) fn of(format: ReportFormat) -> Self {
        Self { format, by: Size::Time }
    }
}

/// What a recording is made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people: at most 100 columns
    Text,
    /// For programs: see docs/json.md
    Json,
    /// One page for a browser, which needs nothing else: to look at, click through and send on
    Html,
    /// Flame graph of the faults in pauses: SVG, for browsers
    Flamegraph,
    /// Folded stacks, for flame graph tools
    Folded,
    /// Profile for `go tool pprof` and others (protobuf, gzip)
    Pprof,
    /// Trace for ui.perfetto.dev and trace_processor (protobuf)
    Perfetto,
    /// One line per pause, for spreadsheets: see docs/recording.md
    Csv,
}

/// What sizes stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Size {
    /// Time in faults
    Time,
    /// How many faults
    Count,
}

impl From<Size> for By {
    fn from(size: Size) -> Self {
        match size {
            Size::Time => Self::Time,
            Size::Count => Self::Count,
        }
    }
}

impl From<Format> for FormatArgs {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::of(ReportFormat::Text),
            Format::Json => Self::of(ReportFormat::Json),
        }
    }
}

impl From<ReportFormat> for Picture {
    fn from(format: ReportFormat) -> Self {
        match format {
            ReportFormat::Text => Self::Text,
            ReportFormat::Json => Self::Json,
            ReportFormat::Flamegraph => Self::Flamegraph,
            ReportFormat::Folded => Self::Folded,
            ReportFormat::Pprof => Self::Pprof,
            ReportFormat::Perfetto => Self::Perfetto,
            ReportFormat::Csv => Self::Csv,
            ReportFormat::Html => Self::Html,
        }
    }
}
