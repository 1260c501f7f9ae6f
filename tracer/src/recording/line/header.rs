//! The first line: what made the recording, where and when.

use serde::{Deserialize, Serialize};

use crate::report::model::Tool;

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Header {
    /// [`super::SCHEMA`].
    pub schema: String,
    /// What made the recording.
    pub tool: Tool,
    /// Where.
    pub host: Host,
    /// Start, milliseconds since 1970-01-01 UTC: the zero of all other times.
    pub started_unix_ms: u64,
    /// The clock that all times were read from.
    pub clock: String,
    /// What was traced, in words.
    pub asked: String,
    /// The size in bytes that the file was not to exceed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size_bytes: Option<u64>,
}

/// The host that the recording was made on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Host {
    /// Its name, as `uname` tells it.
    pub name: String,
    /// The kernel's release, such as `6.18.5`.
    pub kernel: String,
    /// The machine's architecture, such as `x86_64`.
    pub machine: String,
    /// How many CPUs are online; absent when that could not be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u64>,
    /// Physical memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}
