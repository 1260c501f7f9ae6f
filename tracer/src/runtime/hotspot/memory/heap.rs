//! The Java heap: the addresses that the collector has reserved for it.

use std::ops::Range;

use super::reader::{Failure, Reader, plausible};

/// All of them, also those that hold no memory yet. `None`: this collector reserves none in this way (ZGC).
pub(super) fn read(reader: Reader<'_>) -> Result<Option<Range<u64>>, Failure> {
    let heap = reader.variable("Universe", "_collectedHeap")?;
    let reserved = reader.region(reader.address(heap, "CollectedHeap", "_reserved")?)?;
    if reserved.is_empty() {
        return Ok(None);
    }
    plausible("the heap", reserved).map(Some)
}
