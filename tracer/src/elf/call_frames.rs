//! Call frame information (`.eh_frame`): how a function's caller is found at each of its instructions.
//!
//! Here only what a rule rests on is looked at; following the rules is the unwinder's work (`symbols/unwind/`).

use std::{fmt, ops::Deref, sync::Arc};

use gimli::{
    AArch64, BaseAddresses, CfaRule, CieOrFde, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, Pointer,
    RegisterRule, UnwindContext, UnwindSection as _, UnwindTableRow, X86_64,
};
use object::elf;
use object::read::elf::ProgramHeader as _;

use super::{ElfAddress, Image, Machine, image::Section};

/// Of a file's functions so many are looked at, spread over all of them.
const SAMPLED_FUNCTIONS: usize = 512;
const ADDRESS_BYTES: u8 = 8;

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// What leads to the caller at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerRule {
    /// The frame pointer: a walk by frame pointers is right here.
    FramePointer,
    /// Something else, such as a distance from the stack pointer: a walk by frame pointers is wrong here.
    Other,
    /// The file says nothing of the instruction.
    Unknown,
}

/// A file's call frame information.
#[derive(Debug)]
pub struct CallFrames {
    image: Arc<Image>,
    frames: Section,
    /// The table to find a function's entry in.
    index: Option<Section>,
}

/// Bytes of a file that stay mapped for as long as this lives.
#[derive(Clone)]
pub struct ImageBytes {
    image: Arc<Image>,
    section: Section,
}

impl Deref for ImageBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        bytes_of(&self.image, self.section)
    }
}

impl fmt::Debug for ImageBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {}", self.section.size_bytes, self.section.address)
    }
}

fn bytes_of(image: &Image, section: Section) -> &[u8] {
    let size = usize::try_from(section.size_bytes).unwrap_or(usize::MAX);
    image.bytes(section.address, size).unwrap_or_default()
}

impl CallFrames {
    /// Finds it; `None` if the file has none, as with Go's linker.
    #[must_use]
    pub fn of(image: Arc<Image>) -> Option<Self> {
        let usable = |section: &Section| !bytes_of(&image, *section).is_empty();
        let index = image.section(".eh_frame_hdr").or_else(|| index_segment(&image)).filter(usable);
        let frames = image.section(".eh_frame").filter(usable);
        let frames = frames.or_else(|| index.and_then(|index| frames_behind(&image, index)))?;
        let index = index.filter(|index| is_sound(&image, *index, frames));
        Some(Self { image, frames, index })
    }

    /// `.eh_frame`, where it is loaded and its bytes.
    #[must_use]
    pub fn frames(&self) -> (ElfAddress, ImageBytes) {
        (self.frames.address, ImageBytes { image: Arc::clone(&self.image), section: self.frames })
    }

    /// `.eh_frame_hdr`, likewise.
    #[must_use]
    pub fn index(&self) -> Option<(ElfAddress, ImageBytes)> {
        let index = self.index?;
        Some((index.address, ImageBytes { image: Arc::clone(&self.image), section: index }))
    }

    /// What the caller of the function at this instruction is found by. Damaged information tells nothing.
    #[must_use]
    pub fn caller_rule(&self, address: ElfAddress) -> CallerRule {
        let (frames, bases) = (self.section(), self.bases());
        let mut context = UnwindContext::new();
        let index = self.index.map(|index| EhFrameHdr::new(bytes_of(&self.image, index), LittleEndian));
        let parsed = index.and_then(|index| index.parse(&bases, ADDRESS_BYTES).ok());
        let row = match parsed.as_ref().and_then(|index| index.table()) {
            Some(table) => table.unwind_info_for_address(
                &frames,
                &bases,
                &mut context,
                address.0,
                EhFrame::cie_from_offset,
            ),
            None => frames.unwind_info_for_address(&bases, &mut context, address.0, EhFrame::cie_from_offset),
        };
        row.map_or(CallerRule::Unknown, |row| rule(self.image.machine(), row))
    }

    /// Whether most of the file's functions have no frame pointers, so that a walk by them is wrong in it.
    #[must_use]
    pub fn lacks_frame_pointers(&self) -> bool {
        let (frames, bases) = (self.section(), self.bases());
        let mut functions = Vec::new();
        let mut entries = frames.entries(&bases);
        while let Ok(Some(entry)) = entries.next() {
            if let CieOrFde::Fde(function) = entry {
                functions.push(function);
            }
        }
        let step = functions.len().div_ceil(SAMPLED_FUNCTIONS).max(1);
        let (mut with, mut without) = (0_u32, 0_u32);
        let mut context = UnwindContext::new();
        for function in functions.into_iter().step_by(step) {
            let Ok(function) = function.parse(EhFrame::cie_from_offset) else { continue };
            let Ok(mut rows) = function.rows(&frames, &bases, &mut context) else { continue };
            let (mut has, mut makes_room) = (false, false);
            while let Ok(Some(row)) = rows.next_row() {
                has |= rule(self.image.machine(), row) == CallerRule::FramePointer;
                makes_room |= makes_room_at(row);
            }
            // One that neither calls nor keeps anything has no use for a frame, however it was compiled.
            match (has, makes_room) {
                (true, _) => with += 1,
                (false, true) => without += 1,
                (false, false) => {}
            }
        }
        without > with
    }

    fn section(&self) -> EhFrame<Bytes<'_>> {
        let mut frames = EhFrame::new(bytes_of(&self.image, self.frames), LittleEndian);
        frames.set_address_size(ADDRESS_BYTES);
        frames
    }

    fn bases(&self) -> BaseAddresses {
        let bases = BaseAddresses::default().set_eh_frame(self.frames.address.0);
        match self.index {
            Some(index) => bases.set_eh_frame_hdr(index.address.0),
            None => bases,
        }
    }
}

/// x86-64 with frame pointers: the frame begins 16 bytes above the frame pointer, and the caller's one is stored at it. On
/// 64-bit Arm the frame record is wherever the function put it, and the frame pointer at it: both registers are stored.
fn rule(machine: Machine, row: &UnwindTableRow<usize>) -> CallerRule {
    let by_frame_pointer = match machine {
        Machine::X86_64 => {
            matches!(row.cfa(), CfaRule::RegisterAndOffset { register: X86_64::RBP, offset: 16 })
                && matches!(row.register(X86_64::RBP), Some(RegisterRule::Offset(-16)))
        }
        Machine::Aarch64 => [AArch64::X29, AArch64::X30]
            .iter()
            .all(|register| matches!(row.register(*register), Some(RegisterRule::Offset(_)))),
    };
    if by_frame_pointer { CallerRule::FramePointer } else { CallerRule::Other }
}

/// Whether an index is of the form that linkers write, and leads into the frames only. A damaged one is done without.
///
/// Linux Standard Base, "Exception Frames": version, three encodings (1 byte each), the frames' place relative to the field,
/// the number of rows, and rows of a function's place and its entry's, relative to the index (4 bytes each).
fn is_sound(image: &Image, index: Section, frames: Section) -> bool {
    const FORM: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    let Some((head, rows)) = bytes_of(image, index).split_at_checked(12) else { return false };
    let (rows, _) = rows.as_chunks::<8>();
    let count = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
    let of_frames = |at: u64, relative: [u8; 4]| {
        let address = at.wrapping_add_signed(i64::from(i32::from_le_bytes(relative)));
        address.checked_sub(frames.address.0)
    };
    let entry_is_inside = |row: &[u8; 8]| {
        let [_, _, _, _, entry @ ..] = *row;
        of_frames(index.address.0, entry).is_some_and(|offset| offset < frames.size_bytes)
    };
    head[..4] == FORM
        && count <= rows.len()
        && of_frames(index.address.0 + 4, [head[4], head[5], head[6], head[7]]) == Some(0)
        && rows[..count].iter().all(entry_is_inside)
}

/// Whether the function has moved the stack pointer, or keeps its frame elsewhere.
fn makes_room_at(row: &UnwindTableRow<usize>) -> bool {
    !matches!(row.cfa(), CfaRule::RegisterAndOffset { register: X86_64::RSP, offset: 8 })
        && !matches!(row.cfa(), CfaRule::RegisterAndOffset { register: AArch64::SP, offset: 0 })
}

/// The index as the loader finds it, where a file has no section headers.
fn index_segment(image: &Image) -> Option<Section> {
    let headers = image.program_headers();
    let found = headers.iter().find(|header| header.p_type(object::LittleEndian) == elf::PT_GNU_EH_FRAME)?;
    Some(Section {
        address: ElfAddress(found.p_vaddr(object::LittleEndian)),
        size_bytes: found.p_filesz(object::LittleEndian),
    })
}

/// The section that an index leads to; it ends by itself.
fn frames_behind(image: &Image, index: Section) -> Option<Section> {
    let bases = BaseAddresses::default().set_eh_frame_hdr(index.address.0);
    let parsed = EhFrameHdr::new(bytes_of(image, index), LittleEndian).parse(&bases, ADDRESS_BYTES).ok()?;
    let Pointer::Direct(address) = parsed.eh_frame_ptr() else { return None };
    let address = ElfAddress(address);
    Some(Section { address, size_bytes: image.bytes_from(address)?.len() as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::{
        Function, find_functions,
        test_files::{compile, open},
    };

    const SOURCE: &str = "
        __attribute__((noinline, used)) void inner(char *p) { __asm__ volatile(\"nop\" ::\"r\"(p)); }
        __attribute__((noinline, used)) int outer(int x) {
            char room[64];
            inner(room);
            __asm__ volatile(\"nop\");
            return x;
        }
        int main(int argc, char **argv) { (void)argv; return outer(argc); }";

    fn opened(arguments: &[&str]) -> (CallFrames, Vec<Function>) {
        let folder = tempfile::tempdir().unwrap();
        let image = Arc::new(open(&compile(folder.path(), SOURCE, arguments)));
        let functions = find_functions(&image, &["outer", "main"]);
        (CallFrames::of(image).unwrap(), functions)
    }

    fn last(function: &Function) -> ElfAddress {
        ElfAddress(function.address.0 + function.size_bytes - 2)
    }

    #[test]
    fn rules_are_told_at_each_instruction() {
        for link in ["-pie", "-no-pie", "-static"] {
            let (frames, functions) = opened(&["-O1", "-fno-omit-frame-pointer", link]);
            for function in &functions {
                // Nothing is pushed yet at the first instruction; before the end the frame is there.
                assert_eq!(frames.caller_rule(function.address), CallerRule::Other, "{link}");
                assert_eq!(frames.caller_rule(last(function)), CallerRule::FramePointer, "{link}");
            }
            let (frames, functions) = opened(&["-O1", "-fomit-frame-pointer", link]);
            assert!(functions.iter().all(|function| frames.caller_rule(last(function)) == CallerRule::Other));
            assert_eq!(frames.caller_rule(ElfAddress(1)), CallerRule::Unknown);
            assert_eq!(frames.caller_rule(ElfAddress(u64::MAX)), CallerRule::Unknown);
        }
    }

    #[test]
    fn files_are_told_apart() {
        let library = |arguments: &[&str]| opened(&[&["-shared", "-fPIC", "-O1"], arguments].concat()).0;
        assert!(!library(&["-fno-omit-frame-pointer"]).lacks_frame_pointers());
        assert!(library(&["-fomit-frame-pointer"]).lacks_frame_pointers());
    }

    #[test]
    fn a_file_without_section_headers_is_read_as_the_loader_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = compile(folder.path(), SOURCE, &["-O1", "-fno-omit-frame-pointer"]);
        let functions = find_functions(&open(&path), &["outer", "main"]);
        let mut bytes = std::fs::read(&path).unwrap();
        // e_shoff, e_shnum and e_shstrndx.
        bytes[40..48].fill(0);
        bytes[60..64].fill(0);
        std::fs::write(&path, bytes).unwrap();
        let image = Arc::new(open(&path));
        assert!(image.sections().is_none());
        let frames = CallFrames::of(image).unwrap();
        assert!(
            functions
                .iter()
                .all(|function| { frames.caller_rule(last(function)) == CallerRule::FramePointer })
        );
    }

    #[test]
    fn damage_tells_nothing_and_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = compile(folder.path(), SOURCE, &["-O1", "-no-pie"]);
        let whole = std::fs::read(&path).unwrap();
        let image = open(&path);
        let functions = find_functions(&image, &["inner", "outer"]);
        for name in [".eh_frame", ".eh_frame_hdr"] {
            let section = image.section(name).unwrap();
            let start = usize::try_from(image.file_offset(section.address).unwrap().0).unwrap();
            for at in start..start + usize::try_from(section.size_bytes).unwrap() {
                for value in [0, 0x7f, 0xff] {
                    let mut bytes = whole.clone();
                    bytes[at] = value;
                    let mut file = tempfile::tempfile().unwrap();
                    std::io::Write::write_all(&mut file, &bytes).unwrap();
                    let damaged = Arc::new(Image::open(file, path.clone()).unwrap());
                    let Some(frames) = CallFrames::of(damaged) else { continue };
                    for function in &functions {
                        let _ = frames.caller_rule(function.address);
                    }
                    let _ = frames.lacks_frame_pointers();
                }
            }
        }
    }
}
