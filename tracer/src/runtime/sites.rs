//! The places in a file where pauses begin and end.

use crate::elf::{
    ElfAddress, FileOffset, Function, Image, ReturnSitesError, SymbolSource, entry_site, return_sites,
};

/// One instruction for a probe.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Site {
    /// The function that the instruction is in.
    pub function: String,
    /// Its address in the file's symbol table.
    pub elf_address: ElfAddress,
    /// Its place in the file, which the kernel wants for a uprobe.
    pub file_offset: FileOffset,
    /// The table that named the function.
    pub source: SymbolSource,
    /// What the instruction is to its function.
    pub kind: SiteKind,
}

/// What an instruction is to its function.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SiteKind {
    /// The first instruction, or one soon after it that sees the same arguments: see [`entry_site`].
    Entry,
    /// A return instruction.
    Return,
}

/// The four moments of a runtime's pauses. A moment with several sites is reached through one of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PauseSites {
    /// A thread asks for the world to stop.
    pub requested: Site,
    /// Every mutator has stopped.
    pub stopped: Vec<Site>,
    /// The call that restarts the world begins.
    pub restarting: Site,
    /// The call that restarts the world returns.
    pub resumed: Vec<Site>,
}

impl PauseSites {
    /// The sites of a runtime that stops the world in one function and restarts it in another one.
    ///
    /// # Errors
    ///
    /// One of the functions can't be decoded, or isn't code of the file.
    pub(super) fn of(
        image: &Image,
        stop: &Function,
        start: &Function,
    ) -> Result<PauseSites, ReturnSitesError> {
        let (stopped, resumed) = (return_sites(image, stop)?, return_sites(image, start)?);
        Ok(PauseSites {
            requested: site(image, stop, entry_site(image, stop), SiteKind::Entry)?,
            stopped: returns(image, stop, &stopped)?,
            restarting: site(image, start, entry_site(image, start), SiteKind::Entry)?,
            resumed: returns(image, start, &resumed)?,
        })
    }
}

fn returns(
    image: &Image,
    function: &Function,
    addresses: &[ElfAddress],
) -> Result<Vec<Site>, ReturnSitesError> {
    addresses.iter().map(|address| site(image, function, *address, SiteKind::Return)).collect()
}

fn site(
    image: &Image,
    function: &Function,
    elf_address: ElfAddress,
    kind: SiteKind,
) -> Result<Site, ReturnSitesError> {
    let file_offset = image.file_offset(elf_address).ok_or_else(|| ReturnSitesError::NotCode {
        function: function.name.clone(),
        address: function.address,
        size_bytes: function.size_bytes,
    })?;
    Ok(Site { function: function.name.clone(), elf_address, file_offset, source: function.source, kind })
}
