//! From what a trace brought in to the report.

mod anatomy;
mod context;
mod devices;
mod incomplete;
mod notes;
mod overhead;
mod pauses;
mod reconcile;
mod report;
mod summary;
mod unavailable;

pub use context::Context;
pub use report::assemble;
