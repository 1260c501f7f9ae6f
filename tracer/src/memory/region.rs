//! What an address belongs to, in words that a person can use.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What an address belongs to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// The heap that the runtime's collector manages.
    RuntimeHeap,
    /// The runtime's own bookkeeping outside the heap: span sets, mark bits, arena maps.
    RuntimeMetadata,
    /// A thread's stack: the first thread's, and where another one's stack pointer was seen.
    ThreadStack,
    /// The program's own code and data.
    Binary,
    /// A library's code and data.
    Library,
    /// Another file.
    MappedFile,
    /// Shared memory.
    SharedMemory,
    /// Other private memory.
    OtherAnonymous,
    /// The address was in no known mapping, or the fault's detail was dropped.
    Unknown,
}

impl Region {
    /// All regions, in the order of the definition.
    pub const ALL: [Self; 9] = [
        Self::RuntimeHeap,
        Self::RuntimeMetadata,
        Self::ThreadStack,
        Self::Binary,
        Self::Library,
        Self::MappedFile,
        Self::SharedMemory,
        Self::OtherAnonymous,
        Self::Unknown,
    ];

    /// The word of machine-readable output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::RuntimeHeap => "runtime_heap",
            Self::RuntimeMetadata => "runtime_metadata",
            Self::ThreadStack => "thread_stack",
            Self::Binary => "binary",
            Self::Library => "library",
            Self::MappedFile => "mapped_file",
            Self::SharedMemory => "shared_memory",
            Self::OtherAnonymous => "other_anonymous",
            Self::Unknown => "unknown",
        }
    }
}

impl Region {
    /// For people, after `on`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::RuntimeHeap => "the runtime's heap",
            Self::RuntimeMetadata => "the runtime's own bookkeeping, outside its heap",
            Self::ThreadStack => "a thread's stack",
            Self::Binary => "the program's binary",
            Self::Library => "libraries",
            Self::MappedFile => "mapped files",
            Self::SharedMemory => "shared memory",
            Self::OtherAnonymous => "anonymous memory",
            Self::Unknown => "memory that is not known",
        }
    }
}

/// Where an address is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// What it belongs to.
    pub region: Region,
    /// What it is within that, in words: a structure of the runtime's, a part of the binary, a path.
    pub what: Arc<str>,
    /// In a file: how far from its begin.
    pub offset_bytes: Option<u64>,
    /// Whether it is an inference: from a rule about the runtime's layout rather than from what kernel, file or runtime
    /// say; or from a map that can't be shown to have been this one at that time.
    pub inferred: bool,
}

impl Placed {
    /// A place that the kernel, a file or the runtime itself tells.
    pub(super) fn seen(region: Region, what: impl Into<Arc<str>>) -> Self {
        Self { region, what: what.into(), offset_bytes: None, inferred: false }
    }

    /// A place that follows from a rule.
    pub(super) fn inferred(region: Region, what: impl Into<Arc<str>>) -> Self {
        Self { inferred: true, ..Self::seen(region, what) }
    }

    /// In no mapping that is known.
    pub(super) fn nowhere() -> Self {
        Self::seen(Region::Unknown, "in no known mapping")
    }
}
