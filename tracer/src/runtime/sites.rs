//! The places in files where windows begin and end.

use crate::elf::{
    ElfAddress, FileOffset, Function, Image, Operand, ReturnSitesError, SymbolSource, Usdt, entry_site,
    return_sites,
};

/// One instruction at which a probe goes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Site {
    /// The function that the site is in, or the tracepoint, as the user may write it.
    pub function: String,
    /// Which of the process's files: an index into [`super::Recognised::files`].
    pub file: usize,
    /// The instruction in the file's own addresses.
    pub elf_address: ElfAddress,
    /// The instruction's place in the file, in bytes: what a probe wants.
    pub file_offset: FileOffset,
    /// The table that named the function.
    pub source: SymbolSource,
    /// What the instruction is.
    pub kind: SiteKind,
    /// The counter that the kernel must raise for a tracepoint to be reached.
    pub semaphore: Option<FileOffset>,
    /// Where a tracepoint's arguments are; `None` for functions, whose arguments are where the calling convention says.
    pub arguments: Option<Vec<Operand>>,
}

/// What the instruction at a site is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SiteKind {
    /// At a function's beginning.
    Entry,
    /// A return instruction.
    Return,
    /// A jump to another function, which is where a call ends.
    TailJump,
    /// A user-space tracepoint.
    Usdt,
    /// An instruction that the user named.
    Given,
}

/// The sites of one runtime's windows. A mark without sites is not seen.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PauseSites {
    /// The window opens. At least one.
    pub requested: Vec<Site>,
    /// The world has stopped.
    pub stopped: Vec<Site>,
    /// What the window is for is told.
    pub told: Vec<Site>,
    /// The restart begins.
    pub restarting: Vec<Site>,
    /// The window closes. At least one.
    pub resumed: Vec<Site>,
    /// A call ends in a jump to another function.
    pub tail_jumps: Vec<Site>,
    /// How goroutines move between threads, where windows are theirs.
    pub goroutines: Option<GoroutineSites>,
}

/// Where the Go scheduler can be seen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GoroutineSites {
    /// A goroutine is on its thread no more.
    pub leaves: Site,
    /// A goroutine gets on a thread.
    pub enters: Site,
    /// A goroutine ends.
    pub ends: Site,
}

impl PauseSites {
    /// From the entry of `stop` through its return and the entry of `start` to the return of that.
    ///
    /// # Errors
    /// When a return can't be placed.
    pub(super) fn of(
        image: &Image,
        stop: &Function,
        start: &Function,
    ) -> Result<PauseSites, ReturnSitesError> {
        Ok(PauseSites {
            requested: vec![Site::entry(image, stop)?],
            stopped: Site::returns(image, stop)?,
            restarting: vec![Site::entry(image, start)?],
            resumed: Site::returns(image, start)?,
            ..PauseSites::default()
        })
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Site> {
        let marks = [&self.requested, &self.stopped, &self.told, &self.restarting, &self.resumed];
        let goroutines = self.goroutines.iter().flat_map(|sites| [&sites.leaves, &sites.enters, &sites.ends]);
        marks.into_iter().flatten().chain(&self.tail_jumps).chain(goroutines)
    }
}

impl Site {
    /// A function's entry, at the instruction that is cheapest to probe there.
    ///
    /// # Errors
    /// When the function is not in the file's code.
    pub(super) fn entry(image: &Image, function: &Function) -> Result<Self, ReturnSitesError> {
        Self::at(image, function, entry_site(image, function), SiteKind::Entry)
    }

    /// A function's return instructions.
    ///
    /// # Errors
    /// When its code can't be decoded, or has none.
    pub(super) fn returns(image: &Image, function: &Function) -> Result<Vec<Self>, ReturnSitesError> {
        let addresses = return_sites(image, function)?;
        addresses.iter().map(|address| Self::at(image, function, *address, SiteKind::Return)).collect()
    }

    /// An instruction of a function.
    ///
    /// # Errors
    /// When it is not in the file's code.
    pub(super) fn at(
        image: &Image,
        function: &Function,
        elf_address: ElfAddress,
        kind: SiteKind,
    ) -> Result<Self, ReturnSitesError> {
        let file_offset = image.file_offset(elf_address).filter(|_| image.is_executable(elf_address));
        let file_offset = file_offset.ok_or_else(|| ReturnSitesError::NotCode {
            function: function.name.clone(),
            address: function.address,
            size_bytes: function.size_bytes,
        })?;
        Ok(Self {
            function: function.name.clone(),
            file: 0,
            elf_address,
            file_offset,
            source: function.source,
            kind,
            semaphore: None,
            arguments: None,
        })
    }

    /// A tracepoint; `None` if it is not in the file's code.
    pub(super) fn usdt(image: &Image, usdt: &Usdt) -> Option<Self> {
        let file_offset = image.file_offset(usdt.address).filter(|_| image.is_executable(usdt.address))?;
        Some(Self {
            function: format!("usdt:{}:{}", usdt.provider, usdt.name),
            file: 0,
            elf_address: usdt.address,
            file_offset,
            source: SymbolSource::Note,
            kind: SiteKind::Usdt,
            semaphore: usdt.semaphore,
            arguments: Some(usdt.arguments.clone()),
        })
    }

    /// The same in that file of the process's.
    #[must_use]
    pub(super) fn in_file(mut self, file: usize) -> Self {
        self.file = file;
        self
    }
}
