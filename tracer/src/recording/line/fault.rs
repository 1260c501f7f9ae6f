//! A fault inside a pause.

use serde::{Deserialize, Serialize};

use crate::report::model::{Kind, Region};

/// A fault inside a pause. It is written when it is known what it touched, before its pause.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Fault {
    /// The process's number in this recording.
    pub process: u32,
    /// The pause's number within the process: its `id`.
    pub pause: u64,
    /// The thread.
    pub tid: u32,
    /// What the thread was to the pause.
    pub role: Role,
    /// Its kind.
    pub kind: Kind,
    /// Whether the kind is an inference.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inferred: bool,
    /// Whether the kernel called it major.
    #[serde(default, rename = "is_major", skip_serializing_if = "is_false")]
    pub major: bool,
    /// Begin, from the start of the trace.
    pub begin_ns: i64,
    /// The part of it inside the pause.
    pub ns: u64,
    /// Its full length, when that is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_ns: Option<u64>,
    /// Of the full length, blocked on I/O or a lock outside reclaim; absent when there was none, or it is unavailable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_ns: Option<u64>,
    /// Of the full length, reclaiming memory; absent when there was none, or it is unavailable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaim_ns: Option<u64>,
    /// The address that was accessed, in hexadecimal.
    pub address: String,
    /// What that belongs to.
    pub region: Region,
    /// The same, closer, in words.
    pub what: String,
    /// Whether region and what are an inference.
    #[serde(default, skip_serializing_if = "is_false")]
    pub place_inferred: bool,
    /// The stack's number within the process.
    pub stack: u32,
}

/// What a thread was to a pause.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It ran the pause: its faults lengthen it directly.
    Driver,
    /// It worked for the pause.
    Worker,
    /// It faulted meanwhile.
    Bystander,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_false(flag: &bool) -> bool {
    !flag
}
