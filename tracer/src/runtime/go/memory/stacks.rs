//! What a page of the heap is used for: goroutine stacks and the collector's work buffers lie there as well, in spans
//! that are managed by hand.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use super::{
    arenas::Arenas,
    layout,
    reader::{byte, number},
    structure::Structure,
};
use crate::{
    elf::{DebugInfoError, Types},
    target::ReadMemory,
};

/// A span's state when it is managed by hand (`mSpanManual`).
const MANUAL: u8 = 2;
/// What was looked up is believed for so long.
const BELIEVED: Duration = Duration::from_millis(100);
/// And not more is looked up meanwhile.
const MOST_LOOKED_UP: usize = 2048;

#[derive(Debug)]
pub(super) struct Stacks {
    state: u64,
    element_size: u64,
    since: Instant,
    looked_up: HashMap<u64, Structure>,
}

impl Stacks {
    pub(super) fn of(types: &Types<'_>) -> Result<Self, DebugInfoError> {
        let (_, heap_type) = layout::heap(types)?;
        let span = heap_type.field(&["allspans", "array"])?.1.target()?.target()?;
        Ok(Self {
            state: span.field(&["state"])?.0,
            element_size: layout::word(span, &["elemsize"])?,
            since: Instant::now(),
            looked_up: HashMap::new(),
        })
    }

    /// What the page is used for now.
    pub(super) fn use_of(&mut self, address: u64, arenas: &Arenas, memory: &dyn ReadMemory) -> Structure {
        let Some((arena, Some(metadata))) = arenas.holding(address) else { return Structure::Heap };
        if self.since.elapsed() > BELIEVED {
            self.looked_up.clear();
            self.since = Instant::now();
        }
        let page = (address - arena) / (arenas.arena_bytes / arenas.pages.max(1)).max(1);
        let entry = metadata.saturating_add(arenas.spans + page * 8);
        if let Some(known) = self.looked_up.get(&entry) {
            return *known;
        }
        if self.looked_up.len() >= MOST_LOOKED_UP {
            return Structure::Heap;
        }
        let found = self.read(entry, memory).unwrap_or(Structure::Heap);
        self.looked_up.insert(entry, found);
        found
    }

    /// Stacks have a size, work buffers don't (`stackalloc`, `getempty`).
    fn read(&self, entry: u64, memory: &dyn ReadMemory) -> Option<Structure> {
        let span = number(memory, entry).ok().filter(|span| *span != 0)?;
        if byte(memory, span.saturating_add(self.state)).ok()? != MANUAL {
            return None;
        }
        let stack = number(memory, span.saturating_add(self.element_size)).ok()? != 0;
        Some(if stack { Structure::GoroutineStacks } else { Structure::WorkBuffers })
    }
}
