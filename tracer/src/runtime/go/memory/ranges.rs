//! Addresses and the structures at them.

use std::collections::BTreeMap;

use super::structure::Structure;

/// Ranges that don't overlap.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// By start: end and structure.
    ranges: BTreeMap<u64, (u64, Structure)>,
}

impl Ranges {
    pub(super) fn find(&self, address: u64) -> Option<Structure> {
        let (_, (end, structure)) = self.ranges.range(..=address).next_back()?;
        (address < *end).then_some(*structure)
    }

    /// Adds a range. Neighbours of the same structure become one; what another structure has already stays with it.
    pub(super) fn add(&mut self, start: u64, bytes: u64, structure: Structure) {
        let (mut start, mut end) = (start, start.saturating_add(bytes));
        if let Some((&before, &(before_end, other))) = self.ranges.range(..=start).next_back() {
            if other == structure && before_end >= start {
                end = end.max(before_end);
                start = before;
            } else if before_end > start {
                start = before_end;
            }
        }
        while start < end {
            // The next one that begins inside, or right behind.
            let Some((&next, &(next_end, other))) = self.ranges.range(start..=end).next() else {
                self.ranges.insert(start, (end, structure));
                return;
            };
            if other == structure {
                self.ranges.remove(&next);
                end = end.max(next_end);
            } else {
                if next > start {
                    self.ranges.insert(start, (next.min(end), structure));
                }
                start = next_end.max(start);
                if next == end {
                    return;
                }
            }
        }
    }

    /// How much is in them.
    fn bytes(&self) -> u64 {
        self.ranges.iter().map(|(start, (end, _))| end - start).sum()
    }

    /// Forgets a structure that has moved.
    pub(super) fn remove(&mut self, gone: Structure) {
        self.ranges.retain(|_, (_, structure)| *structure != gone);
    }

    /// All ranges of a structure: start and end.
    #[cfg(test)]
    pub(super) fn of(&self, wanted: Structure) -> impl Iterator<Item = (u64, u64)> {
        let ranges = self.ranges.iter().filter(move |(_, (_, structure))| *structure == wanted);
        ranges.map(|(start, (end, _))| (*start, *end))
    }
}

/// What is known: whole pieces of memory, and what lies within them.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Pieces that the runtime took from the kernel.
    pub(super) pieces: Ranges,
    /// Structures that share a piece with others.
    pub(super) within: Ranges,
}

impl Known {
    /// Grows whenever something was added.
    pub(super) fn bytes(&self) -> u64 {
        self.pieces.bytes().saturating_add(self.within.bytes())
    }

    /// The closest description.
    pub(super) fn find(&self, address: u64) -> Option<Structure> {
        self.within.find(address).or_else(|| self.pieces.find(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACKS: Structure = Structure::GoroutineStacks;

    fn found(ranges: &Ranges) -> Vec<(u64, u64, Structure)> {
        ranges.ranges.iter().map(|(start, (end, structure))| (*start, *end, *structure)).collect()
    }

    #[test]
    fn neighbours_become_one_and_others_stay() {
        let mut ranges = Ranges::default();
        for (start, bytes, structure) in [
            (0x100, 0x10, Structure::Heap),
            (0x120, 0x10, Structure::Heap),
            (0x200, 0x10, STACKS),
            (0x110, 0x10, Structure::Heap),
            (0x1f0, 0x30, Structure::Heap),
            (0x130, 0x80, Structure::Heap),
            (0x204, 0x04, Structure::Heap),
        ] {
            ranges.add(start, bytes, structure);
        }
        let expected = [
            (0x100, 0x1b0, Structure::Heap),
            (0x1f0, 0x200, Structure::Heap),
            (0x200, 0x210, STACKS),
            (0x210, 0x220, Structure::Heap),
        ];
        assert_eq!(found(&ranges), expected);
        let table =
            [(0xff, None), (0x100, Some(Structure::Heap)), (0x1af, Some(Structure::Heap)), (0x1b0, None)];
        for (address, structure) in table {
            assert_eq!(ranges.find(address), structure, "{address:#x}");
        }
        assert_eq!(ranges.of(STACKS).collect::<Vec<_>>(), [(0x200, 0x210)]);
    }

    /// Whatever is added in whatever order: each address has the structure that came first.
    #[test]
    fn the_first_to_come_stays() {
        let mut random = 12345_u64;
        let mut next = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        for _ in 0..300 {
            let (mut ranges, mut naive) = (Ranges::default(), vec![None; 128]);
            for _ in 0..12 {
                let (start, bytes) = (next(100), next(28));
                let structure =
                    [Structure::Heap, STACKS, Structure::Spans][usize::try_from(next(3)).unwrap()];
                ranges.add(start, bytes, structure);
                for place in &mut naive[start as usize..(start + bytes) as usize] {
                    *place = place.or(Some(structure));
                }
            }
            for (address, structure) in (0..).zip(&naive) {
                assert_eq!(ranges.find(address), *structure, "{address} in {ranges:?}");
            }
        }
    }

    #[test]
    fn the_end_of_the_address_space_is_no_trap() {
        let mut ranges = Ranges::default();
        ranges.add(u64::MAX - 4, 100, Structure::Heap);
        assert_eq!(ranges.find(u64::MAX - 1), Some(Structure::Heap));
    }
}
