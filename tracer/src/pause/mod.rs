//! Correlation: records from the kernel become pauses and statistics. Knows nothing of BPF or files, so that it is
//! tested with records alone.

mod blocked;
mod budget;
mod building;
mod collect;
mod durations;
mod finished;
mod intervals;
mod kernel_stacks;
mod kind;
mod longest;
mod losses;
mod memory_pressure;
mod places;
mod reads;
mod refine;
mod span;
mod stamps;
mod state;
mod stopping;
#[cfg(test)]
mod tests;
mod throttling;
mod waits;
mod workers;

pub use blocked::{AtRequest, BlockedOn};
pub use budget::{Budget, BudgetPart, StoppingBudget};
pub use building::StackTotal;
pub use collect::{Collected, Collector, Keep};
pub use durations::Durations;
pub use finished::{Closed, FinishedPause, StoppingFault, requested_frames};
pub use kernel_stacks::{KernelStack, KernelStacks};
pub use kind::{Kind, KindCount};
pub use longest::LongestFault;
pub use losses::Losses;
pub use memory_pressure::MemoryPressure;
pub use places::PlaceTotal;
pub use reads::{Origin, ReadTotal, Reads};
pub use refine::{Refined, Surroundings, plain, refine};
pub use stamps::StampDifferences;
pub use state::State;
pub use stopping::{Stopping, StoppingThread};
pub use throttling::Throttling;
pub use waits::{Before, BlockTotal, DriverWaits, WaitTotal};
pub use workers::Worker;
