//! What can be lost on the way, counted by cause.

/// Why a detail, never a total, was dropped in the kernel. The number is the index into the `LOSSES` array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Loss {
    /// A fault's detail found the ring buffer full.
    FaultRingFull = 0,
    /// A stack's frames found the ring buffer full.
    StackRingFull = 1,
    /// A pause's record found its ring buffer full. Its totals are still in the process's totals.
    PauseRingFull = 2,
    /// A thread's state found the thread table full: its faults are not seen.
    ThreadTableFull = 3,
    /// A user stack could not be walked at all.
    StackUnreadable = 4,
    /// A user stack was deeper than [`crate::stack::MAX_FRAMES`]: its outermost frames are missing.
    StackTooDeep = 5,
    /// A fault ended that had no beginning: it had begun before the trace did.
    FaultBeginMissing = 6,
    /// A fault began and nothing told its end, and no signal either. Its time is in no total of faults; of a driver it
    /// is in the budget's unknown part.
    FaultEndMissing = 7,
    /// An interval of a thread found the ring buffer full: what a driver was blocked on, who delayed a stop.
    IntervalRingFull = 8,
    /// What a worker did in a window found the ring buffer full.
    WorkerRingFull = 9,
    /// A thread of the target had got its CPU without being told: the time since then was found in another way.
    SwitchUntold = 10,
    /// A window found the table of windows full: it is not seen at all.
    WindowTableFull = 11,
    /// News of a new process, or of one that runs another program, found its ring buffer full.
    LineageRingFull = 12,
    /// A copy of a stack found the ring buffer full: the stack is as frame pointers tell it.
    StackCopyRingFull = 13,
}

impl Loss {
    /// All causes, in the order of their numbers.
    pub const ALL: [Self; 14] = [
        Self::FaultRingFull,
        Self::StackRingFull,
        Self::PauseRingFull,
        Self::ThreadTableFull,
        Self::StackUnreadable,
        Self::StackTooDeep,
        Self::FaultBeginMissing,
        Self::FaultEndMissing,
        Self::IntervalRingFull,
        Self::WorkerRingFull,
        Self::SwitchUntold,
        Self::WindowTableFull,
        Self::LineageRingFull,
        Self::StackCopyRingFull,
    ];

    /// Whether something found a ring or a table full; otherwise it could not be had in the first place.
    #[must_use]
    pub const fn is_for_want_of_room(self) -> bool {
        match self {
            Self::FaultRingFull
            | Self::StackRingFull
            | Self::PauseRingFull
            | Self::ThreadTableFull
            | Self::IntervalRingFull
            | Self::WorkerRingFull
            | Self::WindowTableFull
            | Self::LineageRingFull
            | Self::StackCopyRingFull => true,
            Self::StackUnreadable
            | Self::StackTooDeep
            | Self::FaultBeginMissing
            | Self::FaultEndMissing
            | Self::SwitchUntold => false,
        }
    }

    /// The name in machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FaultRingFull => "fault_ring_full",
            Self::StackRingFull => "stack_ring_full",
            Self::PauseRingFull => "pause_ring_full",
            Self::ThreadTableFull => "thread_table_full",
            Self::StackUnreadable => "stack_unreadable",
            Self::StackTooDeep => "stack_too_deep",
            Self::FaultBeginMissing => "fault_begin_missing",
            Self::FaultEndMissing => "fault_end_missing",
            Self::IntervalRingFull => "interval_ring_full",
            Self::WorkerRingFull => "worker_ring_full",
            Self::SwitchUntold => "switch_untold",
            Self::WindowTableFull => "window_table_full",
            Self::LineageRingFull => "lineage_ring_full",
            Self::StackCopyRingFull => "stack_copy_ring_full",
        }
    }
}
