//! From what a trace brought in to the report.

mod anatomy;
mod context;
mod devices;
mod incomplete;
mod known;
mod notes;
mod overhead;
mod pauses;
mod reconcile;
mod report;
mod summary;
mod target;
mod unavailable;

pub use context::Context;
pub use devices::Devices;
pub use known::{Known, StackNames};
pub use pauses::pause;
pub use report::{assemble, ended, plan_steps, target as target_of, windows};
pub use target::described;
pub use unavailable::unavailable;
