//! Finds the table in the file: by its section or, where a linker merged that into another one, by its
//! header.

use super::{
    PclntabError,
    header::{Header, has_known_magic},
};
use crate::elf::{ElfAddress, Image};

/// The names that Go's linker gives the section. The second was used up to Go 1.25 in position-independent
/// programs.
const SECTIONS: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];
/// Where GNU ld and lld put the section of a position-independent program that they link (up to Go 1.25).
const MERGED_INTO: [&str; 2] = [".data.rel.ro", ".rodata"];
/// The table begins at a multiple of the pointer size.
const ALIGNMENT: usize = 8;

/// Where the table is: its address, its bytes (and perhaps more behind them), and its header.
#[derive(Debug)]
pub(in crate::elf) struct Located<'image> {
    pub(super) address: ElfAddress,
    pub(super) table: &'image [u8],
    pub(super) header: Header,
}

/// Finds the table.
///
/// # Errors
///
/// There is none, or its own section holds none that can be read. A header that only looks like one elsewhere
/// is passed over.
pub(in crate::elf) fn locate(image: &Image) -> Result<Located<'_>, PclntabError> {
    let own_section = SECTIONS.iter().find_map(|name| image.section(name));
    if let Some(section) = own_section {
        let address = section.address;
        let table = usize::try_from(section.size_bytes).ok().and_then(|size| image.bytes(address, size));
        let table = table.ok_or_else(|| PclntabError::Damaged {
            address,
            what: format!("its section's {:#x} bytes are not in one load segment", section.size_bytes),
        })?;
        let header = Header::read(image.machine(), address, table)?;
        return Ok(Located { address, table, header });
    }
    merged_sections(image)
        .find_map(|(address, bytes)| scan(image, address, bytes))
        .ok_or(PclntabError::NotFound)
}

/// Data that may hold the table without a section of its own. Without section headers, all data that is
/// loaded.
fn merged_sections(image: &Image) -> impl Iterator<Item = (ElfAddress, &[u8])> {
    let has_sections = image.sections().is_some();
    let sections = MERGED_INTO.iter().filter_map(|name| image.section(name)).filter_map(|section| {
        let size = usize::try_from(section.size_bytes).ok()?;
        Some((section.address, image.bytes(section.address, size)?))
    });
    sections.chain(image.loaded(move |_| !has_sections))
}

fn scan<'image>(image: &'image Image, address: ElfAddress, bytes: &'image [u8]) -> Option<Located<'image>> {
    let misaligned = usize::try_from(address.0 % ALIGNMENT as u64).ok()?;
    let first = (ALIGNMENT - misaligned) % ALIGNMENT;
    let places = (first..bytes.len()).step_by(ALIGNMENT).filter(|at| has_known_magic(&bytes[*at..]));
    places.into_iter().find_map(|at| {
        let (address, table) = (ElfAddress(address.0 + at as u64), &bytes[at..]);
        let header = Header::read(image.machine(), address, table).ok()?;
        Some(Located { address, table, header })
    })
}
