//! The page allocator's summaries, bitmaps and index.

use super::{
    arenas::Arenas,
    layout,
    ranges::Known,
    reader::{Failure, number, slice},
    structure::Structure,
};
use crate::{
    elf::{DebugInfoError, Machine, Types},
    runtime::loaded::Loaded,
    target::ReadMemory,
};

/// No summary has more entries: 2^48 bytes in chunks of 4 MiB.
const MOST_ENTRIES: u64 = 1 << 26;
/// A chunk that one bitmap describes (`pallocChunkBytes`: 512 pages of 8 KiB).
const CHUNK_BYTES: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct PageAlloc {
    /// Headers of slices: what they are, address, size of an element.
    slices: Vec<(Structure, u64, u64)>,
    /// The first level of the bitmaps; how many each table of the second holds, and their size together.
    bitmaps: u64,
    second_level: u64,
    second_level_bytes: u64,
    chunk_bytes: u64,
    base: u64,
}

impl PageAlloc {
    pub(super) fn of(types: &Types<'_>, loaded: Loaded, machine: Machine) -> Result<Self, DebugInfoError> {
        let (heap, heap_type) = layout::heap(types)?;
        let heap = loaded.address(heap);
        let (summary, levels_type) = heap_type.field(&["pages", "summary"])?;
        let (level, levels) = levels_type.elements()?;
        let header_bytes = level.size_bytes()?;
        let sum_bytes = level.field(&["array"])?.1.target()?.size_bytes()?;
        let mut slices: Vec<_> = (0..levels)
            .map(|level| (Structure::PageSummaries, heap + summary + level * header_bytes, sum_bytes))
            .collect();
        // Not in all versions.
        if let Ok((index, index_type)) = heap_type.field(&["pages", "scav", "index", "chunks"])
            && let Ok((_, element)) = index_type.field(&["array"])
        {
            slices.push((Structure::ScavengerIndex, heap + index, element.target()?.size_bytes()?));
        }
        let (bitmaps, first_level) = heap_type.field(&["pages", "chunks"])?;
        let second_level = first_level.elements()?.0.target()?;
        Ok(Self {
            slices,
            bitmaps: heap + bitmaps,
            second_level: second_level.elements()?.1,
            second_level_bytes: second_level.size_bytes()?,
            chunk_bytes: layout::size_or(types, "runtime.pallocChunkBytes", CHUNK_BYTES),
            base: layout::arena_base(machine),
        })
    }

    pub(super) fn read(
        &self,
        memory: &dyn ReadMemory,
        arenas: Option<&Arenas>,
        known: &mut Known,
    ) -> Result<(), Failure> {
        for (structure, header, element_bytes) in &self.slices {
            let reserved = slice(memory, *header, MOST_ENTRIES)?;
            known.pieces.add(reserved.start, reserved.capacity * element_bytes, *structure);
        }
        // The first level is mostly empty, and never touched where it is: only what the arenas use is read.
        let mut done = None;
        for arena in arenas.into_iter().flat_map(Arenas::starts) {
            let table = arena.wrapping_sub(self.base) / self.chunk_bytes / self.second_level;
            if done.replace(table) == Some(table) {
                continue;
            }
            let start = number(memory, self.bitmaps + table * 8)?;
            if start != 0 {
                known.pieces.add(start, self.second_level_bytes, Structure::PageBitmaps);
            }
        }
        Ok(())
    }
}
