//! What a report needs besides what the trace has brought in.

use crate::{elf::Image, runtime::Recognised, target};

/// What the report needs besides the outcome.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// The process.
    pub target: &'a target::Target,
    /// Its executable.
    pub image: &'a Image,
    /// Its runtime.
    pub recognised: &'a Recognised,
    /// How long the trace was to last, when that was said.
    pub asked_ns: Option<u64>,
    /// How the command that pauselens started has ended, in words.
    pub exit: Option<String>,
    /// Further things to tell.
    pub notes: Vec<String>,
}
