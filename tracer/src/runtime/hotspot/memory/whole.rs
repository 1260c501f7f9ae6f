//! All parts together. They are reserved when the virtual machine starts and never move, so each is read until it has been
//! read once.

use std::{
    collections::BTreeMap,
    fmt, io,
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    card_table, class_data, code_cache, heap,
    reader::{Failure, Reader},
    vm_structs::{NoField, VmStructs},
};
use crate::{
    elf::Image,
    runtime::{
        loaded::Loaded,
        memory::{Belongs, Missing, RuntimeMemory},
    },
    target::{PresentMemory, ReadMemory},
};

/// A part that could not be read, because its page was swapped out, is tried again no sooner than this: a collection brings
/// it in before it touches the heap, and the faults in that are looked up a moment later.
const AGAIN: Duration = Duration::from_millis(10);
/// Reading takes at most one in so many parts of the time.
const SHARE: u32 = 100;

const HEAP: &str = "Java heap";
const CARD_TABLE: &str = "card table";
const CODE_CACHE: &str = "code cache";
const CLASS_DATA: &str = "class data archive";

/// HotSpot's memory.
pub(in crate::runtime) struct HotSpotMemory {
    memory: Box<dyn ReadMemory + Send>,
    structs: VmStructs,
    loaded: Loaded,
    /// What each part was found to be; `None`: there is no such part.
    known: BTreeMap<&'static str, Option<Known>>,
    failed: BTreeMap<&'static str, Failure>,
    read_at: Instant,
    took: Duration,
}

#[derive(Debug)]
struct Known {
    range: Range<u64>,
    words: Arc<str>,
}

/// Why none of its structures can be read.
#[derive(Debug, thiserror::Error)]
pub(in crate::runtime) enum HotSpotMemoryError {
    #[error(transparent)]
    NoTable(#[from] NoField),
    #[error("the process's memory can't be read ({0})")]
    Unreadable(#[from] io::Error),
    #[error("the virtual machine's library is not found among the process's mappings")]
    NotMapped,
}

impl HotSpotMemory {
    /// Finds the structures of the libjvm that the process `pid` has loaded, and reads them for the first time.
    pub(in crate::runtime) fn open(
        pid: u32,
        image: &Image,
        loaded: Option<Loaded>,
    ) -> Result<Self, HotSpotMemoryError> {
        let structs = VmStructs::read(image)?;
        let loaded = loaded.ok_or(HotSpotMemoryError::NotMapped)?;
        Ok(Self::of(structs, loaded, Box::new(PresentMemory::open(pid)?)))
    }

    fn of(structs: VmStructs, loaded: Loaded, memory: Box<dyn ReadMemory + Send>) -> Self {
        let (known, failed) = (BTreeMap::new(), BTreeMap::new());
        let mut whole =
            Self { memory, structs, loaded, known, failed, read_at: Instant::now(), took: Duration::ZERO };
        whole.read();
        whole
    }

    fn read(&mut self) {
        let begun = Instant::now();
        let reader = Reader { memory: self.memory.as_ref(), structs: &self.structs, loaded: self.loaded };
        let (known, failed) = (&mut self.known, &mut self.failed);
        let mut part = |name: &'static str, read: &dyn Fn() -> Result<Option<Range<u64>>, Failure>| {
            let found = match known.get(name) {
                Some(found) => return found.as_ref().map(|found| found.range.clone()),
                None => read(),
            };
            match found {
                Ok(range) => {
                    failed.remove(name);
                    let found = range.clone().map(|range| Known { range, words: name.into() });
                    known.insert(name, found);
                    range
                }
                Err(error) => {
                    failed.insert(name, error);
                    None
                }
            }
        };
        if let Some(heap) = part(HEAP, &|| heap::read(reader)) {
            part(CARD_TABLE, &|| card_table::read(reader, &heap));
        }
        part(CODE_CACHE, &|| code_cache::read(reader).map(Some));
        part(CLASS_DATA, &|| class_data::read(reader));
        self.read_at = Instant::now();
        self.took = self.read_at - begun;
    }
}

impl RuntimeMemory for HotSpotMemory {
    fn find(&mut self, address: u64) -> Option<Belongs> {
        let (name, found) = self.known.iter().find_map(|(name, found)| {
            Some((*name, found.as_ref()?)).filter(|(_, found)| found.range.contains(&address))
        })?;
        Some(Belongs { heap: name == HEAP, what: Arc::clone(&found.words) })
    }

    fn look_again_for(&mut self, _address: u64) -> bool {
        // A field that this version does not have will not come.
        let may_come = self.failed.values().any(|failure| !matches!(failure, Failure::NoField(_)));
        if !may_come || self.read_at.elapsed() < AGAIN.max(self.took * SHARE) {
            return false;
        }
        self.read();
        true
    }

    fn heap_is_known(&self) -> bool {
        matches!(self.known.get(HEAP), Some(Some(_)))
    }

    fn missing(&self) -> Vec<Missing> {
        self.failed.iter().map(|(part, why)| Missing { part, why: why.to_string() }).collect()
    }
}

impl fmt::Debug for HotSpotMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HotSpotMemory")
            .field("known", &self.known)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::target::Unread;

    const STATICS: [(&str, u64); 6] = [
        ("Universe::_collectedHeap", 0x1000),
        ("BarrierSet::_barrier_set", 0x1008),
        ("CodeCache::_low_bound", 0x1010),
        ("CodeCache::_high_bound", 0x1018),
        ("MetaspaceObj::_shared_metaspace_base", 0x1020),
        ("MetaspaceObj::_shared_metaspace_top", 0x1028),
    ];
    const OFFSETS: [(&str, u64); 7] = [
        ("CollectedHeap::_reserved", 32),
        ("MemRegion::_start", 0),
        ("MemRegion::_word_size", 8),
        ("CardTableBarrierSet::_card_table", 64),
        ("CardTable::_whole_heap", 8),
        ("CardTable::_byte_map", 56),
        ("CardTable::_byte_map_size", 48),
    ];

    /// Words by address; what is in none is not present.
    #[derive(Clone, Debug, Default)]
    struct Words(Arc<Mutex<BTreeMap<u64, u64>>>);

    impl Words {
        fn set(&self, words: &[(u64, u64)]) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(words.iter().copied());
        }
    }

    impl ReadMemory for Words {
        fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unread> {
            let words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let word = words.get(&address).ok_or(Unread::NotPresent { address })?;
            bytes.copy_from_slice(&word.to_le_bytes());
            Ok(())
        }
    }

    fn heap_of_64_kib() -> Words {
        let words = Words::default();
        // Pointers to the heap and to the barriers, bounds of code and of the archive.
        words.set(&[(0x1000, 0x2000), (0x1008, 0x3000), (0x1010, 0x50_0000), (0x1018, 0x58_0000)]);
        words.set(&[(0x1020, 0), (0x1028, 0)]);
        words.set(&OFFSETS.map(|(name, offset)| (offset_at(name), offset)));
        words.set(&[(0x2020, 0xe000_0000), (0x2028, 0x2000)]);
        words.set(&[
            (0x3040, 0x4000),
            (0x4008, 0xe000_0000),
            (0x4010, 0x2000),
            (0x4038, 0x7000),
            (0x4030, 128),
        ]);
        words
    }

    /// Where the offset of a field stands.
    fn offset_at(name: &str) -> u64 {
        let index = OFFSETS.iter().position(|(known, _)| *known == name).unwrap();
        0x1100 + 8 * index as u64
    }

    fn structs(statics: &[(&'static str, u64)]) -> VmStructs {
        VmStructs::of_fields(statics.iter().copied(), OFFSETS.map(|(name, _)| (name, offset_at(name))))
    }

    fn memory_of(words: &Words) -> HotSpotMemory {
        HotSpotMemory::of(structs(&STATICS), Loaded::default(), Box::new(words.clone()))
    }

    fn found(memory: &mut HotSpotMemory, address: u64) -> Option<(bool, String)> {
        memory.find(address).map(|found| (found.heap, found.what.to_string()))
    }

    #[test]
    fn each_part_is_found_between_its_bounds() {
        let mut memory = memory_of(&heap_of_64_kib());
        assert!(memory.missing().is_empty() && memory.heap_is_known(), "{memory:?}");
        for (address, expected) in [
            (0xdfff_ffff, None),
            (0xe000_0000, Some((true, HEAP))),
            (0xe000_ffff, Some((true, HEAP))),
            (0xe001_0000, None),
            (0x7000, Some((false, CARD_TABLE))),
            (0x7080, None),
            (0x57_ffff, Some((false, CODE_CACHE))),
            (0, None),
        ] {
            let expected = expected.map(|(heap, what)| (heap, what.to_owned()));
            assert_eq!(found(&mut memory, address), expected, "{address:#x}");
        }
    }

    #[test]
    fn barriers_without_a_card_table_of_this_heap_give_none() {
        let words = heap_of_64_kib();
        for other in [(0x4008, 0xd000_0000), (0x3040, 0x9999)] {
            words.set(&[other]);
            let mut memory = memory_of(&words);
            assert!(memory.missing().is_empty(), "{memory:?}");
            assert_eq!(found(&mut memory, 0x7000), None);
        }
    }

    #[test]
    fn what_is_swapped_out_comes_later_and_what_is_gone_never_does() {
        let words = Words::default();
        let mut memory = memory_of(&words);
        let missing: Vec<_> = memory.missing().iter().map(|missing| missing.part).collect();
        assert_eq!(missing, [HEAP, CLASS_DATA, CODE_CACHE]);
        assert!(!memory.look_again_for(0x7000), "no sooner than agreed");
        words.set(
            &heap_of_64_kib().0.lock().unwrap().iter().map(|(at, word)| (*at, *word)).collect::<Vec<_>>(),
        );
        std::thread::sleep(AGAIN.max(memory.took * SHARE));
        assert!(memory.look_again_for(0x7000));
        assert_eq!(found(&mut memory, 0x7000), Some((false, CARD_TABLE.to_owned())));
        assert!(memory.missing().is_empty(), "{memory:?}");
        std::thread::sleep(AGAIN.max(memory.took * SHARE));
        assert!(!memory.look_again_for(0x7000), "there is nothing left to read");

        let mut without = HotSpotMemory::of(structs(&STATICS[..4]), Loaded::default(), Box::new(words));
        let why = without.missing().pop().unwrap();
        assert!(why.part == CLASS_DATA && why.why.contains("_shared_metaspace_base"), "{why:?}");
        std::thread::sleep(AGAIN.max(without.took * SHARE));
        assert!(!without.look_again_for(0x7000));
    }

    #[test]
    fn a_heap_that_can_t_be_one_is_no_heap() {
        let words = heap_of_64_kib();
        words.set(&[(0x2028, u64::MAX / 4)]);
        let memory = memory_of(&words);
        assert!(!memory.heap_is_known());
        assert!(memory.missing().iter().any(|missing| missing.part == HEAP), "{memory:?}");
        // The heap of a collector that reserves none in this way.
        words.set(&[(0x2020, 0), (0x2028, 0)]);
        let memory = memory_of(&words);
        assert!(!memory.heap_is_known() && memory.missing().is_empty(), "{memory:?}");
    }
}
