//! Chunks of mark and allocation bits, in four lists between which they move from collection to collection.

use std::collections::HashSet;

use super::{
    ranges::Known,
    reader::{Failure, number},
    structure::Structure,
};
use crate::{
    elf::{DebugInfoError, Types},
    runtime::loaded::Loaded,
    target::ReadMemory,
};

const LISTS: [&str; 4] = ["next", "current", "previous", "free"];
/// More chunks of 64 KiB than any process has.
const MOST_CHUNKS: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct MarkBits {
    heads: Vec<u64>,
    next: u64,
    chunk_bytes: u64,
    /// Whether every list was walked to its end once.
    complete: bool,
}

impl MarkBits {
    pub(super) fn of(types: &Types<'_>, loaded: Loaded) -> Result<Self, DebugInfoError> {
        let (lists, lists_type) = types.variable("runtime.gcBitsArenas")?;
        let lists = loaded.address(lists);
        let heads: Result<Vec<_>, _> =
            LISTS.iter().map(|name| lists_type.field(&[name]).map(|(offset, _)| lists + offset)).collect();
        let chunk = lists_type.field(&["free"])?.1.target()?;
        Ok(Self {
            heads: heads?,
            next: chunk.field(&["next"])?.0,
            chunk_bytes: chunk.size_bytes()?,
            complete: false,
        })
    }

    /// New chunks come in front of a list; so once all were seen, a walk ends at the first known one.
    pub(super) fn read(&mut self, memory: &dyn ReadMemory, known: &mut Known) -> Result<(), Failure> {
        let mut walked = HashSet::new();
        for head in &self.heads {
            let mut chunk = number(memory, *head)?;
            // Lists that change while they are read can lead in a circle.
            while chunk != 0 && walked.len() < MOST_CHUNKS && walked.insert(chunk) {
                if self.complete && known.pieces.find(chunk) == Some(Structure::MarkBits) {
                    break;
                }
                known.pieces.add(chunk, self.chunk_bytes, Structure::MarkBits);
                chunk = number(memory, chunk.saturating_add(self.next))?;
            }
        }
        self.complete = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::test_memory::Words, *};

    const CHUNK: u64 = 0x10000;

    fn part() -> MarkBits {
        let heads = vec![0x1000, 0x1008, 0x1010, 0x1018];
        MarkBits { heads, next: 8, chunk_bytes: CHUNK, complete: false }
    }

    fn known_chunks(known: &Known) -> Vec<(u64, u64)> {
        known.pieces.of(Structure::MarkBits).collect()
    }

    #[test]
    fn lists_are_walked_as_far_as_they_are_in_memory() {
        let mut memory = Words::default();
        memory.set(0x1000, &[0x2_0000, 0x9_0000, 0, 0]);
        memory.set(0x2_0000, &[77, 0x5_0000]);
        memory.set(0x5_0000, &[77, 0x7_0000]);
        memory.set(0x7_0000, &[77, 0]);
        memory.set(0x9_0000, &[77, 0]);
        memory.swap_out(0x5_0000);
        let (mut part, mut known) = (part(), Known::default());
        let error = part.read(&memory, &mut known).unwrap_err();
        assert!(error.to_string().contains("0x50000 is not in memory"), "{error}");
        assert_eq!(known_chunks(&known), [(0x2_0000, 0x3_0000), (0x5_0000, 0x6_0000)]);
        memory.bring_back();
        part.read(&memory, &mut known).unwrap();
        let all = [(0x2_0000, 0x3_0000), (0x5_0000, 0x6_0000), (0x7_0000, 0x8_0000), (0x9_0000, 0xa_0000)];
        assert_eq!(known_chunks(&known), all);
        // A new one in front; what is behind a known one needs no second look.
        memory.set(0xb_0000, &[77, 0x5_0000]);
        memory.set(0x1000, &[0xb_0000]);
        memory.swap_out(0x5_0000);
        part.read(&memory, &mut known).unwrap();
        assert_eq!(known.pieces.find(0xb_8000), Some(Structure::MarkBits));
    }

    #[test]
    fn a_circle_ends() {
        let mut memory = Words::default();
        memory.set(0x1000, &[0x2_0000, 0, 0x5_0000, 0]);
        memory.set(0x2_0000, &[0, 0x5_0000]);
        memory.set(0x5_0000, &[0, 0x2_0000]);
        let (mut part, mut known) = (part(), Known::default());
        part.read(&memory, &mut known).unwrap();
        assert_eq!(known_chunks(&known).len(), 2);
    }
}
