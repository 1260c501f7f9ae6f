//! The running trace: gate, ring buffers, clocks, the target's lifetime, and the kernel side's tables at the end.

mod account;
mod drain;
mod kernel_log;
mod leftovers;
mod memory_limit;
mod options;
mod outcome;
mod stop;
mod throttling;
mod trace;
mod workers;

pub use options::{Observer, Options, Progress, Silent};
pub use outcome::{CounterReadings, Ended, Outcome, ProgramCost};
pub use trace::{SessionError, Subject, trace};
