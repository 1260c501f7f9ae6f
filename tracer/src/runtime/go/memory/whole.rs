//! All parts together: read at first, and again when something is not known.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    arenas::Arenas,
    layout::{NAMES, UNIT},
    mark_bits::MarkBits,
    page_alloc::PageAlloc,
    permanent::Permanent,
    ranges::Known,
    reader::Failure,
    span_sets::SpanSets,
    spans::Spans,
    stacks::Stacks,
    structure::Structure,
};
use crate::{
    elf::{DebugInfo, DebugInfoError, Image, Machine, Types},
    runtime::{
        loaded::Loaded,
        memory::{Belongs, Missing, RuntimeMemory},
    },
    target::{PresentMemory, ReadMemory},
};

/// The target is read again no sooner than this, and for no more than this part of the time: sooner when an address is in
/// no structure at all than when it is in one that is known roughly.
const AGAIN_FOR_UNKNOWN: (Duration, u32) = (Duration::from_millis(20), 20);
const AGAIN_FOR_ROUGH: (Duration, u32) = (Duration::from_millis(200), 100);
/// After so many readings that brought nothing new, the wait doubles each time, up to the longest one.
const FRUITLESS: u32 = 4;
const AGAIN_AT_LAST: Duration = Duration::from_secs(30);

/// The Go runtime's memory.
pub(in crate::runtime) struct GoMemory {
    memory: Box<dyn ReadMemory + Send>,
    parts: Parts,
    known: Known,
    /// Parts that could never be read to their end.
    failed: BTreeMap<&'static str, String>,
    whole: BTreeSet<&'static str>,
    words: BTreeMap<Structure, Arc<str>>,
    read_at: Instant,
    took: Duration,
    fruitless: u32,
}

/// Each part's layout, as far as the debug information has it.
#[derive(Debug)]
struct Parts {
    arenas: Option<Arenas>,
    page_alloc: Option<PageAlloc>,
    mark_bits: Option<MarkBits>,
    permanent: Option<Permanent>,
    span_sets: Option<SpanSets>,
    spans: Option<Spans>,
    stacks: Option<Stacks>,
}

/// Nothing can be read at all.
#[derive(Debug, thiserror::Error)]
pub(in crate::runtime) enum GoMemoryError {
    #[error(transparent)]
    DebugInfo(#[from] DebugInfoError),
    #[error("the process's memory can't be read ({0})")]
    Unreadable(#[from] io::Error),
    #[error("the program's file is not found among the process's mappings")]
    NotMapped,
}

impl GoMemory {
    /// Finds the structures of a program that runs as `pid`, and reads them for the first time.
    pub(in crate::runtime) fn open(
        pid: u32,
        image: &Image,
        loaded: Option<Loaded>,
    ) -> Result<Self, GoMemoryError> {
        let debug = DebugInfo::read(image)?;
        let types = Types::of_unit(&debug, UNIT, &NAMES)?;
        let loaded = loaded.ok_or(GoMemoryError::NotMapped)?;
        let memory = PresentMemory::open(pid)?;
        Ok(Self::of(&types, loaded, image.machine(), Box::new(memory)))
    }

    fn of(types: &Types<'_>, loaded: Loaded, machine: Machine, memory: Box<dyn ReadMemory + Send>) -> Self {
        let mut failed = BTreeMap::new();
        let parts = Parts::of(types, loaded, machine, &mut failed);
        let words = Structure::ALL.map(|structure| (structure, Arc::from(structure.words())));
        let mut whole = Self {
            memory,
            parts,
            known: Known::default(),
            failed,
            whole: BTreeSet::new(),
            words: BTreeMap::from(words),
            read_at: Instant::now(),
            took: Duration::ZERO,
            fruitless: 0,
        };
        whole.read();
        whole
    }

    /// Reads what is new of every part.
    fn read(&mut self) {
        let begin = Instant::now();
        let Self { memory, parts, known, failed, whole, .. } = self;
        parts.read(memory.as_ref(), known, |part, result| match result {
            Ok(()) => {
                whole.insert(part);
                failed.remove(part);
            }
            // What was read to its end once is known but for what is new.
            Err(error) if whole.contains(part) => log::debug!("{part}: {error}"),
            Err(error) => drop(failed.insert(part, error.to_string())),
        });
        self.read_at = Instant::now();
        self.took = begin.elapsed();
        log::debug!("the runtime's structures were read in {:?}: {} bytes", self.took, self.known.bytes());
    }

    fn structure(&mut self, address: u64) -> Option<Structure> {
        match (self.known.find(address)?, &mut self.parts) {
            (Structure::Heap, Parts { arenas: Some(arenas), stacks: Some(stacks), .. }) => {
                Some(stacks.use_of(address, arenas, self.memory.as_ref()))
            }
            (structure, _) => Some(structure),
        }
    }
}

impl Parts {
    fn of(
        types: &Types<'_>,
        loaded: Loaded,
        machine: Machine,
        failed: &mut BTreeMap<&'static str, String>,
    ) -> Self {
        let mut has = |name: &'static str, error: &DebugInfoError| {
            failed.insert(name, format!("{error}: this version of Go keeps it elsewhere"));
        };
        macro_rules! part {
            ($name:literal, $found:expr) => {
                $found.inspect_err(|error| has($name, error)).ok()
            };
        }
        Self {
            arenas: part!("heap arenas", Arenas::of(types, loaded, machine)),
            page_alloc: part!("page summaries", PageAlloc::of(types, loaded, machine)),
            mark_bits: part!("mark bits", MarkBits::of(types, loaded)),
            permanent: part!("small permanent bookkeeping", Permanent::of(types, loaded)),
            span_sets: part!("span sets", SpanSets::of(types, loaded)),
            spans: part!("span structures", Spans::of(types, loaded)),
            stacks: part!("goroutine stacks", Stacks::of(types)),
        }
    }

    fn read(
        &mut self,
        memory: &dyn ReadMemory,
        known: &mut Known,
        mut note: impl FnMut(&'static str, Result<(), Failure>),
    ) {
        let mut note = |name: &'static str, result: Option<Result<(), Failure>>| {
            result.into_iter().for_each(|result| note(name, result));
        };
        note("heap arenas", self.arenas.as_mut().map(|part| part.read(memory, known)));
        let arenas = self.arenas.as_ref();
        note("page summaries", self.page_alloc.as_ref().map(|part| part.read(memory, arenas, known)));
        note("mark bits", self.mark_bits.as_mut().map(|part| part.read(memory, known)));
        note("small permanent bookkeeping", self.permanent.as_mut().map(|part| part.read(memory, known)));
        note("span sets", self.span_sets.as_ref().map(|part| part.read(memory, known)));
        note("span structures", self.spans.as_mut().map(|part| part.read(memory, known)));
    }
}

impl RuntimeMemory for GoMemory {
    fn find(&mut self, address: u64) -> Option<Belongs> {
        let structure = self.structure(address)?;
        Some(Belongs { heap: structure.is_heap(), what: Arc::clone(self.words.get(&structure)?) })
    }

    fn look_again_for(&mut self, address: u64) -> bool {
        let (again, share) = match self.known.find(address) {
            None => AGAIN_FOR_UNKNOWN,
            Some(Structure::Permanent) => AGAIN_FOR_ROUGH,
            Some(_) => return false,
        };
        let doubled = 1 << self.fruitless.saturating_sub(FRUITLESS).min(16);
        if self.read_at.elapsed() < (again * doubled).min(AGAIN_AT_LAST).max(self.took * share) {
            return false;
        }
        let before = self.known.bytes();
        self.read();
        self.fruitless = if self.known.bytes() == before { self.fruitless.saturating_add(1) } else { 0 };
        true
    }

    fn heap_is_known(&self) -> bool {
        self.parts.arenas.as_ref().is_some_and(Arenas::complete)
    }

    fn missing(&self) -> Vec<Missing> {
        self.failed.iter().map(|(part, why)| Missing { part, why: why.clone() }).collect()
    }
}

impl fmt::Debug for GoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoMemory")
            .field("parts", &self.parts)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
