//! The report's account of what its windows are: pauses of a runtime, calls of a function, or what the user defined.

use serde::{Deserialize, Serialize};

pub use crate::runtime::{KeyedBy, Unit};

/// What the windows of a report are.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Windows {
    /// What one of them is called.
    pub unit: Unit,
    /// Of what: the function, or the places; `null` for the pauses of a runtime.
    pub of: Option<String>,
    /// How many can be open at the same time: one in a process, a thread, or a goroutine.
    pub keyed_by: KeyedBy,
    /// What stands still while one is open, in words.
    pub stops: String,
    /// Whether the moment is known at which that has come to stand still: without it, every `stopped_ns` is `null`.
    #[serde(default = "known")]
    pub has_stopped: bool,
    /// Whether the moment is known at which the restart begins: without it, every `restarting_ns` is `null`.
    #[serde(default = "known")]
    pub has_restarting: bool,
    /// Windows that were counted only, because they were short; `null` when none were to be.
    pub short: Option<Short>,
    /// Windows of which the runtime says that they were none; they are in no other number.
    pub discarded: u64,
    /// What was watched; `null` when all of the time was. All numbers are of the watched time.
    pub sampled: Option<Sampled>,
}

/// A share of the time that was watched.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
pub struct Sampled {
    /// The share that was asked for, from 0 to 1.
    pub share: f64,
    /// How long the probes were in place.
    pub watched_ns: u64,
    /// How often they were placed.
    pub rounds: u64,
}

impl Default for Windows {
    fn default() -> Self {
        Self {
            unit: Unit::Pause,
            of: None,
            keyed_by: KeyedBy::Process,
            stops: "all threads of the program".to_owned(),
            has_stopped: true,
            has_restarting: true,
            short: None,
            discarded: 0,
            sampled: None,
        }
    }
}

fn known() -> bool {
    true
}

/// Windows that were counted only. They are in the summary's counts, lengths and sums, not in its kinds and regions.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Short {
    /// Shorter ones than this.
    pub than_ns: u64,
    /// How many.
    pub count: u64,
    /// Their time.
    pub ns: u64,
    /// Faults in them.
    pub faults: u64,
}

/// What is known of a call besides what is known of every window.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Call {
    /// The goroutine: the address at which Go's runtime keeps it, as text; `null` where calls are a thread's.
    #[serde(serialize_with = "hexadecimal", deserialize_with = "of_hexadecimal")]
    pub goroutine: Option<u64>,
    /// How often the goroutine was put on a thread again, after it had been on none.
    pub resumptions: u64,
    /// Whether it was on several threads.
    pub moved: bool,
    /// Calls of the same function inside it.
    pub inner_calls: u32,
    /// Whether it ended in a jump to another function, which goes on for it.
    pub tail_call: bool,
}

fn hexadecimal<S: serde::Serializer>(value: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => to.serialize_str(&format!("{value:#x}")),
        None => to.serialize_none(),
    }
}

fn of_hexadecimal<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    let parse = |text: String| {
        u64::from_str_radix(text.trim_start_matches("0x"), 16).map_err(serde::de::Error::custom)
    };
    text.map(parse).transpose()
}
