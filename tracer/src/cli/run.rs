//! `pauselens run`: start a command and trace it from its first pause.

use std::{process::Stdio, time::Instant};

use super::{
    args::{Format, Global, RunArgs},
    exit::Exit,
    exposed::Before,
    output::Output,
    recognised::find,
    tracing::{asked_ns, options, trace_shown, until},
};
use crate::target::Held;

/// Starts, traces, reports. The command goes on when the trace ends before it.
pub(super) fn run(arguments: &RunArgs, global: Global, started: Instant) -> anyhow::Result<Exit> {
    let trace = &arguments.trace;
    let mut output = Output::open(trace.format, trace.output.as_deref(), global)?;
    let mut command = std::process::Command::new(&arguments.command[0]);
    command.args(&arguments.command[1..]);
    if output.is_standard() && output.format() == Format::Json {
        // Standard output holds the report and nothing else.
        command.stdout(Stdio::from(std::io::stderr()));
    }
    let mut held = Held::start(command)?;
    let found = find(held.pid()).inspect_err(|_| held.kill())?;
    let before = Before::take(&found);
    let outcome = trace_shown(&found, &options(trace, global), started, until(trace), || held.release());
    let mut outcome = outcome.inspect_err(|_| held.kill())?;
    if let Some(detaching) = outcome.detaching.take() {
        detaching.at_exit();
    }
    let exit = held.exit_status();
    let mut notes = Vec::new();
    if exit.is_none() {
        notes.push(format!("the command goes on as process {}", held.pid()));
    }
    let mut report = found.report(outcome, asked_ns(trace), exit, notes);
    before.and_after(&found, &mut report);
    output.write(&report)?;
    Ok(if report.trace.complete { Exit::Done } else { Exit::Incomplete })
}
