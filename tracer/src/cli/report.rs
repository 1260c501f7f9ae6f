//! `pauselens report`: what a recording tells.

use anyhow::bail;

use super::{
    args::Global,
    exit::Exit,
    progress,
    rendering::render,
    report_args::{ReportFileArgs, ReportFormat},
};
use crate::{recording::Recording, tell};

/// Reads the recording, writes what was asked for, and names what is missing.
pub(super) fn report(arguments: &ReportFileArgs, global: Global) -> anyhow::Result<Exit> {
    let reading = progress::reading();
    let mut recording = Recording::open(&arguments.recording)?;
    if let Some(process) = arguments.process {
        let number = find(&recording, process)?;
        recording.keep_only(number);
    }
    let rendered = render(
        &recording,
        arguments.format,
        arguments.listed(),
        arguments.output.as_deref(),
        global,
        reading,
    );
    let problems = recording.all_problems();
    for problem in &problems {
        tell!("{}: {}", recording.path.display(), problem.what);
    }
    rendered?;
    // Text says it itself.
    if arguments.format.format != ReportFormat::Text {
        for recorded in &recording.processes {
            for missing in &recorded.report.trace.incomplete {
                tell!("{}: process {}: {missing}", recording.path.display(), recorded.process.target.pid);
            }
        }
    }
    let is_complete = recording.processes.iter().all(|recorded| recorded.report.trace.complete);
    let whole = recording.end.as_ref().and_then(|end| end.trace.as_ref());
    let is_complete = is_complete && whole.is_none_or(|whole| whole.complete || arguments.process.is_some());
    Ok(if problems.is_empty() && is_complete { Exit::Done } else { Exit::Incomplete })
}

/// The number of the process that was asked for by its pid or number.
fn find(recording: &Recording, asked: u32) -> anyhow::Result<u32> {
    let of_pid: Vec<u32> = recording
        .processes
        .iter()
        .filter(|recorded| recorded.process.target.pid == asked)
        .map(|recorded| recorded.process.process)
        .collect();
    match of_pid[..] {
        [number] => return Ok(number),
        [] => {}
        _ => bail!(
            "process {asked} ran several programs during the trace: choose one by its number in the recording, with \
             --process {}",
            of_pid.iter().map(u32::to_string).collect::<Vec<_>>().join(" or ")
        ),
    }
    if recording.process(asked).is_some() {
        return Ok(asked);
    }
    const SHOWN: usize = 20;
    let known: Vec<String> = recording
        .processes
        .iter()
        .take(SHOWN)
        .map(|recorded| format!("{} (number {})", recorded.process.target.pid, recorded.process.process))
        .collect();
    bail!("no process {asked} is in {}: there are {}", recording.path.display(), known.join(", "))
}
