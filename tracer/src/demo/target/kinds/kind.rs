//! The kinds' names: as an option, as what pauselens calls them, and the reason of a pause that has only them.

use super::super::reasons;

/// A kind of fault that the demo can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Kind {
    FirstTouch,
    ZeroPageRead,
    CowFile,
    CowFork,
    CowZero,
    FileMap,
    FileRead,
    ColdText,
    SharedMemory,
    Huge,
    Kernel,
    Signal,
    Swap,
    Userfault,
    Populate,
}

/// What a pause with all kinds has, each in a number of its own.
pub(in super::super) const DEFAULT_KINDS: [(Kind, usize); 12] = [
    (Kind::FirstTouch, 211),
    (Kind::ZeroPageRead, 89),
    (Kind::CowFile, 73),
    (Kind::CowFork, 103),
    (Kind::CowZero, 47),
    (Kind::FileMap, 101),
    (Kind::FileRead, 97),
    (Kind::SharedMemory, 83),
    (Kind::Kernel, 79),
    (Kind::Signal, 71),
    (Kind::Swap, 67),
    (Kind::Userfault, 3),
];

impl Kind {
    pub(in super::super) const ALL: [Self; 15] = [
        Self::FirstTouch,
        Self::ZeroPageRead,
        Self::CowFile,
        Self::CowFork,
        Self::CowZero,
        Self::FileMap,
        Self::FileRead,
        Self::ColdText,
        Self::SharedMemory,
        Self::Huge,
        Self::Kernel,
        Self::Signal,
        Self::Swap,
        Self::Userfault,
        Self::Populate,
    ];

    /// Its name as an option, without the dashes.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::FirstTouch => "first-touch",
            Self::ZeroPageRead => "zero-page-read",
            Self::CowFile => "cow-file",
            Self::CowFork => "cow-fork",
            Self::CowZero => "cow-zero",
            Self::FileMap => "file-map",
            Self::FileRead => "file-read",
            Self::ColdText => "cold-text",
            Self::SharedMemory => "shared-memory",
            Self::Huge => "huge",
            Self::Kernel => "kernel",
            Self::Signal => "signal",
            Self::Swap => "swap",
            Self::Userfault => "userfault",
            Self::Populate => "populate",
        }
    }

    /// What pauselens calls it. `swap` stands for `swap_in` and `swap_cache` together: which of them a page becomes is
    /// up to read-ahead. `None`: it is no page fault at all.
    pub(in super::super) fn counted_as(self) -> Option<&'static str> {
        match self {
            Self::FirstTouch | Self::ZeroPageRead => Some("first_touch"),
            Self::CowFile | Self::CowFork | Self::CowZero => Some("copy_on_write"),
            Self::FileMap => Some("file_map"),
            Self::FileRead | Self::ColdText => Some("file_read"),
            Self::SharedMemory => Some("shared_memory"),
            Self::Huge => Some("huge_page"),
            Self::Kernel => Some("kernel"),
            Self::Signal => Some("signal"),
            Self::Swap => Some("swap"),
            Self::Userfault => Some("userfault"),
            Self::Populate => None,
        }
    }

    /// Whether the thread's own counters count it: a fault that ends in a signal never reaches them.
    pub(in super::super) fn in_thread_counters(self) -> bool {
        self != Self::Signal
    }

    /// The reason of a pause that has only this kind.
    pub(in super::super) fn reason(self) -> u32 {
        match self {
            Self::FirstTouch | Self::ZeroPageRead | Self::Huge => reasons::FIRST_TOUCH,
            Self::CowFile | Self::CowFork | Self::CowZero => reasons::COPY_ON_WRITE,
            Self::FileMap | Self::FileRead | Self::ColdText => reasons::FILE_PAGES,
            Self::Swap => reasons::SWAPPED_OUT,
            Self::SharedMemory | Self::Kernel | Self::Signal | Self::Userfault | Self::Populate => {
                reasons::MIXED
            }
        }
    }
}
