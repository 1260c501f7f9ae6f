//! What has to be known before the first packet is written.

use std::collections::HashSet;

use crate::{
    recording::{Item, Recording, RecordingError, Wanted},
    report::model::State,
};

/// What is known before.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// The complete pauses: faults in them are in the summary.
    complete: HashSet<(u32, u64)>,
    /// The earliest moment, from the trace's start.
    pub(super) earliest_ns: i64,
}

impl Before {
    /// Reads the recording's pauses.
    ///
    /// # Errors
    /// When the file can't be read any more.
    pub(super) fn read(recording: &Recording) -> Result<Self, RecordingError> {
        let mut before = Self::default();
        let memory = recording.memory.iter().map(|memory| memory.at_ns).min();
        before.earliest_ns = memory.unwrap_or_default().min(0);
        recording.each(Wanted { pauses: true, faults: false }, |item| {
            let Item::Pause(recorded, pause) = item else { return };
            let moments = [pause.requested_ns, pause.stopped_ns, pause.restarting_ns, pause.resumed_ns];
            if let Some(first) = moments.into_iter().flatten().min() {
                before.earliest_ns = before.earliest_ns.min(first);
            }
            if pause.state == State::Complete {
                before.complete.insert((recorded.process.process, pause.id));
            }
        })?;
        Ok(before)
    }

    /// Whether the faults of a pause are in the summary.
    pub(super) fn is_complete(&self, process: u32, pause: u64) -> bool {
        self.complete.contains(&(process, pause))
    }
}
