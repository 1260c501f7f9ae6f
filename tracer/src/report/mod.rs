//! Reports: the same data as text or JSON.

pub mod anatomy;
pub mod assemble;
mod budget_words;
pub mod diagnosis;
pub mod exposure;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod json;
pub mod live;
pub mod model;
pub mod text;
pub mod units;
