//! What a look at a process's memory means for its next pause.

mod estimate;
#[cfg(test)]
pub(crate) mod fixtures;
mod model;
mod reads;

pub use estimate::{Usual, exposed};
pub use model::{Estimate, Exposed, ExposureReport, Exposures, SCHEMA, render};
pub use reads::regions_read;
