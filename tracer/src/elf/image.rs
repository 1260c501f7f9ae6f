//! An opened ELF file: its bytes, its load segments and its build id.

use std::{
    fs::File,
    ops::Range,
    path::{Path, PathBuf},
};

use memmap2::Mmap;
use object::{
    LittleEndian, elf,
    elf::FileHeader64,
    read::elf::{FileHeader, NoteIterator, ProgramHeader, SectionHeader, SectionTable},
};

use super::{
    ElfAddress, ElfError, FileOffset, Machine,
    segments::{LoadSegment, LoadSegments},
};

pub(super) type Header = FileHeader64<LittleEndian>;

/// An opened ELF file, mapped into memory.
///
/// The open descriptor is kept: a probe attached through it hits the file that was read here, even if another
/// file has taken its name since. The file must not be shortened while it is mapped; a program that runs is
/// protected from that by the kernel (`ETXTBSY`).
#[derive(Debug)]
pub struct Image {
    file: File,
    shown_as: PathBuf,
    mapping: Mmap,
    machine: Machine,
    segments: LoadSegments,
}

/// A section that has bytes in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) address: ElfAddress,
    pub(super) size_bytes: u64,
}

impl Image {
    /// Maps an ELF file for the machine that this program runs on. `shown_as` is its name in messages.
    ///
    /// # Errors
    ///
    /// The file can't be mapped, is no ELF file, is a 32-bit one, is for another machine, or its load
    /// segments can't be read. Damage elsewhere in it is not an error here: it shows when that part is read.
    pub fn open(file: File, shown_as: PathBuf) -> Result<Image, ElfError> {
        Image::open_for(Machine::HOST, file, shown_as)
    }

    /// Like [`Image::open`], for a file that need not run here.
    ///
    /// # Errors
    ///
    /// As for [`Image::open`].
    pub fn open_for(needed: Machine, file: File, shown_as: PathBuf) -> Result<Image, ElfError> {
        // SAFETY: the mapping is private and only read. A file that is shortened while mapped raises SIGBUS
        // and never gives other than file bytes; the type's documentation states that precondition.
        let mapping = unsafe { Mmap::map(&file) };
        let mapping = mapping.map_err(|source| ElfError::Map { path: shown_as.clone(), source })?;
        let segments = load_segments(&mapping, needed, &shown_as)?;
        Ok(Image { file, shown_as, mapping, machine: needed, segments })
    }

    /// Opens a separate debug file: it has the tables of another file, and perhaps not a byte of its code, so nothing of
    /// it is loaded and no file offset is known.
    ///
    /// # Errors
    ///
    /// As for [`Image::open`], but for load segments.
    pub(super) fn open_debug(file: File, shown_as: PathBuf) -> Result<Image, ElfError> {
        // SAFETY: as in `open_for`.
        let mapping = unsafe { Mmap::map(&file) };
        let mapping = mapping.map_err(|source| ElfError::Map { path: shown_as.clone(), source })?;
        identity(&mapping, Machine::HOST, &shown_as)?;
        Ok(Image { file, shown_as, mapping, machine: Machine::HOST, segments: LoadSegments(Vec::new()) })
    }

    /// The file's name, as shown to the user. It may exist in another mount namespace only, or nowhere any
    /// more.
    pub fn shown_as(&self) -> &Path {
        &self.shown_as
    }

    /// The open file, to attach probes through.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The machine that the file's code is for.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// The GNU build id (the note `NT_GNU_BUILD_ID`), or `None` if the file has none. Go's own build id is
    /// another note.
    pub fn build_id(&self) -> Option<&[u8]> {
        let data = &self.mapping[..];
        let in_segments = || {
            let notes = self.program_headers().iter().map(|segment| segment.notes(LittleEndian, data));
            notes.filter_map(|notes| notes.ok().flatten()).find_map(build_id_among)
        };
        let in_sections = || {
            let sections = self.sections()?;
            let mut notes = sections.iter().map(|section| section.notes(LittleEndian, data));
            notes.find_map(|notes| notes.ok().flatten().and_then(build_id_among))
        };
        // The program headers of a debug file are those of the file that it was taken from, and may lead astray.
        if self.segments.0.is_empty() { in_sections() } else { in_segments() }
    }

    /// Whether the file has the symbol table that `strip` removes.
    pub fn has_symbols(&self) -> bool {
        let Some(sections) = self.sections() else { return false };
        let table = sections.symbols(LittleEndian, self.file_bytes(), elf::SHT_SYMTAB);
        table.is_ok_and(|table| !table.is_empty())
    }

    /// The file offset of the byte that is loaded at `address`, or `None` if that memory does not come from
    /// the file.
    pub fn file_offset(&self, address: ElfAddress) -> Option<FileOffset> {
        self.segments.file_offset(address)
    }

    /// The address at which the byte at `offset` is loaded, or `None` if it is not loaded.
    pub fn elf_address(&self, offset: FileOffset) -> Option<ElfAddress> {
        self.segments.elf_address(offset)
    }

    /// Whether `address` is inside a load segment that is executable, at a byte that the file holds.
    pub fn is_executable(&self, address: ElfAddress) -> bool {
        self.segments.is_executable(address)
    }

    /// `len` bytes of the file that are loaded at `address`, or `None` if the file does not hold all of them
    /// there.
    pub fn bytes(&self, address: ElfAddress, len: usize) -> Option<&[u8]> {
        self.bytes_from(address)?.get(..len)
    }

    /// The bytes from `address` to the end of its load segment, if the program can't change them.
    #[must_use]
    pub fn constant_bytes(&self, address: ElfAddress) -> Option<&[u8]> {
        let constant = self.segments.0.iter().filter(|segment| !segment.writable);
        let inside = |segment: &LoadSegment| {
            address.0.checked_sub(segment.address).is_some_and(|into| into < segment.file_bytes)
        };
        constant.into_iter().any(inside).then(|| self.bytes_from(address)).flatten()
    }

    /// What is loaded and neither code nor can be changed, segment by segment; where constants are among the code, that.
    pub fn constants(&self) -> impl Iterator<Item = &[u8]> {
        let apart = self.segments.0.iter().any(|segment| !segment.writable && !segment.executable);
        self.loaded(move |segment| !segment.writable && (!apart || !segment.executable))
            .map(|(_, bytes)| bytes)
    }

    /// The bytes from `address` to the end of its load segment.
    pub(super) fn bytes_from(&self, address: ElfAddress) -> Option<&[u8]> {
        let (offset, len) = self.segments.run_from(address)?;
        let offset = usize::try_from(offset).ok()?;
        self.mapping.get(offset..offset.checked_add(usize::try_from(len).ok()?)?)
    }

    /// The load segments, as address and bytes, that `wanted` picks.
    pub(super) fn loaded(
        &self,
        wanted: impl Fn(&LoadSegment) -> bool,
    ) -> impl Iterator<Item = (ElfAddress, &[u8])> {
        self.segments.0.iter().filter(move |segment| wanted(segment)).filter_map(|segment| {
            let address = ElfAddress(segment.address);
            Some((address, self.bytes_from(address)?))
        })
    }

    /// The lowest address that the file loads anything at.
    pub fn first_address(&self) -> ElfAddress {
        ElfAddress(self.segments.0.iter().map(|segment| segment.address).min().unwrap_or(0))
    }

    /// Where each executable segment begins, in the file and in memory.
    pub fn code(&self) -> impl Iterator<Item = (FileOffset, ElfAddress)> {
        let code = self.segments.0.iter().filter(|segment| segment.executable);
        code.map(|segment| (FileOffset(segment.offset), ElfAddress(segment.address)))
    }

    /// The addresses that are loaded as zeros, behind what the file holds of a segment.
    pub fn zeroed(&self) -> Vec<Range<ElfAddress>> {
        let loads =
            self.program_headers().iter().filter(|header| header.p_type(LittleEndian) == elf::PT_LOAD);
        loads
            .filter_map(|load| {
                let start = load.p_vaddr(LittleEndian);
                let begin = start.checked_add(load.p_filesz(LittleEndian))?;
                let end = start.checked_add(load.p_memsz(LittleEndian))?;
                (begin < end).then_some(ElfAddress(begin)..ElfAddress(end))
            })
            .collect()
    }

    /// The section of that name, if it has bytes in the file.
    pub(super) fn section(&self, name: &str) -> Option<Section> {
        let sections = self.sections()?;
        let (_, section) = sections.section_by_name(LittleEndian, name.as_bytes())?;
        (section.sh_type(LittleEndian) != elf::SHT_NOBITS).then(|| Section {
            address: ElfAddress(section.sh_addr(LittleEndian)),
            size_bytes: section.sh_size(LittleEndian),
        })
    }

    /// The section headers, or `None` if the file has none or they are damaged: nothing that runs needs them.
    pub(super) fn sections(&self) -> Option<SectionTable<'_, Header>> {
        let data = &self.mapping[..];
        let sections = Header::parse(data).ok()?.sections(LittleEndian, data).ok()?;
        (!sections.is_empty()).then_some(sections)
    }

    /// The program headers.
    pub(super) fn program_headers(&self) -> &[elf::ProgramHeader64<LittleEndian>] {
        let data = &self.mapping[..];
        let headers = Header::parse(data).and_then(|header| header.program_headers(LittleEndian, data));
        headers.unwrap_or_default()
    }

    /// Every byte of the file.
    pub(super) fn file_bytes(&self) -> &[u8] {
        &self.mapping
    }
}

fn build_id_among<'data>(mut notes: NoteIterator<'data, Header>) -> Option<&'data [u8]> {
    while let Ok(Some(note)) = notes.next() {
        if note.name() == elf::ELF_NOTE_GNU && note.n_type(LittleEndian) == elf::NT_GNU_BUILD_ID {
            return Some(note.desc());
        }
    }
    None
}

/// Checks the identity of an ELF file.
fn identity<'data>(data: &'data [u8], needed: Machine, path: &Path) -> Result<&'data Header, ElfError> {
    let path = || path.to_path_buf();
    if !data.starts_with(&elf::ELFMAG) {
        let first: Vec<String> = data.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        return Err(ElfError::NotElf { path: path(), found: first.join(" ") });
    }
    if data.get(4) == Some(&elf::ELFCLASS32.0) {
        return Err(ElfError::ThirtyTwoBit { path: path() });
    }
    let damaged = |what: String| ElfError::Damaged { path: path(), what };
    let header =
        Header::parse(data).map_err(|error| damaged(format!("its header can't be read ({error})")))?;
    if !header.is_little_endian() {
        return Err(ElfError::OtherMachine { path: path(), found: "of big-endian order".into(), needed });
    }
    let found = header.e_machine(LittleEndian).0;
    if found != needed.elf_number() {
        return Err(ElfError::OtherMachine { path: path(), found: format!("number {found}"), needed });
    }
    Ok(header)
}

/// Checks the identity of an ELF file and reads how it is loaded.
fn load_segments(data: &[u8], needed: Machine, path: &Path) -> Result<LoadSegments, ElfError> {
    let header = identity(data, needed, path)?;
    let damaged = |what: String| ElfError::Damaged { path: path.to_path_buf(), what };
    let headers = header
        .program_headers(LittleEndian, data)
        .map_err(|error| damaged(format!("its program headers can't be read ({error})")))?;
    let loads = headers.iter().filter(|header| header.p_type(LittleEndian) == elf::PT_LOAD);
    let segments: Vec<LoadSegment> = loads
        .filter_map(|load| {
            let flags = load.p_flags(LittleEndian);
            let segment = LoadSegment {
                address: load.p_vaddr(LittleEndian),
                offset: load.p_offset(LittleEndian),
                file_bytes: load.p_filesz(LittleEndian),
                executable: flags.contains(elf::PF_X),
                writable: flags.contains(elf::PF_W),
            };
            segment.within(data.len() as u64)
        })
        .collect();
    if segments.is_empty() {
        return Err(damaged(format!(
            "none of its {} program headers loads a byte of the file",
            headers.len()
        )));
    }
    Ok(LoadSegments(segments))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::elf::{
        find_functions,
        test_files::{compile, open},
    };

    const SOURCE: &str = "
        __attribute__((noinline, used)) int probed(int x) { __asm__ volatile(\"\"); return 2 * x; }
        int zeroed[4096];
        int main(int argc, char **argv) { (void)argv; return probed(argc) + zeroed[0]; }";

    fn refused(bytes: &[u8]) -> ElfError {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Image::open(file, "refused".into()).unwrap_err()
    }

    fn built(arguments: &[&str]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::read(compile(folder.path(), SOURCE, arguments)).unwrap()
    }

    /// The bytes at the file offset are those of the function, however the file is linked.
    #[test]
    fn translates_through_load_segments_however_linked() {
        for arguments in [
            &["-no-pie"][..],
            &["-no-pie", "-Wl,--section-start=.text=0x900000"],
            &["-no-pie", "-Wl,-Ttext-segment=0x10000000"],
            &["-no-pie", "-Wl,-z,noseparate-code"],
            &["-pie", "-fPIE"],
            &["-pie", "-fPIE", "-Wl,--section-start=.text=0x900000"],
            &["-static"],
            &["-static-pie", "-fPIE"],
            &["-shared", "-fPIC"],
            &["-pie", "-fPIE", "-Wl,-z,max-page-size=0x200000"],
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = compile(folder.path(), SOURCE, &[&["-O1"], arguments].concat());
            let image = open(&path);
            let probed = find_functions(&image, &["probed"]).remove(0);
            let offset = image.file_offset(probed.address).unwrap();
            let file = std::fs::read(&path).unwrap();
            let code = image.bytes(probed.address, probed.size_bytes as usize).unwrap();
            assert_eq!(code, &file[offset.0 as usize..][..code.len()], "{arguments:?}");
            assert_eq!(image.elf_address(offset), Some(probed.address), "{arguments:?}");
            assert!(image.is_executable(probed.address), "{arguments:?}");
            // What the linker put there: its own disassembler must see a return at the place found.
            let returns = crate::elf::return_sites(&image, &probed).unwrap();
            assert!(returns.iter().all(|at| image.bytes(*at, 1) == Some(&[0xc3])), "{arguments:?}");
            assert_eq!(image.build_id().map(<[u8]>::len), Some(20), "{arguments:?}");
        }
    }

    #[test]
    fn zeroed_memory_is_not_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let image = open(&compile(folder.path(), SOURCE, &["-no-pie"]));
        let bss = image.sections().and_then(|sections| {
            let (_, section) = sections.section_by_name(LittleEndian, b".bss")?;
            Some(ElfAddress(section.sh_addr(LittleEndian) + section.sh_size(LittleEndian) - 4))
        });
        assert_eq!(image.file_offset(bss.unwrap()), None);
        assert!(image.zeroed().iter().any(|range| range.contains(&bss.unwrap())));
        assert!(!image.zeroed().iter().any(|range| range.contains(&ElfAddress(0x401000))));
        assert_eq!(image.bytes(bss.unwrap(), 1), None);
        assert_eq!(image.file_offset(ElfAddress(u64::MAX)), None);
        assert_eq!(image.bytes(ElfAddress(0x401000), usize::MAX), None);
    }

    #[test]
    fn says_what_is_wrong_with_other_files() {
        assert!(matches!(refused(b"#!/bin/sh\n"), ElfError::NotElf { found, .. } if found == "23 21 2f 62"));
        assert!(matches!(refused(b""), ElfError::NotElf { .. } | ElfError::Map { .. }));
        assert!(matches!(refused(b"\x7fELF\x02\x01\x01"), ElfError::Damaged { .. }));
        let mut elf = built(&[]);
        elf[18] = 0xf3;
        assert!(matches!(refused(&elf), ElfError::OtherMachine { found, .. } if found == "number 243"));
        elf[4] = 1;
        assert!(matches!(refused(&elf), ElfError::ThirtyTwoBit { .. }));
    }

    #[test]
    fn refuses_a_file_that_loads_nothing() {
        let mut elf = built(&[]);
        elf[56..58].fill(0);
        assert!(matches!(refused(&elf), ElfError::Damaged { .. }));
    }

    #[test]
    fn survives_being_cut_off_anywhere() {
        let elf = built(&["-O1"]);
        for length in (0..elf.len()).step_by(97) {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&elf[..length]).unwrap();
            if let Ok(image) = Image::open(file, "cut off".into()) {
                for function in find_functions(&image, &["probed", "main"]) {
                    let _ = crate::elf::return_sites(&image, &function);
                }
                let _ = (image.build_id(), crate::elf::holds_go_code(&image));
            }
        }
    }
}
