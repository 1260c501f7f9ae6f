//! Reports: the same data as text or JSON.

pub mod anatomy;
pub mod assemble;
pub mod diagnosis;
pub mod exposure;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod json;
pub mod live;
pub mod model;
pub mod text;
pub mod units;
