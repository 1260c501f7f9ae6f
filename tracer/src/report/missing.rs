//! What a picture does not show because it was lost, in words: whoever looks at it has to be told.

use super::{
    samples::{DETAILS_DROPPED, Total},
    units,
};
use crate::recording::Recording;

/// What is missing, most important first; empty when nothing is. Names in it are as they are. It takes what each
/// process's faults without details add up to.
pub(super) fn missing(
    recording: &Recording,
    without_details: impl IntoIterator<Item = Total>,
) -> Vec<String> {
    let mut words: Vec<String> = recording.all_problems().into_iter().map(|problem| problem.what).collect();
    let several = recording.processes.len() > 1;
    for (recorded, without) in recording.processes.iter().zip(without_details) {
        let whose =
            if several { format!("process {}: ", recorded.process.target.pid) } else { String::new() };
        if without.count > 0 {
            let faults = units::counted(without.count, "fault", "faults");
            let time = units::duration(without.ns);
            words.push(format!("{whose}{faults} ({time}) without details: {DETAILS_DROPPED}"));
        }
        words.extend(recorded.report.trace.incomplete.iter().map(|what| format!("{whose}{what}")));
    }
    if let Some(trace) = recording.end.as_ref().and_then(|end| end.trace.as_ref()) {
        words.extend(trace.incomplete.iter().cloned());
    }
    words
}
