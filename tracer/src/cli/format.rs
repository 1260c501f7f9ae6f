//! Formats that every verb has which prints something.

use clap::ValueEnum;

/// The report's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people: at most 100 columns
    Text,
    /// For programs: see docs/json.md
    Json,
}
