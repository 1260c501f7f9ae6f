//! Exposure: how much of a process's memory is out, by region, and how long it takes to get a page of it back.
//!
//! Everything about the target is read from `/proc`; its memory is never touched, since that would bring pages back.

mod areas;
mod file_cache;
mod holder;
mod latency;
mod model;
mod pages;
mod probe;
mod regions;
mod scan;
mod swap;
mod take;
mod zero_page;

pub use model::{Bytes, Exposure, Latency, LatencySource, Missing, RegionBytes, SwapState};
pub use probe::{ProbeError, Probed, probe};
pub use swap::swap_state;
pub use take::{ExposureError, Subject, TakeOptions, take};
