//! From what a trace brought in to the report.

mod incomplete;
mod overhead;
mod pauses;
mod reconcile;
mod report;
mod summary;

pub use report::{Context, assemble};
