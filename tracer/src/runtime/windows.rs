//! What kind of windows a trace has: whose they are, how they nest, and what they are called.

use serde::{Deserialize, Serialize};
use tracer_common::pause::{TargetSettings, keyed, windows};

use super::definition::{KeyedBy, Stops};

/// The rules of a trace's windows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct WindowRules {
    /// How many can be open at the same time.
    pub keyed: KeyedBy,
    /// A begin inside a window belongs to it.
    pub nested: bool,
    /// The windows are calls of a function.
    pub calls: bool,
    /// Threads besides the drivers work for them.
    pub workers: bool,
    /// What they are for is told by an object, of which the first word is read.
    pub told_object: bool,
    /// Where they open, this word of memory is read.
    pub word: Option<WordAt>,
    /// What stands still meanwhile.
    pub stops: Stops,
    /// What one of them is called.
    pub unit: Unit,
    /// Shorter ones are counted only, in ns.
    pub longer_than_ns: u64,
}

/// A word of memory: so far from the address in a register.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WordAt {
    /// Which of the captured registers.
    pub register: u32,
    /// How far from there, in bytes.
    pub offset_bytes: i32,
}

/// What a window is called.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A pause of a runtime.
    #[default]
    Pause,
    /// A call of a function.
    Call,
    /// A window that the user defined.
    Window,
}

impl WindowRules {
    /// As the kernel side wants them.
    #[must_use]
    pub fn settings(&self) -> TargetSettings {
        let mut flags = if self.word.is_some() { windows::WORD } else { 0 };
        for (set, flag) in [
            (self.nested, windows::NESTED),
            (self.calls, windows::CALLS),
            (self.workers, windows::WORKERS),
            (self.told_object, windows::TOLD_OBJECT),
        ] {
            if set {
                flags |= flag;
            }
        }
        let keyed = match self.keyed {
            KeyedBy::Process => keyed::PROCESS,
            KeyedBy::Thread => keyed::THREAD,
            KeyedBy::Goroutine => keyed::GOROUTINE,
            KeyedBy::Call => keyed::CALL,
        };
        TargetSettings {
            keyed,
            flags,
            longer_than_ns: self.longer_than_ns,
            word_offset_bytes: self.word.map_or(0, |word| word.offset_bytes),
            word_register: self.word.map_or(0, |word| word.register),
        }
    }
}
