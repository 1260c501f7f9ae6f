//! `pauselens run`: start a command and trace it from its first pause.

use std::{process::Stdio, time::Instant};

use super::{
    args::{Global, RunArgs},
    attach::{NAMING, finish},
    exit::Exit,
    exposed::Before,
    output::Output,
    recognised::{Besides, only, report},
    recorded::Recorded,
    report_args::ReportFormat,
    several,
    tracing::{Shown, asked_ns, options, recordable, trace_shown, until},
    windows::{chosen, unit},
};
use crate::{
    message::message,
    runtime::Chosen,
    session::{Scope, Subject},
    target::{Held, Target},
};

/// Starts, traces, reports. The command goes on when the trace ends before it.
pub(super) fn run(arguments: &RunArgs, global: Global, started: Instant) -> anyhow::Result<Exit> {
    let trace = &arguments.trace;
    let record = arguments.report.record.as_deref();
    let mut output = Output::open(arguments.report.format, arguments.report.output.as_deref(), global)?
        .apart_from(record)?;
    let mut command = std::process::Command::new(&arguments.command[0]);
    command.args(&arguments.command[1..]);
    if output.is_standard() && output.format() != ReportFormat::Text {
        // Standard output holds the report and nothing else.
        command.stdout(Stdio::from(std::io::stderr()));
    }
    let chosen = chosen(&trace.windows)?;
    output.doing("looking at the command");
    let mut held = Held::start(command)?;
    let (mut scope, described) = scope(held.pid(), chosen).inspect_err(|_| held.kill())?;
    scope.follow_forks = trace.follow_forks;
    let before = scope.subjects.first().map_or_else(Before::untaken, Before::take);
    let asked = if trace.follow_forks { format!("{described}, with its children") } else { described };
    let recorded = Recorded::begin(record, output.needs_recording(), recordable(trace, &asked));
    let mut recorded = recorded.inspect_err(|_| held.kill())?;
    output.done();
    let traced = trace_shown(
        scope,
        &options(trace, global),
        started,
        Shown { asked: asked.clone(), until: until(trace), unit: unit(&trace.windows) },
        recorded.recorder(),
        || held.release(),
    );
    let mut traced = traced.inspect_err(|_| held.kill())?;
    output.doing(NAMING);
    if let Some(detaching) = traced.detaching.take() {
        detaching.at_exit();
    }
    let exit = held.exit_status();
    let mut notes = Vec::new();
    if exit.is_none() {
        notes.push(format!("the command goes on as process {}", held.pid()));
    }
    let mut besides = Besides { asked_ns: asked_ns(trace), exit, notes };
    if trace.follow_forks {
        // Where processes come and go, none is expected to last; and the exit is that of one of them.
        besides.asked_ns = None;
        if let Some(exit) = besides.exit.take() {
            traced.notes.push(format!("the command ended with {exit}"));
        }
        return several::finish(traced, &mut output, asked, &besides, &mut recorded);
    }
    let (subject, outcome) = only(&mut traced)?;
    let (mut report, recording) = report(&subject, outcome, besides);
    before.and_after(&subject, &mut report);
    finish(&report, recording, &mut output, &mut recorded)
}

/// The child stands at its first instruction: often only a launcher is mapped by then, and its runtime comes later.
fn scope(pid: u32, chosen: Chosen) -> anyhow::Result<(Scope, String)> {
    let target = Target::open(pid)?;
    let mut scope = Scope::new(chosen);
    match Subject::of(target, &scope.chosen) {
        Ok(subject) => {
            let described = subject.describe();
            scope.subjects.push(subject);
            Ok((scope, described))
        }
        Err(refused) if refused.error.may_change() => {
            let described = format!("{pid} ({}), whose runtime is not mapped yet", refused.target.name());
            scope.awaited.push((refused.target, message(&refused.error)));
            Ok((scope, described))
        }
        Err(refused) => Err(refused.error.into()),
    }
}
