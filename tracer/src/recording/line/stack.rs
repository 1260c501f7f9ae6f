//! Stacks: their addresses when they are first seen, their names at the end.

use serde::{Deserialize, Serialize};

/// A stack, as it was walked.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Stack {
    /// The process's number in this recording.
    pub process: u32,
    /// The stack's number within the process, from 1. Where a pause has function names, it has the one string `@NUMBER`.
    pub stack: u32,
    /// Runtime addresses in hexadecimal, innermost first: the first one is where the thread was, the others are return
    /// addresses. Empty when the stack was lost.
    pub addresses: Vec<String>,
    /// The outermost frames were not walked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut: bool,
    /// The second address was read from where the function returns to: the thread was at a function's entry.
    #[serde(default, skip_serializing_if = "is_false")]
    pub at_entry: bool,
}

/// A stack's names.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Names {
    /// The process's number in this recording.
    pub process: u32,
    /// The stack's number within the process.
    pub stack: u32,
    /// Innermost first. What is in square brackets is no function: a lost or cut part, code without a name.
    pub frames: Vec<Frame>,
}

/// A named frame.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Frame {
    /// The function.
    pub name: String,
    /// Its runtime address in hexadecimal, as in the stack; absent where a frame stands for something missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_false(flag: &bool) -> bool {
    !flag
}
