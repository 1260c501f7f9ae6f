//! Chunks of mark and allocation bits, in four lists between which they move from collection to collection.

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
        let mut seen = 0;
        for head in &self.heads {
            let mut chunk = number(memory, *head)?;
            while chunk != 0 && seen < MOST_CHUNKS {
                if self.complete && known.pieces.find(chunk) == Some(Structure::MarkBits) {
                    break;
                }
                known.pieces.add(chunk, self.chunk_bytes, Structure::MarkBits);
                chunk = number(memory, chunk + self.next)?;
                seen += 1;
            }
        }
        self.complete = true;
        Ok(())
    }
}
