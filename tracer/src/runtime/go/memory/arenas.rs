//! The heap: its arenas, their index, and what the runtime keeps about each.

use std::collections::BTreeMap;

use super::{
    layout,
    ranges::Known,
    reader::{Failure, GoSlice, each_number, number, slice},
    structure::Structure,
};
use crate::{
    elf::{DebugInfoError, Machine, Types},
    runtime::loaded::Loaded,
    target::ReadMemory,
};

/// Lists of arenas: the one of Go 1.23 and earlier, then those that replaced it. One of the first two must be there.
const LISTS: [&str; 3] = ["allArenas", "heapArenas", "userArenaArenas"];
/// 2^48 bytes of arenas of 64 MiB.
const MOST_ARENAS: u64 = 1 << 22;
/// An arena on 64-bit Linux (`heapArenaBytes`).
const ARENA_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct Arenas {
    lists: Vec<u64>,
    /// How many of each list are known.
    read: Vec<u64>,
    /// The first level of the index, and the number of entries in each table of the second.
    index: u64,
    second_level: u64,
    metadata_bytes: u64,
    /// Within an arena's metadata: the span of each page.
    pub(super) spans: u64,
    pub(super) pages: u64,
    pub(super) arena_bytes: u64,
    base: u64,
    /// By the arena's first address: its metadata, once that is known.
    arenas: BTreeMap<u64, Option<u64>>,
    complete: bool,
}

impl Arenas {
    pub(super) fn of(types: &Types<'_>, loaded: Loaded, machine: Machine) -> Result<Self, DebugInfoError> {
        let (heap, heap_type) = layout::heap(types)?;
        let heap = loaded.address(heap);
        let has = |name: &&str| heap_type.field(&[name]).map(|(offset, _)| heap + offset);
        let lists: Vec<u64> = LISTS.iter().filter_map(|name| has(name).ok()).collect();
        if LISTS[..2].iter().all(|name| has(name).is_err()) {
            has(&LISTS[1])?;
        }
        let (index, first_level) = heap_type.field(&["arenas"])?;
        let (second_level, entries) = first_level.elements()?.0.target()?.elements()?;
        let metadata = second_level.target()?;
        let (spans, spans_type) = metadata.field(&["spans"])?;
        Ok(Self {
            read: vec![0; lists.len()],
            lists,
            index: heap + index,
            second_level: entries,
            metadata_bytes: metadata.size_bytes()?,
            spans,
            pages: spans_type.elements()?.1,
            arena_bytes: layout::size_or(types, "runtime.heapArenaBytes", ARENA_BYTES),
            base: layout::arena_base(machine),
            arenas: BTreeMap::new(),
            complete: false,
        })
    }

    /// Whether every arena is known.
    pub(super) fn complete(&self) -> bool {
        self.complete
    }

    /// The arena that holds the address, and its metadata if that is known.
    pub(super) fn holding(&self, address: u64) -> Option<(u64, Option<u64>)> {
        let (start, metadata) = self.arenas.range(..=address).next_back()?;
        (address - start < self.arena_bytes).then_some((*start, *metadata))
    }

    /// The first address of each arena.
    pub(super) fn starts(&self) -> impl Iterator<Item = u64> {
        self.arenas.keys().copied()
    }

    /// The arena's number from its address, as the runtime numbers them.
    fn number_of(&self, start: u64) -> u64 {
        start.wrapping_sub(self.base) / self.arena_bytes
    }

    /// Reads what is new.
    pub(super) fn read(&mut self, memory: &dyn ReadMemory, known: &mut Known) -> Result<(), Failure> {
        let lists = self.read_lists(memory, known);
        self.complete = lists.is_ok();
        let metadata = self.read_metadata(memory, known);
        lists.and(metadata)
    }

    fn read_lists(&mut self, memory: &dyn ReadMemory, known: &mut Known) -> Result<(), Failure> {
        for (list, read) in self.lists.iter().zip(&mut self.read) {
            let GoSlice { start, length, .. } = slice(memory, *list, MOST_ARENAS)?;
            // A list only grows, at its end.
            let from = (*read).min(length);
            let mut odd = None;
            let (given, result) = each_number(memory, start + from * 8, length - from, |number| {
                let arena = number.wrapping_mul(self.arena_bytes).wrapping_add(self.base);
                // The kernel's half is nobody's heap.
                if arena >> 63 != 0 || arena == 0 {
                    odd = Some(number);
                } else {
                    self.arenas.entry(arena).or_insert(None);
                    known.pieces.add(arena, self.arena_bytes, Structure::Heap);
                }
            });
            if let Some(number) = odd {
                return Err(Failure::Implausible(format!("the number {number:#x} can't be an arena's")));
            }
            *read = from + given;
            result?;
        }
        Ok(())
    }

    fn read_metadata(&mut self, memory: &dyn ReadMemory, known: &mut Known) -> Result<(), Failure> {
        let mut result = Ok(());
        let unknown: Vec<u64> =
            self.arenas.iter().filter(|(_, metadata)| metadata.is_none()).map(|(start, _)| *start).collect();
        for start in unknown {
            match self.metadata_of(start, memory, known) {
                Ok(metadata) => {
                    self.arenas.insert(start, Some(metadata));
                    known.pieces.add(metadata, self.metadata_bytes, Structure::ArenaMetadata);
                }
                Err(error) => result = Err(error),
            }
        }
        result
    }

    fn metadata_of(&self, arena: u64, memory: &dyn ReadMemory, known: &mut Known) -> Result<u64, Failure> {
        let arena_number = self.number_of(arena);
        let table = number(memory, self.index + arena_number / self.second_level * 8)?;
        if table == 0 {
            return Err(Failure::Implausible(format!("the index has no table for the arena {arena:#x}")));
        }
        known.pieces.add(table, self.second_level * 8, Structure::ArenaIndex);
        match number(memory, table.saturating_add(arena_number % self.second_level * 8))? {
            0 => Err(Failure::Implausible(format!("the index holds no metadata of the arena {arena:#x}"))),
            metadata => Ok(metadata),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::test_memory::Words, *};

    const LIST: u64 = 0x1000;
    const INDEX: u64 = 0x1100;
    const TABLE: u64 = 0x5000_0000;

    fn part() -> Arenas {
        Arenas {
            lists: vec![LIST],
            read: vec![0],
            index: INDEX,
            second_level: 1 << 22,
            metadata_bytes: 0x1_2000,
            spans: 0,
            pages: 8192,
            arena_bytes: ARENA_BYTES,
            base: layout::arena_base(Machine::X86_64),
            arenas: BTreeMap::new(),
            complete: false,
        }
    }

    /// On amd64 the arena of 0xc000000000 has the number of that address above the lowest one, the upper half first.
    fn number_of(arena: u64) -> u64 {
        arena.wrapping_sub(layout::arena_base(Machine::X86_64)) / ARENA_BYTES
    }

    #[test]
    fn arenas_are_known_by_their_numbers_and_the_list_grows() {
        let (first, second) = (0xc0_0000_0000_u64, 0x2613_2400_0000_u64);
        let mut memory = Words::default();
        memory.set(LIST, &[0x2000, 1, 512]);
        memory.set(0x2000, &[number_of(first)]);
        memory.set(INDEX, &[TABLE]);
        memory.set(TABLE + number_of(first) * 8, &[0x7000_0000]);
        let (mut part, mut known) = (part(), Known::default());
        part.read(&memory, &mut known).unwrap();
        assert!(part.complete());
        assert_eq!(part.holding(first + ARENA_BYTES - 1), Some((first, Some(0x7000_0000))));
        assert_eq!(known.find(first), Some(Structure::Heap));
        assert_eq!(known.find(first + ARENA_BYTES), None);
        assert_eq!(known.find(0x7001_1fff), Some(Structure::ArenaMetadata));
        assert_eq!(known.find(TABLE), Some(Structure::ArenaIndex));
        // One more, whose entry in the index is not in memory.
        memory.set(LIST, &[0x2000, 2, 512]);
        memory.set(0x2008, &[number_of(second)]);
        assert!(matches!(part.read(&memory, &mut known), Err(Failure::Unread(_))));
        assert!(part.complete(), "the heap is known all the same");
        assert_eq!(part.holding(second), Some((second, None)));
        assert_eq!(known.find(second + 5), Some(Structure::Heap));
        // The list itself is not.
        memory.swap_out(LIST);
        assert!(part.read(&memory, &mut known).is_err());
        assert!(!part.complete());
    }

    #[test]
    fn what_can_t_be_a_list_of_arenas_is_refused() {
        for (header, entry) in
            [([0x2000, 5, 2], 0), ([0, 0, 8], 0), ([0x2000, 1, MOST_ARENAS + 1], 0), ([0x2000, 1, 1], 7)]
        {
            let mut memory = Words::default();
            memory.set(LIST, &header);
            memory.set(0x2000, &[entry]);
            let (mut part, mut known) = (part(), Known::default());
            assert!(matches!(part.read(&memory, &mut known), Err(Failure::Implausible(_))), "{header:?}");
            assert!(!part.complete() && part.starts().next().is_none(), "{header:?}");
        }
    }
}
