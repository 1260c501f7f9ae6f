//! Reports: the same data as text, JSON, and pictures for other programs.

mod adding;
pub mod anatomy;
mod budget_words;
pub mod compare;
pub mod csv;
pub mod described;
pub mod diagnosis;
pub mod exposure;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod flame;
pub mod folded;
pub mod html;
mod inert;
pub mod json;
pub mod live;
pub mod memory_state;
mod missing;
pub mod model;
mod named;
pub mod perfetto;
pub mod pictures;
pub mod pprof;
pub mod processes;
pub mod samples;
pub mod text;
pub mod units;
mod window_words;
mod windows;
