//! The lines of a recording, one kind per file.
//!
//! Rules: every line has a `type`, which comes first; a field's name has one meaning and one form in all lines, so that
//! the file can be read as one table; times are nanoseconds from the start of the trace; what is not known is absent.

mod end;
mod fault;
mod header;
mod mapping;
mod memory;
mod pause;
mod process;
mod rest;
mod stack;

pub use end::{End, Losses, ProcessEnd};
pub use fault::{Fault, Role};
pub use header::{Header, Host};
pub use mapping::Mapping;
pub use memory::{Cgroup, Memory, Pressure, Stalls, System};
pub use pause::Pause;
pub use process::Process;
pub use rest::{Length, Rest};
pub use stack::{Frame, Names, Stack};

use serde::{Deserialize, Serialize};

/// The schema's name and version: changed whenever a field changes its meaning or goes away.
pub const SCHEMA: &str = "pauselens.recording/1";

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    /// The first one.
    Header(Header),
    /// A process is traced from here on.
    Process(Box<Process>),
    /// Code that is mapped into a process.
    Mapping(Mapping),
    /// A stack: its addresses.
    Stack(Stack),
    /// The same stack's names, known at the end.
    Names(Names),
    /// A fault inside a pause. It comes before the pause that it is in.
    Fault(Fault),
    /// A pause that has ended, or was found open at the end.
    Pause(Box<Pause>),
    /// Pauses that have no line, added up.
    Rest(Box<Rest>),
    /// The state of memory at one moment.
    Memory(Box<Memory>),
    /// What has been dropped so far.
    Losses(Losses),
    /// The report of a process, when its trace has ended.
    ProcessEnd(Box<ProcessEnd>),
    /// The last one.
    End(End),
}
