//! How much of a pause was seen.

use serde::{Deserialize, Serialize};
use tracer_common::pause::{WindowRecord, flag};

/// How much of a pause was seen.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// From requested to resumed.
    Complete,
    /// It had begun before the trace did.
    OpenAtAttach,
    /// The trace ended before it did.
    CutOff,
    /// The target ended before it did.
    TargetExited,
    /// Its end was missed: the next pause began first.
    EndMissed,
    /// A call that was left without a return: by a panic, an exception, a long jump, or its thread's end. When is not
    /// known.
    LeftWithoutReturn,
    /// The runtime says that it was none: another thread's request had come first.
    Discarded,
}

impl State {
    /// The state of a record that the kernel side sent when a window closed.
    #[must_use]
    pub fn of_record(record: &WindowRecord) -> Self {
        if record.flags & flag::OPEN_AT_ATTACH != 0 {
            Self::OpenAtAttach
        } else if record.flags & flag::LEFT != 0 {
            Self::LeftWithoutReturn
        } else if record.flags & flag::RESUMED == 0 {
            Self::EndMissed
        } else {
            Self::Complete
        }
    }
}
