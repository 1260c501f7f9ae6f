//! What a runtime reads with the world stopped, as far as it has been measured.

use crate::{memory::Region, runtime::RuntimeKind};

/// What the longest pause of a collection reads when all of the memory that it reads is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reads {
    /// The regions whose pages are read.
    pub(super) regions: &'static [Region],
    /// The fewest reads of the device, read-ahead included.
    pub(super) least: u64,
    /// The most pages; without any help of read-ahead each is a read.
    pub(super) most: u64,
    /// The most reads for the code of the pause, when it is not in memory.
    pub(super) most_code: u64,
    /// The pause without any fault, in ns, from a quiet machine to a busy one.
    pub(super) without_faults_ns: (u64, u64),
    /// In words, without the numbers.
    pub(super) why: &'static str,
}

/// Go. When it stops the world to begin a collection it resets the span sets of every size class in use
/// (`finishsweep_m`; two sets of at most 136 classes, each with a page of its spine and one of a block) and hands on
/// the mark bits (`nextMarkBitArenaEpoch`); all of that is outside the heap. What it needs besides is a handful of
/// pages: its own variables, and the structures and stacks of the threads and processors that it stops.
///
/// The numbers: Go 1.21, 1.25 and 1.27, heaps of 1 to 400 MiB, 1 to 60 size classes, about 150 collections, all memory
/// swapped out before each, by a memory cgroup or by `process_madvise`. The longest pause of a collection touched 23 to
/// 186 swapped-out pages (the fewest in the first collections of a program, and with few size classes), by 18 to 185
/// reads of the device; in time, no pause was shorter than 25 usual reads. A program with objects of every size could
/// touch more.
const GO: Reads = Reads {
    regions: &[Region::RuntimeMetadata, Region::Binary],
    least: 24,
    most: 190,
    most_code: 12,
    without_faults_ns: (10_000, 300_000),
    why: "of the runtime's bookkeeping Go reads the span sets of the size classes in use with the world stopped",
};

/// What is known of this runtime. `None`: nothing.
pub(super) fn reads(runtime: RuntimeKind) -> Option<&'static Reads> {
    match runtime {
        RuntimeKind::Go => Some(&GO),
        RuntimeKind::Demo | RuntimeKind::Described => None,
    }
}

/// The regions whose pages this runtime reads with the world stopped; none when that is not known.
#[must_use]
pub fn regions_read(runtime: RuntimeKind) -> &'static [Region] {
    reads(runtime).map_or(&[], |reads| reads.regions)
}
