//! Recordings: what a trace brings in, written to a file as it happens, and read back for every report.
//!
//! `docs/recording.md` describes the file for its readers.

mod contents;
mod error;
mod few;
#[cfg(test)]
pub(crate) mod fixtures;
mod foreign;
mod frames;
mod limit;
pub mod line;
mod lines;
mod longest;
mod numbers;
mod parse;
mod plausible;
mod reading;
mod rebuilt;
mod source;
mod stacks;
#[cfg(test)]
mod tests;
mod unnamed;
mod write;

pub use contents::{Item, Recorded, Recording};
pub use error::{Problem, RecordingError};
pub use limit::Limited;
pub use line::Line;
pub use lines::{Lines, Wanted};
pub use reading::{Reading, reading};
pub use stacks::{Stacks, reference};
pub use write::{MemorySampler, ProcessRecorder, Recordable, Recorder, Written};
