//! A pause.

use serde::{Deserialize, Serialize};

use crate::report::model;

/// A pause, as reports have it. Where they have function names of the program, it has references to stacks.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Pause {
    /// The process's number in this recording.
    pub process: u32,
    /// The pause. Each list of the program's function names is one string, `@NUMBER` of a stack, or a name in square
    /// brackets.
    #[serde(flatten)]
    pub pause: model::Pause,
}
