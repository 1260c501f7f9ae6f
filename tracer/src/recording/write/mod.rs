//! Writing a recording while the trace runs.

mod file;
mod memory;
mod process;
mod recorder;
mod stacks;
mod state;

pub use memory::MemorySampler;
pub use process::ProcessRecorder;
pub use recorder::{Recorder, Written};
pub use state::Recordable;
