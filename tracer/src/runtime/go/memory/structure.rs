//! The structures that are told apart, and their words.

/// A structure of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Structure {
    Heap,
    GoroutineStacks,
    WorkBuffers,
    ArenaIndex,
    ArenaMetadata,
    PageSummaries,
    PageBitmaps,
    ScavengerIndex,
    MarkBits,
    Permanent,
    SpanSets,
    SpanList,
    Spans,
    ProfilerTable,
}

impl Structure {
    pub(super) const ALL: [Self; 14] = [
        Self::Heap,
        Self::GoroutineStacks,
        Self::WorkBuffers,
        Self::ArenaIndex,
        Self::ArenaMetadata,
        Self::PageSummaries,
        Self::PageBitmaps,
        Self::ScavengerIndex,
        Self::MarkBits,
        Self::Permanent,
        Self::SpanSets,
        Self::SpanList,
        Self::Spans,
        Self::ProfilerTable,
    ];

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Heap => "heap arenas",
            Self::GoroutineStacks => "goroutine stacks",
            Self::WorkBuffers => "work buffers",
            Self::ArenaIndex => "arena index",
            Self::ArenaMetadata => "arena metadata",
            Self::PageSummaries => "page summaries",
            Self::PageBitmaps => "page bitmaps",
            Self::ScavengerIndex => "scavenger index",
            Self::MarkBits => "mark bits",
            Self::Permanent => "small permanent bookkeeping",
            Self::SpanSets => "span sets",
            Self::SpanList => "span list",
            Self::Spans => "span structures",
            Self::ProfilerTable => "profiler table",
        }
    }

    /// Whether it is heap: memory of objects. Stacks and work buffers lie between them, and are the runtime's own (its
    /// statistics count them apart as well: `MemStats.StackSys`, `GCSys`).
    pub(super) fn is_heap(self) -> bool {
        self == Self::Heap
    }
}
