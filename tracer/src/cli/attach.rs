//! `pauselens attach`: trace a process that is running, or several.

use std::{path::Path, time::Instant};

use super::{
    args::{AttachArgs, Global, TraceArgs, WhichArgs},
    exit::Exit,
    exposed::Before,
    output::Output,
    recognised::{Besides, find, only, report},
    recorded::Recorded,
    several,
    tracing::{Shown, asked_ns, options, recordable, trace_shown, until},
    windows::{chosen, unit},
};
use crate::{
    message::message,
    recording::ProcessRecorder,
    report::model::Report,
    session::{Matching, Scope, Subject},
    target::Target,
};

/// What is done between the trace and its report.
pub(super) const NAMING: &str = "finding the names of what was seen";

/// Traces, then reports.
pub(super) fn attach(arguments: &AttachArgs, global: Global, started: Instant) -> anyhow::Result<Exit> {
    let output = Output::open(arguments.report.format, arguments.report.output.as_deref(), global)?;
    let record = arguments.report.record.as_deref();
    let output = output.apart_from(record)?;
    trace(&arguments.which, &arguments.trace, output, record, global, started)
}

/// Traces what was asked for, records and reports it.
pub(super) fn trace(
    which: &WhichArgs,
    trace: &TraceArgs,
    mut output: Output,
    record: Option<&Path>,
    global: Global,
    started: Instant,
) -> anyhow::Result<Exit> {
    output.doing("looking at the process");
    let scope = scope(which, trace)?;
    let asked = describe(&scope);
    let mut recorded = Recorded::begin(record, output.needs_recording(), recordable(trace, &asked))?;
    let is_one = scope.subjects.len() + scope.awaited.len() == 1 && !scope.follow_forks;
    let before = match (&scope.subjects[..], is_one) {
        ([subject], true) => Before::take(subject),
        _ => Before::untaken(),
    };
    output.done();
    let newcomers = scope.matching.is_some() || scope.follow_forks;
    let traced = trace_shown(
        scope,
        &options(trace, global),
        started,
        Shown { asked: asked.clone(), until: until(trace), unit: unit(&trace.windows) },
        recorded.recorder(),
        || {},
    );
    let mut traced = traced?;
    output.doing(NAMING);
    // The report does not wait for the probes to be gone; the end of the program does.
    if let Some(detaching) = traced.detaching.take() {
        detaching.at_exit();
    }
    // Where processes come and go, none is expected to last.
    let asked_ns = asked_ns(trace).filter(|_| !newcomers);
    let besides = Besides { asked_ns, ..Besides::default() };
    if !is_one {
        return several::finish(traced, &mut output, asked, &besides, &mut recorded);
    }
    let (subject, outcome) = only(&mut traced)?;
    let (mut report, recording) = report(&subject, outcome, besides);
    before.and_after(&subject, &mut report);
    finish(&report, recording, &mut output, &mut recorded)
}

/// Ends the recording of a trace of one process, and writes its report.
pub(super) fn finish(
    report: &Report,
    recording: Option<ProcessRecorder>,
    output: &mut Output,
    recorded: &mut Recorded,
) -> anyhow::Result<Exit> {
    if let Some(recording) = recording {
        recording.end(report);
    }
    let kept = recorded.end(None, Vec::new());
    output.write(report, recorded)?;
    Ok(if report.trace.complete && kept { Exit::Done } else { Exit::Incomplete })
}

fn scope(arguments: &WhichArgs, trace: &TraceArgs) -> anyhow::Result<Scope> {
    let mut scope = Scope::new(chosen(&trace.windows)?);
    scope.follow_forks = trace.follow_forks;
    scope.matching = match (&arguments.exe, &arguments.cgroup) {
        (Some(path), _) => Some(Matching::executable(path)?),
        (None, Some(path)) => Some(Matching::cgroup(path)?),
        (None, None) => None,
    };
    scope.wait = arguments.wait_for_runtime;
    let mut pids = arguments.pid.clone();
    pids.sort_unstable();
    pids.dedup();
    for pid in pids {
        if scope.wait.is_none() {
            scope.subjects.push(find(pid, &scope.chosen)?);
            continue;
        }
        match Subject::of(Target::open(pid)?, &scope.chosen) {
            Ok(subject) => scope.subjects.push(subject),
            Err(refused) if refused.error.may_change() => {
                scope.awaited.push((refused.target, message(&refused.error)));
            }
            Err(refused) => return Err(refused.error.into()),
        }
    }
    Ok(scope)
}

/// What is traced, in words.
fn describe(scope: &Scope) -> String {
    let known = scope.subjects.iter().map(Subject::describe);
    let awaited = scope.awaited.iter().map(|(target, _)| format!("{} ({})", target.pid(), target.name()));
    let mut all: Vec<String> = known.chain(awaited).collect();
    all.extend(scope.matching.as_ref().map(Matching::describe));
    let all = all.join(", ");
    if scope.follow_forks { format!("{all}, with their children") } else { all }
}
