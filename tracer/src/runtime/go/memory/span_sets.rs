//! Span sets: for each class of spans four sets, each a spine of pointers to blocks, and a pool of blocks that no set
//! uses now.

use std::collections::HashSet;

use super::{
    layout,
    ranges::Known,
    reader::{Failure, each_number, number},
    structure::Structure,
};
use crate::{
    elf::{DebugInfoError, Types},
    runtime::loaded::Loaded,
    target::ReadMemory,
};

/// A spine has one entry for each block of 512 spans.
const MOST_BLOCKS: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct SpanSets {
    /// Addresses of the sets.
    sets: Vec<u64>,
    spine: u64,
    spine_length: u64,
    spine_capacity: u64,
    block_bytes: u64,
    pool: Option<Pool>,
}

/// Blocks that no set uses, in a list whose links carry a tag in their lowest bits.
#[derive(Clone, Copy, Debug)]
struct Pool {
    head: u64,
    tag_bits: u32,
    /// So far to the left is a pointer above its tag.
    shift: u32,
}

impl SpanSets {
    pub(super) fn of(types: &Types<'_>, loaded: Loaded) -> Result<Self, DebugInfoError> {
        let (heap, heap_type) = layout::heap(types)?;
        let (central, classes_type) = heap_type.field(&["central"])?;
        let central = loaded.address(heap) + central;
        let (class, classes) = classes_type.elements()?;
        let class_bytes = class.size_bytes()?;
        let mut sets = Vec::new();
        let mut set_type = None;
        for name in ["partial", "full"] {
            let (offset, pair) = class.field(&["mcentral", name])?;
            let (set, count) = pair.elements()?;
            let set_bytes = set.size_bytes()?;
            set_type = Some(set);
            for number in 0..classes {
                sets.extend(
                    (0..count).map(|index| central + number * class_bytes + offset + index * set_bytes),
                );
            }
        }
        let set = set_type.ok_or_else(|| DebugInfoError::NoVariable("runtime.mheap_.central".to_owned()))?;
        Ok(Self {
            sets,
            spine: layout::word(set, &["spine"])?,
            spine_length: layout::word(set, &["spineLen"])?,
            spine_capacity: layout::word(set, &["spineCap"])?,
            block_bytes: types.structure("runtime.spanSetBlock")?.size_bytes()?,
            pool: pool(types, loaded),
        })
    }

    pub(super) fn read(&self, memory: &dyn ReadMemory, known: &mut Known) -> Result<(), Failure> {
        let mut result = Ok(());
        for set in &self.sets {
            if let Err(error) = self.read_set(*set, memory, known) {
                result = Err(error);
            }
        }
        result.and_then(|()| self.read_pool(memory, known))
    }

    fn read_set(&self, set: u64, memory: &dyn ReadMemory, known: &mut Known) -> Result<(), Failure> {
        let spine = number(memory, set + self.spine)?;
        if spine == 0 {
            return Ok(());
        }
        let capacity = number(memory, set + self.spine_capacity)?;
        let length = number(memory, set + self.spine_length)?;
        if length > capacity || capacity > MOST_BLOCKS {
            return Err(Failure::Implausible(format!(
                "the span set at {set:#x} (spine {spine:#x}, length {length}, capacity {capacity}) can't be one"
            )));
        }
        known.within.add(spine, capacity * 8, Structure::SpanSets);
        let (_, result) = each_number(memory, spine, length, |block| {
            if block != 0 {
                known.within.add(block, self.block_bytes, Structure::SpanSets);
            }
        });
        Ok(result?)
    }

    fn read_pool(&self, memory: &dyn ReadMemory, known: &mut Known) -> Result<(), Failure> {
        let Some(pool) = self.pool else { return Ok(()) };
        let mut link = number(memory, pool.head)?;
        let mut walked = HashSet::new();
        loop {
            let block = pool.pointer(link);
            // A block is taken from the chunks of permanent memory; anything else is no block: the list has changed
            // while it was read.
            if known.pieces.find(block) != Some(Structure::Permanent) || !walked.insert(block) {
                break;
            }
            known.within.add(block, self.block_bytes, Structure::SpanSets);
            link = number(memory, block)?;
        }
        Ok(())
    }
}

impl Pool {
    /// The pointer in a link (`taggedPointer.pointer`): addresses are sign-extended.
    fn pointer(self, link: u64) -> u64 {
        ((link.cast_signed() >> self.tag_bits) << (self.tag_bits - self.shift)).cast_unsigned()
    }
}

/// `None`: not in a form that is known. Then the pool's blocks count as permanent memory.
fn pool(types: &Types<'_>, loaded: Loaded) -> Option<Pool> {
    let (head, _) = types.variable("runtime.spanSetBlockPool").ok()?;
    let bits = |name| types.constant(name).ok().and_then(|bits| u32::try_from(bits).ok());
    let (tag_bits, address_bits) = (bits("runtime.tagBits")?, bits("runtime.addrBits")?);
    let shift = 64_u32.checked_sub(address_bits).filter(|shift| *shift <= tag_bits && tag_bits < 64)?;
    Some(Pool { head: loaded.address(head), tag_bits, shift })
}

#[cfg(test)]
mod tests {
    use super::{super::test_memory::Words, *};

    /// One set with a spine of two blocks, and two more in the pool, whose links go in a circle.
    #[test]
    fn blocks_of_spines_and_of_the_pool_are_found() {
        let pool = Pool { head: 0x1100, tag_bits: 19, shift: 16 };
        let set = 0x1000;
        let part = SpanSets {
            sets: vec![set],
            spine: 8,
            spine_length: 16,
            spine_capacity: 24,
            block_bytes: 0x1040,
            pool: Some(pool),
        };
        let mut known = Known::default();
        known.pieces.add(0x10_0000, 0x4_0000, Structure::Permanent);
        let mut memory = Words::default();
        memory.set(set, &[0, 0x10_0040, 2, 256]);
        memory.set(0x10_0040, &[0x11_0000, 0x12_0000, 0x13_0000]);
        let (first, second) = (0x10_8000_u64, 0x10_a000_u64);
        memory.set(0x1100, &[(first << 16) | 5]);
        memory.set(first, &[(second << 16) | 6]);
        memory.set(second, &[(first << 16) | 7]);
        part.read(&memory, &mut known).unwrap();
        let found: Vec<_> = known.within.of(Structure::SpanSets).collect();
        let expected = [
            (0x10_0040, 0x10_0840),
            (first, first + 0x1040),
            (second, second + 0x1040),
            (0x11_0000, 0x11_1040),
            (0x12_0000, 0x12_1040),
        ];
        assert_eq!(found, expected, "the spine's third entry is past its length");
        memory.set(set, &[0, 0x10_0040, 300, 256]);
        let error = part.read(&memory, &mut known).unwrap_err();
        assert!(error.to_string().contains("length 300, capacity 256"), "{error}");
    }

    /// Go 1.21 keeps 48 address bits and aligns to 8; Go 1.27 keeps 49 and aligns to 512.
    #[test]
    fn links_lose_their_tags() {
        for (tag_bits, shift, pointer) in [(19, 16, 0x7f12_3456_7898_u64), (24, 15, 0x7f12_3456_7800)] {
            let pool = Pool { head: 0, tag_bits, shift };
            let tag = (1 << tag_bits) - 1;
            assert_eq!(pool.pointer((pointer << shift) | 0x2a), pointer);
            assert_eq!(pool.pointer((pointer << shift) | tag), pointer);
            assert_eq!(pool.pointer(0), 0);
        }
    }
}
