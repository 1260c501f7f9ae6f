//! What is known of a process and its pauses, in the report's words.

mod anatomy;
mod devices;
mod known;
mod pauses;
mod plan;
mod target;
mod unavailable;
mod windows;

pub use devices::Devices;
pub use known::{Known, StackNames};
pub use pauses::{bystanders, pause, pauses, totals};
pub use plan::plan_steps;
pub use target::{described, target_of};
pub use unavailable::{unavailable, unplaced};
pub use windows::windows;
