//! Every form that a recording can be given: one enumeration, one function.

use std::io::Write;

use anyhow::{Context as _, bail};

use super::{
    csv, flame, folded, html, json,
    model::{Ended, Report},
    perfetto, pprof,
    processes::{ProcessesReport, SCHEMA, WholeTrace},
    samples::By,
    text::{self, Style},
};
use crate::recording::Recording;

/// What a recording is made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// The report for people, as `attach` prints it.
    Text,
    /// The same report for programs: docs/json.md.
    Json,
    /// A flame graph: SVG.
    Flamegraph,
    /// Folded stacks, for flame graph tools.
    Folded,
    /// A profile for pprof: protobuf, gzip.
    Pprof,
    /// A trace for Perfetto: protobuf.
    Perfetto,
    /// One line per pause, for spreadsheets.
    Csv,
    /// One page that needs nothing else.
    Html,
}

impl Picture {
    /// Every one.
    pub const ALL: [Self; 8] = [
        Self::Text,
        Self::Json,
        Self::Html,
        Self::Flamegraph,
        Self::Folded,
        Self::Pprof,
        Self::Perfetto,
        Self::Csv,
    ];

    /// Whether it is bytes that no terminal can show.
    #[must_use]
    pub fn is_binary(self) -> bool {
        match self {
            Self::Pprof | Self::Perfetto => true,
            Self::Text | Self::Json | Self::Html | Self::Flamegraph | Self::Folded | Self::Csv => false,
        }
    }
}

/// Which pauses a report lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listed {
    /// Those that were listed when the trace ended.
    #[default]
    AsRecorded,
    /// The longest so many.
    Longest(usize),
    /// All.
    All,
}

/// How a picture is to be.
#[derive(Clone, Debug)]
pub struct Wish {
    /// What it is.
    pub picture: Picture,
    /// How text looks.
    pub style: Style,
    /// Which pauses text and JSON list.
    pub listed: Listed,
    /// What the sizes in flame graph and folded stacks stand for.
    pub by: By,
}

/// Writes the recording in the form that is wished for.
///
/// # Errors
/// When the recording can't be read any more, `out` can't be written to, or nothing of the recording has this form.
pub fn write(recording: &Recording, wish: &Wish, out: &mut dyn Write) -> anyhow::Result<()> {
    match wish.picture {
        Picture::Text => write_report(recording, wish, out),
        Picture::Json => write_report(recording, wish, out),
        Picture::Flamegraph => flame::write(recording, wish.by, out),
        Picture::Folded => folded::write(recording, wish.by, out),
        Picture::Pprof => pprof::write(recording, out),
        Picture::Perfetto => perfetto::write(recording, out),
        Picture::Csv => csv::write(recording, out),
        Picture::Html => html::write(recording, out),
    }
}

/// The report: of one process, or of several.
#[derive(Clone, Debug, PartialEq)]
pub enum Whole {
    /// The trace was of one process.
    One(Box<Report>),
    /// Or of several.
    Several(Box<ProcessesReport>),
}

impl Whole {
    /// Whether everything was seen.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match self {
            Self::One(report) => report.trace.complete,
            Self::Several(report) => report.trace.complete,
        }
    }
}

/// The report that a recording holds, as `attach` gave it.
///
/// # Errors
/// When the recording can't be read any more, or has no process.
pub fn report(recording: &Recording, listed: Listed) -> anyhow::Result<Whole> {
    let reports = recording.processes.iter().map(|recorded| {
        let how_many = match listed {
            Listed::AsRecorded => return Ok(recorded.report.clone()),
            Listed::Longest(how_many) => Some(how_many),
            Listed::All => None,
        };
        let mut report = recorded.report.clone();
        report.pauses = recording.longest(recorded.process.process, how_many)?;
        Ok(report)
    });
    let mut reports = reports.collect::<anyhow::Result<Vec<Report>>>()?;
    let whole = recording.end.as_ref().and_then(|end| end.trace.clone()).filter(|_| !recording.is_narrowed());
    if whole.is_none() && reports.len() == 1 {
        return Ok(Whole::One(Box::new(reports.swap_remove(0))));
    }
    if reports.is_empty() && whole.is_none() {
        bail!("{} holds no process: nothing was traced when it was cut off", recording.path.display());
    }
    let mut report = ProcessesReport {
        schema: SCHEMA.to_owned(),
        tool: recording.header.tool.clone(),
        trace: whole.unwrap_or_else(|| cut_off(recording, &reports)),
        processes: reports,
        unrecognised: recording.end.as_ref().map(|end| end.unrecognised.clone()).unwrap_or_default(),
    };
    report.arrange();
    Ok(Whole::Several(Box::new(report)))
}

/// What is said of the whole trace by a recording without its end.
fn cut_off(recording: &Recording, reports: &[Report]) -> WholeTrace {
    let ends =
        reports.iter().map(|report| report.trace.covered_from_ns.saturating_add(report.trace.duration_ns));
    WholeTrace {
        started_unix_ms: recording.header.started_unix_ms,
        clock: recording.header.clock.clone(),
        duration_ns: ends.max().unwrap_or(0),
        asked: recording.header.asked.clone(),
        ended: Ended::RecordingCutOff,
        dropped: recording.losses.dropped.clone(),
        complete: false,
        incomplete: vec![
            "the recording has no end: what only the end of a trace tells is not known".to_owned(),
        ],
        notes: Vec::new(),
        unrecognised_more: 0,
    }
}

fn write_report(recording: &Recording, wish: &Wish, out: &mut dyn Write) -> anyhow::Result<()> {
    let text = match (report(recording, wish.listed)?, wish.picture) {
        (Whole::One(report), Picture::Json) => json::render(&report),
        (Whole::Several(report), Picture::Json) => json::render_processes(&report),
        (Whole::One(report), _) => Ok(text::render(&report, &wish.style)),
        (Whole::Several(report), _) => Ok(text::render_processes(&report, &wish.style)),
    };
    out.write_all(text.context("the report can't be written as JSON")?.as_bytes())?;
    Ok(())
}
