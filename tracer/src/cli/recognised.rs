//! A target with its executable and runtime, and the report of a trace of it: what every verb looks at first and last.

use anyhow::bail;

use crate::{
    assemble::{Context, assemble},
    recording::ProcessRecorder,
    report::model::Report,
    runtime::Chosen,
    session::{Outcome, Subject, Traced},
};

/// Looks at the process.
///
/// # Errors
/// When it can't be a target, or no runtime is recognised in it.
pub(super) fn find(pid: u32, chosen: &Chosen) -> anyhow::Result<Subject> {
    Ok(Subject::find(pid, chosen)?)
}

/// What the caller knows besides.
#[derive(Clone, Debug, Default)]
pub(super) struct Besides {
    /// How long the trace was to last, when that was said and its target's earlier end is worth a word.
    pub(super) asked_ns: Option<u64>,
    /// How the command that pauselens started has ended, in words.
    pub(super) exit: Option<String>,
    /// Further things to tell.
    pub(super) notes: Vec<String>,
}

/// The report of a trace of the process, and its part of the recording, whose stacks are named by now.
pub(super) fn report(
    subject: &Subject,
    mut outcome: Outcome,
    besides: Besides,
) -> (Report, Option<ProcessRecorder>) {
    let Subject { target, image, recognised } = subject;
    let Besides { asked_ns, exit, notes } = besides;
    let mut recording = outcome.recording.take();
    let context = Context { target, image, recognised, asked_ns, exit, notes };
    let mut report = assemble(outcome, context, |namer, stacks| {
        if let Some(recording) = &recording {
            recording.names(namer, stacks);
        }
    });
    if let Some(recording) = &mut recording {
        recording.memory(&mut report.pauses);
    }
    (report, recording)
}

/// The only process of a trace of one.
///
/// # Errors
/// When none was traced, with the reasons.
pub(super) fn only(traced: &mut Traced) -> anyhow::Result<(Subject, Outcome)> {
    some(traced)?;
    Ok(traced.processes.swap_remove(0))
}

/// Whether any process was traced.
///
/// # Errors
/// When none was, with the reasons.
pub(super) fn some(traced: &Traced) -> anyhow::Result<()> {
    const SHOWN: usize = 20;
    if !traced.processes.is_empty() {
        return Ok(());
    }
    let mut reasons: Vec<String> = traced
        .unrecognised
        .iter()
        .take(SHOWN)
        .map(|process| {
            let exe = process.exe.as_ref().map(|exe| format!(" ({})", exe.display())).unwrap_or_default();
            format!("process {}{exe}: {}", process.pid, process.why)
        })
        .collect();
    let more = (traced.unrecognised.len().saturating_sub(SHOWN)) as u64 + traced.unrecognised_more;
    if more > 0 {
        reasons.push(format!("and {more} more"));
    }
    match &reasons[..] {
        [] => bail!(
            "no process was traced: none that was asked for was there, and none came within the trace; a longer \
             --duration waits for longer, and `pauselens attach --pid PID` names one"
        ),
        [one] => bail!("nothing was traced: {one}"),
        several => bail!("nothing was traced:\n  {}", several.join("\n  ")),
    }
}
