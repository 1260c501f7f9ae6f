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
mod late;
mod listed;
mod longest;
mod losses;
mod memory_pressure;
mod places;
mod reads;
mod refine;
mod remainder;
mod span;
mod stamps;
mod state;
mod stopping;
#[cfg(test)]
mod tests;
mod throttling;
mod touched;
mod waited;
mod waits;
mod workers;

pub use blocked::{AtRequest, BlockedOn};
pub use budget::{Budget, BudgetPart, StoppingBudget};
pub use collect::{Collected, Collector, Keep};
pub use durations::{Durations, Sorted};
pub use finished::{Closed, FinishedPause, StoppingFault, requested_frames};
pub use kernel_stacks::{KernelStack, KernelStacks};
pub use kind::{Kind, KindCount};
pub use listed::ListedFault;
pub use longest::LongestFault;
pub use losses::Losses;
pub use memory_pressure::MemoryPressure;
pub use places::PlaceTotal;
pub use reads::{Origin, ReadTotal, Reads};
pub use refine::{Refined, Surroundings, plain, refine};
pub(crate) use remainder::Remainder;
pub use stamps::StampDifferences;
pub use state::State;
pub use stopping::{Stopping, StoppingThread};
pub use throttling::Throttling;
pub use touched::StackTotal;
pub use waited::Waited;
pub use waits::{Before, BlockTotal, DriverWaits, WaitTotal};
pub use workers::{Worker, WorkerFaults};
