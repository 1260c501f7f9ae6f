//! Code that is mapped into a process: with these, addresses can be named later and elsewhere.

use serde::{Deserialize, Serialize};

/// An executable mapping.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Mapping {
    /// The process's number in this recording.
    pub process: u32,
    /// First address, in hexadecimal.
    pub start: String,
    /// The address behind the last one, in hexadecimal.
    pub end: String,
    /// Where in the file it begins, in bytes.
    pub offset_bytes: u64,
    /// The file's path as the process sees it, or a name in square brackets.
    pub file: String,
    /// GNU build id in hexadecimal, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
}
