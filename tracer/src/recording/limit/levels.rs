//! How much is kept of a pause: by its length, and by what its faults take.

use super::fields::PauseKey;

/// The shortest pauses that are kept in this way or that; longer ones as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Levels {
    /// With all lines of their faults.
    pub(super) with_faults_ns: u64,
    /// With their own line in full.
    pub(super) in_full_ns: u64,
    /// With a line of their own.
    pub(super) listed_ns: u64,
}

/// What is kept of one pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kept {
    /// It is added up with others.
    AddedUp,
    /// A line with its totals.
    Totals,
    /// Its line.
    Line,
    /// Its line and those of its faults.
    Whole,
}

impl Levels {
    /// Of all pauses up to this length none has a line.
    pub(super) fn above(ns: u64) -> Self {
        let ns = ns.saturating_add(1);
        Self { with_faults_ns: ns, in_full_ns: ns, listed_ns: ns }
    }

    /// What is kept of a pause. One without a length counts as short.
    pub(super) fn of(&self, duration_ns: Option<u64>) -> Kept {
        let ns = duration_ns.unwrap_or(0);
        if ns >= self.with_faults_ns {
            Kept::Whole
        } else if ns >= self.in_full_ns {
            Kept::Line
        } else if ns >= self.listed_ns {
            Kept::Totals
        } else {
            Kept::AddedUp
        }
    }
}

/// What is kept of all pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keeps {
    pub(super) levels: Levels,
    /// This one is whole, although others of its length may not be.
    pub(super) one: Option<PauseKey>,
    /// Faults that take more than this in the file never stay.
    pub(super) largest_bytes: u64,
}

impl Keeps {
    /// What is kept of a pause. `file_bytes`: what its faults take in the file, when they are many.
    pub(super) fn of(&self, key: PauseKey, duration_ns: Option<u64>, file_bytes: Option<u64>) -> Kept {
        if self.one == Some(key) {
            return Kept::Whole;
        }
        match self.levels.of(duration_ns) {
            Kept::Whole if file_bytes.is_some_and(|bytes| bytes > self.largest_bytes) => Kept::Line,
            kept => kept,
        }
    }
}
