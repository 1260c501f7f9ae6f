//! The message for something that a task needs and can't get: what it is, what was found instead, what to try.

use std::{error::Error, fmt};

/// A piece that can't be had.
#[derive(Debug)]
pub(crate) struct Missing {
    /// What is needed, by a name that a reader can search for.
    pub(crate) piece: String,
    /// The value found in its place.
    pub(crate) found: String,
    /// The command to run next, or the page to read.
    pub(crate) next: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} can't be had\n  found: {}\n  try:   {}", self.piece, self.found, self.next)
    }
}

impl Error for Missing {}
