//! What windows are called: pauses, calls or windows, for the text and the diagnosis alike.

use super::model::{Unit, Windows};
use super::units;

/// What the windows of every runtime that stops all of its threads hold up.
const ALL_THREADS: &str = "all threads of the program";

impl Unit {
    /// `pause`.
    #[must_use]
    pub fn one(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Call => "call",
            Self::Window => "window",
        }
    }

    /// `pauses`.
    #[must_use]
    pub fn many(self) -> &'static str {
        match self {
            Self::Pause => "pauses",
            Self::Call => "calls",
            Self::Window => "windows",
        }
    }

    /// `Pause`.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Pause => "Pause",
            Self::Call => "Call",
            Self::Window => "Window",
        }
    }

    /// `Pauses`.
    #[must_use]
    pub fn titles(self) -> &'static str {
        match self {
            Self::Pause => "Pauses",
            Self::Call => "Calls",
            Self::Window => "Windows",
        }
    }

    /// `3 pauses`.
    #[must_use]
    pub fn counted(self, n: u64) -> String {
        units::counted(n, self.one(), self.many())
    }

    /// The time of all of them: `all paused time`, `the time of all calls`.
    #[must_use]
    pub fn all_time(self) -> &'static str {
        match self {
            Self::Pause => "all paused time",
            Self::Call => "the time of all calls",
            Self::Window => "the time of all windows",
        }
    }

    /// The label of that: `Paused`, `In calls`.
    #[must_use]
    pub fn all_time_label(self) -> &'static str {
        match self {
            Self::Pause => "Paused",
            Self::Call => "In calls",
            Self::Window => "In windows",
        }
    }

    /// The threads whose time it is: `the threads that ran the pauses`.
    #[must_use]
    pub fn drivers(self) -> &'static str {
        match self {
            Self::Pause => "the threads that ran the pauses",
            Self::Call => "the threads that made the calls",
            Self::Window => "the threads that were in the windows",
        }
    }

    /// The thread of one: `the thread that ran it`.
    #[must_use]
    pub fn driver(self) -> &'static str {
        match self {
            Self::Pause => "the thread that ran it",
            Self::Call => "the thread that made it",
            Self::Window => "the thread that was in it",
        }
    }

    /// The moment at which one begins, as a word: `requested`, `entered`.
    #[must_use]
    pub fn begun(self) -> &'static str {
        match self {
            Self::Pause => "requested",
            Self::Call | Self::Window => "entered",
        }
    }

    /// The moment at which one ends: `resumed`, `left`.
    #[must_use]
    pub fn ended(self) -> &'static str {
        match self {
            Self::Pause => "resumed",
            Self::Call | Self::Window => "left",
        }
    }
}

impl Windows {
    /// Whether a world comes to a stop before the window's own work begins.
    #[must_use]
    pub fn has_stopping(&self) -> bool {
        self.unit == Unit::Pause && self.has_stopped
    }

    /// What stands still in a pause, when that is less than the whole program.
    #[must_use]
    pub fn stops_only(&self) -> Option<&str> {
        (self.unit == Unit::Pause && self.stops != ALL_THREADS && !self.stops.is_empty())
            .then_some(self.stops.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_one_thread_says_so() {
        let mut windows = Windows::default();
        assert_eq!(windows.stops_only(), None);
        windows.stops = "the thread that is in it".to_owned();
        assert_eq!(windows.stops_only(), Some("the thread that is in it"));
        windows.unit = Unit::Call;
        assert_eq!((windows.stops_only(), windows.has_stopping()), (None, false));
    }
}
