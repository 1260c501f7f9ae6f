//! From a trace of several processes to its report.

use super::{
    exit::Exit,
    output::Output,
    recognised::{Besides, report, some},
    recorded::Recorded,
};
use crate::{
    assemble::ended,
    report::{
        model::{Tool, Unavailable},
        processes::{ProcessesReport, SCHEMA, Unrecognised, WholeTrace},
    },
    session::{Outcome, Subject, Traced},
};

/// Writes the report. `asked`: what was traced, in words.
pub(super) fn finish(
    traced: Traced,
    output: &mut Output,
    asked: String,
    besides: &Besides,
    recorded: &mut Recorded,
) -> anyhow::Result<Exit> {
    some(&traced)?;
    let report = assemble(traced, asked, besides);
    let kept = recorded.end(Some(report.trace.clone()), report.unrecognised.clone());
    output.write_processes(&report, recorded)?;
    Ok(if report.trace.complete && kept { Exit::Done } else { Exit::Incomplete })
}

fn assemble(traced: Traced, asked: String, besides: &Besides) -> ProcessesReport {
    let one = |(subject, outcome): (Subject, Outcome)| {
        let (mut report, recording) = report(&subject, outcome, besides.clone());
        report.trace.unavailable.push(Unavailable {
            part: "exposure".to_owned(),
            why: format!(
                "several processes are traced; `pauselens exposure --pid {}` looks at one",
                report.target.pid
            ),
        });
        if let Some(recording) = recording {
            recording.end(&report);
        }
        report
    };
    let dropped = traced.losses.by_name().iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    let mut report = ProcessesReport {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "pauselens".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        trace: WholeTrace {
            started_unix_ms: traced.started_unix_ms,
            clock: "CLOCK_MONOTONIC".to_owned(),
            duration_ns: traced.duration_ns,
            asked,
            ended: ended(traced.ended),
            dropped,
            complete: true,
            incomplete: traced.incomplete,
            notes: traced.notes,
            unrecognised_more: traced.unrecognised_more,
        },
        processes: traced.processes.into_iter().map(one).collect(),
        unrecognised: traced
            .unrecognised
            .into_iter()
            .map(|process| Unrecognised {
                pid: process.pid,
                exe: process.exe.map(|exe| exe.to_string_lossy().into_owned()),
                why: process.why,
            })
            .collect(),
    };
    report.arrange();
    report
}
