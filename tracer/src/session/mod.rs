//! The running trace: which processes are in it, their gates, the ring buffers, the processes' lifetimes, and the kernel
//! side's tables at the end.

mod account;
mod candidates;
mod children;
mod drain;
mod error;
mod kernel_log;
mod kernel_side;
mod leftovers;
mod matching;
mod memory_limit;
mod news;
mod options;
mod outcome;
mod process;
mod rate;
mod sampling;
mod scope;
mod stop;
mod subject;
mod throttling;
mod trace;
mod unwinding;
mod workers;

pub use error::SessionError;
pub use matching::{Executable, Matching, MatchingError};
pub use options::{Observer, Options, Progress, Silent};
pub use outcome::{Began, CounterReadings, Ended, Outcome, ProgramCost, Traced, Unrecognised};
pub use sampling::Sampled;
pub use scope::Scope;
pub use subject::{Refused, Subject, SubjectError};
pub use trace::trace;
pub use unwinding::Unwind;
