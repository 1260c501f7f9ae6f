//! The card table: a byte for each 512 bytes of the heap, which collections read to find pointers between its parts.

use std::ops::Range;

use super::reader::{Failure, Reader, plausible};

/// The card table of the heap. `None`: the collector has none, which shows by its not standing for this heap.
pub(super) fn read(reader: Reader<'_>, heap: &Range<u64>) -> Result<Option<Range<u64>>, Failure> {
    let (table, kind) = match reader.variable("BarrierSet", "_barrier_set") {
        Ok(barriers) => (reader.field(barriers, "CardTableBarrierSet", "_card_table")?, "CardTable"),
        // In 8 the barriers are the table.
        Err(Failure::NoField(_)) => {
            let collected = reader.variable("Universe", "_collectedHeap")?;
            (reader.field(collected, "CollectedHeap", "_barrier_set")?, "CardTableModRefBS")
        }
        Err(error) => return Err(error),
    };
    // Barriers of another kind have something else in that place: what it points at need not be readable.
    let whole = reader.address(table, kind, "_whole_heap").and_then(|whole| reader.region(whole));
    if whole.ok().as_ref() != Some(heap) {
        return Ok(None);
    }
    let start = reader.field(table, kind, "_byte_map")?;
    let bytes = reader.field(table, kind, "_byte_map_size")?;
    plausible("the card table", start..start.saturating_add(bytes)).map(Some)
}
