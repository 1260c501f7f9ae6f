//! Correlation: records from the kernel become pauses and statistics. Knows nothing of BPF or files, so that it is
//! tested with records alone.

mod blocked;
mod building;
mod collect;
mod durations;
mod finished;
mod intervals;
mod kind;
mod longest;
mod losses;
mod places;
mod refine;
mod stamps;
mod state;
#[cfg(test)]
mod tests;

pub use blocked::{AtRequest, BlockedOn};
pub use building::StackTotal;
pub use collect::{Collected, Collector, Keep};
pub use durations::Durations;
pub use finished::{Closed, FinishedPause, KindCount, StoppingFault, requested_frames};
pub use kind::Kind;
pub use longest::LongestFault;
pub use losses::Losses;
pub use places::PlaceTotal;
pub use refine::{Refined, Surroundings, plain, refine};
pub use stamps::StampDifferences;
pub use state::State;
