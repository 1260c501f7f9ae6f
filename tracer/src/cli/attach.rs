//! `pauselens attach`: trace a process that is running.

use std::time::Instant;

use super::{
    args::{AttachArgs, Global},
    exit::Exit,
    exposed::Before,
    output::Output,
    recognised::find,
    tracing::{asked_ns, options, trace_shown, until},
};

/// Traces, then reports.
pub(super) fn attach(arguments: &AttachArgs, global: Global, started: Instant) -> anyhow::Result<Exit> {
    let trace = &arguments.trace;
    let mut output = Output::open(trace.format, trace.output.as_deref(), global)?;
    let found = find(arguments.pid)?;
    let before = Before::take(&found);
    let mut outcome = trace_shown(&found, &options(trace, global), started, until(trace), || {})?;
    // The report does not wait for the probes to be gone; the end of the program does.
    if let Some(detaching) = outcome.detaching.take() {
        detaching.at_exit();
    }
    let mut report = found.report(outcome, asked_ns(trace), None, Vec::new());
    before.and_after(&found, &mut report);
    output.write(&report)?;
    Ok(if report.trace.complete { Exit::Done } else { Exit::Incomplete })
}
