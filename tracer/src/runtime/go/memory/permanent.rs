//! Memory that the runtime hands out in small pieces and never takes back (`persistentalloc`), and its profiler's table.

use std::collections::HashSet;

use super::{
    layout,
    ranges::Known,
    reader::{Failure, number},
    structure::Structure,
};
use crate::{
    elf::{DebugInfoError, Types},
    runtime::loaded::Loaded,
    target::ReadMemory,
};

/// The size of a chunk in all known versions (`persistentChunkSize`).
const CHUNK_BYTES: u64 = 256 << 10;
/// More than any process has.
const MOST_CHUNKS: usize = 1 << 20;
/// Entries of the profiler's table in all known versions (`buckHashSize`).
const TABLE_ENTRIES: u64 = 179_999;

#[derive(Debug)]
pub(super) struct Permanent {
    head: u64,
    chunk_bytes: u64,
    table: Option<(u64, u64)>,
    complete: bool,
}

impl Permanent {
    pub(super) fn of(types: &Types<'_>, loaded: Loaded) -> Result<Self, DebugInfoError> {
        let table = types.variable("runtime.buckhash").ok().map(|(table, _)| {
            (loaded.address(table), 8 * layout::size_or(types, "runtime.buckHashSize", TABLE_ENTRIES))
        });
        Ok(Self {
            head: loaded.address(types.variable("runtime.persistentChunks")?.0),
            chunk_bytes: layout::size_or(types, "runtime.persistentChunkSize", CHUNK_BYTES),
            table,
            complete: false,
        })
    }

    /// A chunk begins with the address of the one before it.
    pub(super) fn read(&mut self, memory: &dyn ReadMemory, known: &mut Known) -> Result<(), Failure> {
        let mut chunk = number(memory, self.head)?;
        let mut walked = HashSet::new();
        while chunk != 0 && walked.len() < MOST_CHUNKS && walked.insert(chunk) {
            if self.complete && known.pieces.find(chunk) == Some(Structure::Permanent) {
                break;
            }
            known.pieces.add(chunk, self.chunk_bytes, Structure::Permanent);
            chunk = number(memory, chunk)?;
        }
        self.complete = true;
        if let Some((pointer, bytes)) = self.table
            && let table @ 1.. = number(memory, pointer)?
        {
            known.pieces.add(table, bytes, Structure::ProfilerTable);
        }
        Ok(())
    }
}
