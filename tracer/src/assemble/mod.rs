//! From what a trace brought in to the report.

mod context;
mod incomplete;
mod notes;
mod overhead;
mod reconcile;
mod report;
mod summary;

pub use context::Context;
pub use report::{assemble, ended};
