//! The list of all spans, and the spans' own structures.

use super::{
    layout,
    ranges::Known,
    reader::{Failure, each_number, slice},
    structure::Structure,
};
use crate::{
    elf::{DebugInfoError, Types},
    runtime::loaded::Loaded,
    target::ReadMemory,
};

/// A list of 32 MiB; further spans count as permanent memory.
const MOST_READ: u64 = 1 << 22;
/// More than any process has.
const MOST_SPANS: u64 = 1 << 36;

#[derive(Debug)]
pub(super) struct Spans {
    list: u64,
    span_bytes: u64,
    read: u64,
}

impl Spans {
    pub(super) fn of(types: &Types<'_>, loaded: Loaded) -> Result<Self, DebugInfoError> {
        let (heap, heap_type) = layout::heap(types)?;
        let (list, list_type) = heap_type.field(&["allspans"])?;
        let span = list_type.field(&["array"])?.1.target()?.target()?;
        Ok(Self { list: loaded.address(heap) + list, span_bytes: span.size_bytes()?, read: 0 })
    }

    /// The list only grows; its memory is another one then, and the older is given back. Structures stay.
    pub(super) fn read(&mut self, memory: &dyn ReadMemory, known: &mut Known) -> Result<(), Failure> {
        let list = slice(memory, self.list, MOST_SPANS)?;
        known.pieces.remove(Structure::SpanList);
        known.pieces.add(list.start, list.capacity * 8, Structure::SpanList);
        let length = list.length.min(MOST_READ);
        let from = self.read.min(length);
        let (given, result) = each_number(memory, list.start + from * 8, length - from, |span| {
            if span != 0 {
                known.within.add(span, self.span_bytes, Structure::Spans);
            }
        });
        self.read = from + given;
        Ok(result?)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::test_memory::Words, *};

    #[test]
    fn the_list_is_read_on_from_where_it_stopped() {
        let mut memory = Words::default();
        let spans: Vec<u64> = (0..1000).map(|number| 0x10_0000 + number * 0xa0).collect();
        memory.set(0x1000, &[0x4800, 1000, 2048]);
        memory.set(0x4800, &spans);
        memory.swap_out(0x5000);
        let (mut part, mut known) = (Spans { list: 0x1000, span_bytes: 0xa0, read: 0 }, Known::default());
        assert!(matches!(part.read(&memory, &mut known), Err(Failure::Unread(_))));
        // Up to the end of the first page of the list.
        let of = |known: &Known| known.within.of(Structure::Spans).collect::<Vec<_>>();
        assert_eq!(of(&known), [(0x10_0000, 0x10_0000 + 256 * 0xa0)]);
        assert_eq!(known.find(0x4800 + 2048 * 8 - 1), Some(Structure::SpanList));
        memory.bring_back();
        // It has moved meanwhile.
        memory.set(0x1000, &[0x2_0000, 1000, 4096]);
        memory.set(0x2_0000, &spans);
        part.read(&memory, &mut known).unwrap();
        assert_eq!(of(&known), [(0x10_0000, 0x10_0000 + 1000 * 0xa0)]);
        assert_eq!((known.find(0x4800), known.find(0x2_0000)), (None, Some(Structure::SpanList)));
    }
}
