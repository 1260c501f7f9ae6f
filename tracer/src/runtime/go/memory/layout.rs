//! Where the runtime's variables and fields are, by its debug information: what all parts share.

use crate::elf::{DebugInfoError, ElfAddress, Machine, Type, Types};

/// The unit that describes the runtime.
pub(super) const UNIT: &str = "runtime";

/// Names of variables and constants that the parts ask for.
pub(super) const NAMES: [&str; 12] = [
    "runtime.mheap_",
    "runtime.gcBitsArenas",
    "runtime.persistentChunks",
    "runtime.spanSetBlockPool",
    "runtime.buckhash",
    "runtime.heapArenaBytes",
    "runtime.persistentChunkSize",
    "runtime.pallocChunkBytes",
    "runtime.buckHashSize",
    "runtime.tagBits",
    "runtime.addrBits",
    "runtime.spanSetBlock",
];

/// The heap's structure and its address.
pub(super) fn heap<'t, 'a>(types: &'t Types<'a>) -> Result<(ElfAddress, Type<'t, 'a>), DebugInfoError> {
    types.variable("runtime.mheap_")
}

/// A constant that is a size, or what it is in all versions that are known.
pub(super) fn size_or(types: &Types<'_>, name: &str, known: u64) -> u64 {
    types.constant(name).ok().and_then(|value| u64::try_from(value).ok()).unwrap_or(known)
}

/// The lowest address that an arena can have (`arenaBaseOffset`): on amd64 the upper half of addresses comes first.
pub(super) fn arena_base(machine: Machine) -> u64 {
    match machine {
        Machine::X86_64 => 0xffff_8000_0000_0000,
        Machine::Aarch64 => 0,
    }
}

/// A field of a word.
pub(super) fn word(holder: Type<'_, '_>, names: &[&str]) -> Result<u64, DebugInfoError> {
    let (offset, field) = holder.field(names)?;
    match field.size_bytes()? {
        8 => Ok(offset),
        bytes => Err(DebugInfoError::OtherForm {
            type_name: format!("{holder:?}"),
            what: format!("has a field {} of {bytes} bytes, where 8 are expected", names.join(".")),
        }),
    }
}
