//! What is wrong with a recording: nothing in it can be used, or a part of it can't.

use std::{io, path::PathBuf};

/// Nothing can be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file can't be opened or read.
    #[error("{path} can't be read ({error}); name a recording that `pauselens record` has made", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is none.
    #[error("{path} is no recording: {why}; `pauselens record --pid PID -o FILE` makes one", path = .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// It begins like one, and nothing is in it.
    #[error("{path} holds no process, and so no pauses: {why}; record once more, with `pauselens record --pid PID -o FILE`", path = .path.display())]
    Bare {
        /// The file.
        path: PathBuf,
        /// What is missing.
        why: String,
    },
}

/// A part can't be read, or is missing; the rest is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// What is wrong, where, and what is missing from the report because of it.
    pub what: String,
}

/// Problems, of which the first are told one by one and the others are counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Problems {
    told: Vec<Problem>,
    more: u64,
}

impl Problems {
    /// Told one by one.
    const TOLD: usize = 20;

    /// These, and more to come.
    pub(super) fn of(told: Vec<Problem>) -> Self {
        Self { told, more: 0 }
    }

    pub(super) fn add(&mut self, what: String) {
        if self.told.len() < Self::TOLD {
            self.told.push(Problem { what });
        } else {
            self.more += 1;
        }
    }

    /// All, the number of those that are not told as the last one.
    pub(super) fn into_list(mut self) -> Vec<Problem> {
        if self.more > 0 {
            let what = format!("{} more of such problems, which are not told one by one", self.more);
            self.told.push(Problem { what });
        }
        self.told
    }
}
