//! The table's header, and the places of its parts.

use std::ops::Range;

use super::PclntabError;
use crate::elf::{
    ElfAddress, Machine,
    bytes::{u32_at, u64_at},
};

/// The table of Go 1.18 and 1.19.
const MAGIC_1_18: u32 = 0xffff_fff0;
/// The table since Go 1.20.
const MAGIC_1_20: u32 = 0xffff_fff1;

/// Bytes of one entry: where a function starts, counted from the text base, and where its record is.
pub(super) const ENTRY_BYTES: usize = 8;

/// A header whose parts all lie inside the table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Header {
    /// How many functions the table has.
    pub(super) functions: usize,
    /// Where the functions' addresses count from, as the header says; 0 since Go 1.26.
    pub(super) text_base: u64,
    /// Where the names are.
    pub(super) names: Range<usize>,
    /// Where the list of compilation units starts; only compared with what module data says.
    pub(super) units: usize,
    /// Where the list of functions starts; their records count from here as well.
    pub(super) entries: usize,
}

/// Whether four bytes could begin a table of a version that can be read.
pub(super) fn has_known_magic(table: &[u8]) -> bool {
    matches!(u32_at(table, 0), Some(MAGIC_1_18 | MAGIC_1_20))
}

impl Header {
    /// Reads the header of a table that is at `address`; `table` may reach past the table's end.
    pub(super) fn read(machine: Machine, address: ElfAddress, table: &[u8]) -> Result<Header, PclntabError> {
        let damaged = |what: String| PclntabError::Damaged { address, what };
        let too_short = || damaged(format!("{} bytes are too few for a header", table.len()));
        let magic = u32_at(table, 0).ok_or_else(too_short)?;
        if !matches!(magic, MAGIC_1_18 | MAGIC_1_20) {
            return Err(PclntabError::UnknownMagic { address, found: magic });
        }
        let fixed = [0, 0, machine.instruction_quantum(), 8];
        let found = table.get(4..8).ok_or_else(too_short)?;
        if found != fixed {
            return Err(damaged(format!(
                "bytes 4 to 7 of its header are {found:?}, {fixed:?} on this machine"
            )));
        }
        // Words: functions, files, text base, then the distances of names, units, files, line tables and
        // entries.
        let word = |index: usize| u64_at(table, 8 + 8 * index).ok_or_else(too_short);
        let distance = |index: usize| -> Result<usize, PclntabError> {
            let distance = word(index)?;
            let inside = usize::try_from(distance).ok().filter(|distance| *distance <= table.len());
            inside.ok_or_else(|| damaged(format!("part {index} would begin at {distance:#x}, past its end")))
        };
        let (names, units, entries) = (distance(3)?, distance(4)?, distance(7)?);
        if names >= units {
            return Err(damaged(format!(
                "its names would end at {units:#x}, before their begin at {names:#x}"
            )));
        }
        let functions = word(0)?;
        // One half entry more than there are functions: the end of the last one.
        let room = (table.len() - entries).saturating_sub(4) / ENTRY_BYTES;
        match usize::try_from(functions) {
            Ok(functions) if (1..=room).contains(&functions) => {
                Ok(Header { functions, text_base: word(2)?, names: names..units, units, entries })
            }
            _ => Err(damaged(format!("it claims {functions} functions and has room for {room}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: ElfAddress = ElfAddress(0x4a_aac8);

    /// One function, its name at 0x48, its entries at 0x60.
    fn table() -> Vec<u8> {
        let words: [u64; 8] = [1, 0, 0x401000, 0x48, 0x50, 0x58, 0x58, 0x60];
        let mut table = [&MAGIC_1_20.to_le_bytes()[..], &[0, 0, 1, 8]].concat();
        table.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        table.resize(0x60 + 12, 0);
        table
    }

    fn read(table: &[u8]) -> Result<Header, PclntabError> {
        Header::read(Machine::X86_64, ADDRESS, table)
    }

    #[test]
    fn reads_a_header() {
        let header = read(&table()).unwrap();
        assert_eq!(
            header,
            Header { functions: 1, text_base: 0x401000, names: 0x48..0x50, units: 0x50, entries: 0x60 }
        );
    }

    #[test]
    fn refuses_a_magic_number_that_it_does_not_know() {
        for magic in [0xffff_fffb_u32, 0xffff_fffa, 0xffff_fff2, 0] {
            let mut table = table();
            table[..4].copy_from_slice(&magic.to_le_bytes());
            assert!(matches!(read(&table), Err(PclntabError::UnknownMagic { found, .. }) if found == magic));
        }
    }

    #[test]
    fn refuses_parts_outside_the_table() {
        let with = |word: usize, value: u64| {
            let mut table = table();
            table[8 + 8 * word..16 + 8 * word].copy_from_slice(&value.to_le_bytes());
            read(&table)
        };
        for (word, value) in
            [(0, 0), (0, 2), (0, u64::MAX), (3, 0x50), (3, u64::MAX), (4, 0x48), (7, 0x6d), (7, 0x68)]
        {
            assert!(
                matches!(with(word, value), Err(PclntabError::Damaged { .. })),
                "word {word} = {value:#x}"
            );
        }
        for length in 0..table().len() {
            assert!(read(&table()[..length]).is_err(), "cut off at {length}");
        }
    }

    #[test]
    fn refuses_the_other_machines_table() {
        assert!(matches!(
            Header::read(Machine::Aarch64, ADDRESS, &table()),
            Err(PclntabError::Damaged { .. })
        ));
    }
}
