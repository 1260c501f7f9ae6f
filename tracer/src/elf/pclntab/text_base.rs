//! Where the functions' addresses count from: what module data says, checked against the table.
//!
//! The header held this base up to Go 1.25, but in a position-independent program that GNU ld linked the
//! value is only in a relocation. So module data, which every version has, is asked first, and the header
//! must agree.

use super::{PclntabError, header::Header};
use crate::elf::{ElfAddress, Image, bytes::u64_at, relocations::RelativeRelocations};

/// The words of module data up to `text`; the same in Go 1.18 to 1.27 (`moduledata` in Go's
/// `runtime/symtab.go`).
const WORDS: usize = 23;
const TABLE: usize = 0;
const NAMES: usize = 1;
const UNITS: usize = 4;
const ENTRIES: usize = 16;
const ENTRY_COUNT: usize = 17;
const FIRST_ADDRESS: usize = 20;
const END_ADDRESS: usize = 21;
const TEXT: usize = 22;

/// The offset of the header's own text base in the table.
const HEADER_TEXT_BASE: u64 = 24;

/// The distances from the text base at which the first function begins and the last one ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) first: u32,
    pub(super) end: u32,
}

/// Finds the text base of the table at `table`.
pub(super) fn text_base(
    image: &Image,
    table: ElfAddress,
    header: &Header,
    extent: Extent,
) -> Result<ElfAddress, PclntabError> {
    let damaged = |what: String| PclntabError::Damaged { address: table, what };
    let relocations = RelativeRelocations::read(image);
    let in_header = header_text_base(image, relocations, table, header);
    let base = match module_data(image, relocations, table, header) {
        Some(module) => {
            let base = module[TEXT];
            let said = (module[FIRST_ADDRESS], module[END_ADDRESS]);
            let counted = (base.wrapping_add(extent.first.into()), base.wrapping_add(extent.end.into()));
            if said != counted {
                return Err(damaged(format!(
                    "module data puts its functions at {:#x} to {:#x}, its entries at {:#x} to {:#x} (code \
                     in several text sections can't be read)",
                    said.0, said.1, counted.0, counted.1
                )));
            }
            if let Some(in_header) = in_header.filter(|in_header| *in_header != base) {
                return Err(damaged(format!(
                    "its text base is {in_header:#x}, that of module data {base:#x}"
                )));
            }
            base
        }
        None => in_header.ok_or(PclntabError::NoTextBase { address: table })?,
    };
    let last_byte = base.checked_add(extent.end.into()).and_then(|end| end.checked_sub(1));
    let first_byte = base.checked_add(extent.first.into());
    match (first_byte, last_byte) {
        (Some(first), Some(last))
            if image.is_executable(ElfAddress(first)) && image.is_executable(ElfAddress(last)) =>
        {
            Ok(ElfAddress(base))
        }
        _ => Err(damaged(format!("with text base {base:#x} its functions lie outside the file's code"))),
    }
}

/// The header's text base, if it holds one: relocated, or as it stands in the file.
fn header_text_base(
    image: &Image,
    relocations: RelativeRelocations<'_>,
    table: ElfAddress,
    header: &Header,
) -> Option<u64> {
    let place = ElfAddress(table.0.checked_add(HEADER_TEXT_BASE)?);
    let base = relocations.pointers::<1>(image, place).map_or(header.text_base, |[base]| base);
    (base != 0).then_some(base)
}

/// Finds module data: the place whose words name this very table, its parts and its number of functions.
fn module_data(
    image: &Image,
    relocations: RelativeRelocations<'_>,
    table: ElfAddress,
    header: &Header,
) -> Option<[u64; WORDS]> {
    let part = |offset: usize| table.0.wrapping_add(offset as u64);
    let describes_table = |words: &[u64; WORDS]| {
        words[TABLE] == table.0
            && words[NAMES] == part(header.names.start)
            && words[UNITS] == part(header.units)
            && words[ENTRIES] == part(header.entries)
            && words[ENTRY_COUNT] == header.functions as u64 + 1
    };
    let places = relocations.places_of(table).chain(written_pointers(image, table));
    let mut words = places.filter_map(|place| relocations.pointers(image, place));
    words.find(describes_table)
}

/// The places in writable data that hold a pointer to `target` in the file itself.
fn written_pointers(image: &Image, target: ElfAddress) -> impl Iterator<Item = ElfAddress> {
    image.loaded(|segment| segment.writable).flat_map(move |(address, bytes)| {
        let first = usize::try_from(address.0.wrapping_neg() % 8).unwrap_or(0);
        let places = (first..bytes.len()).step_by(8);
        let pointing = places.filter(move |at| u64_at(bytes, *at) == Some(target.0));
        pointing.map(move |at| ElfAddress(address.0 + at as u64))
    })
}
