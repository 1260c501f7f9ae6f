//! The kinds of fault, in the words of every output.

use serde::{Deserialize, Serialize};

/// What a fault was: the words of every machine-readable output.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Read back from a swap device.
    SwapIn,
    /// Found in the swap cache.
    SwapCache,
    /// Read from a file.
    FileRead,
    /// Mapped from the page cache.
    FileMap,
    /// New anonymous memory.
    FirstTouch,
    /// Private copy.
    CopyOnWrite,
    /// NUMA balancing's hint.
    NumaHint,
    /// A huge page.
    HugePage,
    /// Answered by a `userfaultfd` handler.
    Userfault,
    /// Shared memory.
    SharedMemory,
    /// Ended in a signal.
    Signal,
    /// The kernel's access on the program's behalf.
    Kernel,
    /// None of these.
    Other,
}

impl Kind {
    /// Every kind, in the order of the design.
    pub const ALL: [Self; 13] = [
        Self::SwapIn,
        Self::SwapCache,
        Self::FileRead,
        Self::FileMap,
        Self::FirstTouch,
        Self::CopyOnWrite,
        Self::NumaHint,
        Self::HugePage,
        Self::Userfault,
        Self::SharedMemory,
        Self::Signal,
        Self::Kernel,
        Self::Other,
    ];

    /// The word of machine-readable output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::SwapIn => "swap_in",
            Self::SwapCache => "swap_cache",
            Self::FileRead => "file_read",
            Self::FileMap => "file_map",
            Self::FirstTouch => "first_touch",
            Self::CopyOnWrite => "copy_on_write",
            Self::NumaHint => "numa_hint",
            Self::HugePage => "huge_page",
            Self::Userfault => "userfault",
            Self::SharedMemory => "shared_memory",
            Self::Signal => "signal",
            Self::Kernel => "kernel",
            Self::Other => "other",
        }
    }
}

/// Count, time and inferences of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCount {
    /// How many.
    pub count: u64,
    /// Their time inside the pause, in ns.
    pub ns: u64,
    /// How many have the kind by inference.
    pub inferred: u64,
}
