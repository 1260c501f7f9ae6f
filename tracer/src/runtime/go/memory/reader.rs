//! Reads numbers and lists from the target.

use crate::{
    elf::DebugInfoError,
    target::{ReadMemory, Unread},
};

/// Why a part of the runtime's memory is not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Layout(#[from] DebugInfoError),
    #[error(transparent)]
    Unread(#[from] Unread),
    /// What was read can't be what it should be.
    #[error("{0}")]
    Implausible(String),
}

/// A Go slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GoSlice {
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) capacity: u64,
}

/// As many bytes of a list are read at once.
const AT_ONCE_BYTES: u64 = 4096;

pub(super) fn number(memory: &dyn ReadMemory, address: u64) -> Result<u64, Unread> {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

pub(super) fn byte(memory: &dyn ReadMemory, address: u64) -> Result<u8, Unread> {
    let mut bytes = [0; 1];
    memory.read(address, &mut bytes)?;
    Ok(bytes[0])
}

/// Reads a slice's header. `most`: more elements than any process has.
pub(super) fn slice(memory: &dyn ReadMemory, address: u64, most: u64) -> Result<GoSlice, Failure> {
    let mut bytes = [0; 24];
    memory.read(address, &mut bytes)?;
    let [start, length, capacity] =
        [0, 8, 16].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default()));
    if length > capacity || capacity > most || (start == 0) != (capacity == 0) {
        return Err(Failure::Implausible(format!(
            "the slice at {address:#x} (start {start:#x}, length {length}, capacity {capacity}) can't be one"
        )));
    }
    Ok(GoSlice { start, length, capacity })
}

/// Gives each number of a list, in order, until a page of it can't be read. How many were given, and why no more.
pub(super) fn each_number(
    memory: &dyn ReadMemory,
    start: u64,
    count: u64,
    mut give: impl FnMut(u64),
) -> (u64, Result<(), Unread>) {
    let mut given = 0;
    while given < count {
        let address = start.saturating_add(given * 8);
        // Up to the end of a page, so that one that is missing costs no other.
        let length = (AT_ONCE_BYTES - address % AT_ONCE_BYTES).min((count - given) * 8).max(8);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(8)];
        if let Err(error) = memory.read(address, &mut bytes) {
            return (given, Err(error));
        }
        for number in bytes.as_chunks::<8>().0 {
            give(u64::from_le_bytes(*number));
            given += 1;
        }
    }
    (given, Ok(()))
}
