//! Reads numbers and ranges from the target.

use std::ops::Range;

use super::vm_structs::{NoField, VmStructs};
use crate::{
    runtime::loaded::Loaded,
    target::{ReadMemory, Unread},
};

/// Why a part of the runtime's memory is not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    NoField(#[from] NoField),
    #[error(transparent)]
    Unread(#[from] Unread),
    /// What was read can't be what it should be.
    #[error("{0}")]
    Implausible(String),
}

/// The target, and how its structures are laid out.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) memory: &'a dyn ReadMemory,
    pub(super) structs: &'a VmStructs,
    pub(super) loaded: Loaded,
}

impl Reader<'_> {
    /// The value of a static field that is a number or a pointer.
    pub(super) fn variable(&self, kind: &str, field: &str) -> Result<u64, Failure> {
        let address = self.loaded.address(self.structs.variable(kind, field)?);
        Ok(self.number(address)?)
    }

    /// The address of a field of the object at `object`.
    pub(super) fn address(&self, object: u64, kind: &str, field: &str) -> Result<u64, Failure> {
        if object == 0 {
            return Err(Failure::Implausible(format!("there is no {kind} yet")));
        }
        let offset = self.loaded.address(self.structs.offset(kind, field)?);
        let mut bytes = [0; 8];
        // The virtual machine itself never reads the table.
        self.memory.read_unused(offset, &mut bytes)?;
        Ok(object.wrapping_add(u64::from_le_bytes(bytes)))
    }

    /// The value of a field of the object at `object`.
    pub(super) fn field(&self, object: u64, kind: &str, field: &str) -> Result<u64, Failure> {
        Ok(self.number(self.address(object, kind, field)?)?)
    }

    /// The addresses that a `MemRegion` at this address stands for: a first word, and how many words of 8 bytes.
    pub(super) fn region(&self, region: u64) -> Result<Range<u64>, Failure> {
        let start = self.field(region, "MemRegion", "_start")?;
        let words = self.field(region, "MemRegion", "_word_size")?;
        words.checked_mul(8).and_then(|bytes| Some(start..start.checked_add(bytes)?)).ok_or_else(|| {
            Failure::Implausible(format!("{words} words at {start:#x} can't be in one address space"))
        })
    }

    fn number(&self, address: u64) -> Result<u64, Unread> {
        let mut bytes = [0; 8];
        self.memory.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// A range that is not empty, or an error that names it.
pub(super) fn plausible(what: &str, range: Range<u64>) -> Result<Range<u64>, Failure> {
    if range.start != 0 && range.start < range.end {
        return Ok(range);
    }
    Err(Failure::Implausible(format!("{what} from {:#x} to {:#x} can't be one", range.start, range.end)))
}
