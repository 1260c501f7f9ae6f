//! Unwinds copies of stacks by the call frame information of the target's files, with framehop. Go code, which has none, is
//! unwound by frame pointers. Whatever is found has to be an address that a call returns to; otherwise unwinding stops there:
//! callers are never made up.

use std::{collections::BTreeMap, fmt, ops::Range};

use framehop::{
    CacheNative, Error, FrameAddress, MayAllocateDuringUnwind, ModuleSectionInfo, Unwinder as _,
    UnwinderNative,
};
use tracer_common::stack_copy::StackCopyHead;

use super::{
    super::{
        code_files::{CodeFile, CodeFiles},
        modules::{Module, Modules},
    },
    callers::{Caller, caller, is_return_address, is_signal_return},
    marks::{CUT, STOPPED, WHOLE},
};
use crate::elf::{ElfAddress, ImageBytes};

/// The most frames of one stack.
const MOST_FRAMES: usize = 512;
/// What can't be read this far above a copy's end is the same stack's; farther away it is no stack at all.
const STACK_BYTES: u64 = 1 << 30;

#[cfg(target_arch = "x86_64")]
type Registers = framehop::x86_64::UnwindRegsX86_64;
#[cfg(target_arch = "aarch64")]
type Registers = framehop::aarch64::UnwindRegsAarch64;

/// Unwinds the stacks of one process.
pub struct Unwinder {
    framehop: UnwinderNative<ImageBytes, MayAllocateDuringUnwind>,
    cache: CacheNative<MayAllocateDuringUnwind>,
    files: CodeFiles,
    /// What framehop knows: by first address, the module.
    known: BTreeMap<u64, Module>,
}

impl fmt::Debug for Unwinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unwinder").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl Default for Unwinder {
    fn default() -> Self {
        Self {
            framehop: UnwinderNative::new(),
            cache: CacheNative::new(),
            files: CodeFiles::default(),
            known: BTreeMap::new(),
        }
    }
}

/// A stack that was unwound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwound {
    /// The frames, innermost first, with a mark at the end that says how it ended.
    pub frames: Vec<u64>,
    /// An address in no mapping that is known: the map has changed since it was read.
    pub unmapped: Option<u64>,
}

/// A copy of the top of a stack.
struct Copied<'a> {
    from: u64,
    bytes: &'a [u8],
}

impl Copied<'_> {
    fn word(&self, address: u64) -> Result<u64, ()> {
        let offset = usize::try_from(address.checked_sub(self.from).ok_or(())?).map_err(|_| ())?;
        let word = self.bytes.get(offset..).and_then(|rest| rest.first_chunk::<8>());
        word.map(|word| u64::from_ne_bytes(*word)).ok_or(())
    }

    /// How a walk has ended that could not read this address.
    fn end_at(&self, address: u64) -> u64 {
        let end = self.from + self.bytes.len() as u64;
        let above = address.saturating_add(8).checked_sub(end);
        if above.is_some_and(|above| above > 0 && above < STACK_BYTES) { CUT } else { STOPPED }
    }
}

impl Unwinder {
    /// Whether most functions of a module have no frame pointers; `false` when that is not known.
    #[must_use]
    pub fn lacks_frame_pointers(&self, module: &Module) -> bool {
        let file = self.files.of(module);
        let frames = file.as_ref().filter(|file| !file.holds_go).and_then(|file| file.frames.as_ref());
        frames.is_some_and(|frames| frames.lacks_frame_pointers())
    }

    /// Unwinds a copy. `modules` are those of the time of the copy, as far as they are known.
    pub fn unwind(&mut self, head: &StackCopyHead, bytes: &[u8], modules: &Modules) -> Unwound {
        let copied = Copied { from: head.from, bytes };
        let mut registers = registers(head);
        let mut address = FrameAddress::InstructionPointer(head.ip);
        let mut frames = vec![head.ip];
        let mut unmapped = None;
        let end = loop {
            if frames.len() >= MOST_FRAMES {
                break CUT;
            }
            let instruction = address.address_for_lookup();
            let mut read = |address| copied.word(address);
            let step = match caller(instruction, modules, &self.files) {
                Caller::Described { module, file, .. } => {
                    self.make_known(&module, &file);
                    self.framehop.unwind_frame(address, &mut registers, &mut self.cache, &mut read)
                }
                Caller::FramePointer => by_frame_pointer(&mut registers, &copied),
                Caller::Unknown => break STOPPED,
                Caller::Unmapped => {
                    unmapped = Some(instruction);
                    break STOPPED;
                }
            };
            let found = match step {
                Ok(None | Some(0)) | Err(Error::ReturnAddressIsNull) => break WHOLE,
                Ok(Some(found)) => found,
                Err(Error::CouldNotReadStack(address)) => break copied.end_at(address),
                Err(_) => break STOPPED,
            };
            // A signal comes at any instruction.
            let interrupted = address.is_return_address()
                && is_signal_return(frames[frames.len() - 1], modules, &self.files);
            if interrupted {
                address = FrameAddress::InstructionPointer(found);
            } else if is_return_address(found, modules, &self.files) {
                let Some(returns_to) = FrameAddress::from_return_address(found) else { break WHOLE };
                address = returns_to;
            } else {
                unmapped = modules.find(found).is_none().then_some(found);
                break STOPPED;
            }
            frames.push(found);
        };
        frames.push(end);
        Unwound { frames, unmapped }
    }

    /// Tells framehop of a module, instead of whatever was there before.
    fn make_known(&mut self, module: &Module, file: &CodeFile) {
        let is_known = |known: &Module| {
            (known.end, known.offset_bytes, &known.id) == (module.end, module.offset_bytes, &module.id)
        };
        if self.known.get(&module.start).is_some_and(is_known) {
            return;
        }
        let overlaps = |(start, known): &(&u64, &Module)| **start < module.end && known.end > module.start;
        let gone: Vec<u64> = self.known.iter().filter(overlaps).map(|(start, _)| *start).collect();
        for start in gone {
            self.known.remove(&start);
            self.framehop.remove_module(start);
        }
        self.known.insert(module.start, module.clone());
        if let Some(described) = described(module, file) {
            self.framehop.add_module(described);
        }
    }
}

/// A file's call frame information as framehop asks for it.
struct Sections {
    base: ElfAddress,
    frames: (ElfAddress, ImageBytes),
    index: Option<(ElfAddress, ImageBytes)>,
}

impl Sections {
    fn named(&self, name: &[u8]) -> Option<&(ElfAddress, ImageBytes)> {
        match name {
            b".eh_frame" => Some(&self.frames),
            b".eh_frame_hdr" => self.index.as_ref(),
            _ => None,
        }
    }
}

impl ModuleSectionInfo<ImageBytes> for Sections {
    fn base_svma(&self) -> u64 {
        self.base.0
    }

    fn section_svma_range(&mut self, name: &[u8]) -> Option<Range<u64>> {
        self.named(name).map(|(start, bytes)| start.0..start.0 + bytes.len() as u64)
    }

    fn section_data(&mut self, name: &[u8]) -> Option<ImageBytes> {
        self.named(name).map(|(_, bytes)| bytes.clone())
    }
}

/// A module as framehop wants it.
fn described(module: &Module, file: &CodeFile) -> Option<framehop::Module<ImageBytes>> {
    let frames = file.frames.as_ref()?;
    let first = module.elf_address(file, module.start)?;
    // Addresses are counted from the file's first one, so that all of them are above it.
    let base = file.image.first_address();
    let sections = Sections { base, frames: frames.frames(), index: frames.index() };
    let base_runtime = module.start.wrapping_sub(first.0).wrapping_add(base.0);
    let name = module.name.to_string_lossy().into_owned();
    Some(framehop::Module::new(name, module.start..module.end, base_runtime, sections))
}

#[cfg(target_arch = "x86_64")]
fn registers(head: &StackCopyHead) -> Registers {
    Registers::new(head.ip, head.sp, head.bp)
}

#[cfg(target_arch = "aarch64")]
fn registers(head: &StackCopyHead) -> Registers {
    Registers::new(head.link, head.sp, head.bp)
}

/// One step by the frame pointer: the caller's one is where it points to, and the return address behind that.
fn by_frame_pointer(registers: &mut Registers, copied: &Copied<'_>) -> Result<Option<u64>, Error> {
    #[cfg(target_arch = "x86_64")]
    let (frame_pointer, stack_pointer) = (registers.bp(), registers.sp());
    #[cfg(target_arch = "aarch64")]
    let (frame_pointer, stack_pointer) = (registers.fp(), registers.sp());
    if frame_pointer == 0 {
        return Ok(None);
    }
    if frame_pointer < stack_pointer {
        return Err(Error::FramepointerUnwindingMovedBackwards);
    }
    let word = |address| copied.word(address).map_err(|()| Error::CouldNotReadStack(address));
    let behind = frame_pointer.checked_add(8).ok_or(Error::IntegerOverflow)?;
    let (caller, returns_to) = (word(frame_pointer)?, word(behind)?);
    let above = frame_pointer.checked_add(16).ok_or(Error::IntegerOverflow)?;
    #[cfg(target_arch = "x86_64")]
    {
        *registers = Registers::new(returns_to, above, caller);
    }
    #[cfg(target_arch = "aarch64")]
    {
        *registers = Registers::new(returns_to, above, caller);
    }
    Ok(Some(returns_to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_inside_the_copy_only() {
        let copied = Copied { from: 0x1000, bytes: &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0] };
        assert_eq!((copied.word(0x1000), copied.word(0x1008)), (Ok(1), Ok(2)));
        for outside in [0, 0xff8, 0x1009, 0x1010, u64::MAX] {
            assert_eq!(copied.word(outside), Err(()), "{outside:#x}");
        }
        assert_eq!((copied.end_at(0x1009), copied.end_at(0x2000)), (CUT, CUT));
        assert_eq!((copied.end_at(0), copied.end_at(u64::MAX)), (STOPPED, STOPPED));
    }

    #[test]
    fn frame_pointers_lead_outwards_only() {
        let words = [0x1010_u64, 7, 0, 9];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let copied = Copied { from: 0x1000, bytes: &bytes };
        let head = StackCopyHead { ip: 1, sp: 0x1000, bp: 0x1000, ..StackCopyHead::default() };
        let mut walked = registers(&head);
        assert_eq!(by_frame_pointer(&mut walked, &copied), Ok(Some(7)));
        assert_eq!(by_frame_pointer(&mut walked, &copied), Ok(Some(9)));
        assert_eq!(by_frame_pointer(&mut walked, &copied), Ok(None));
        let mut below = registers(&StackCopyHead { bp: 0xff0, ..head });
        let error = by_frame_pointer(&mut below, &copied);
        assert_eq!(error, Err(Error::FramepointerUnwindingMovedBackwards));
        let mut wild = registers(&StackCopyHead { bp: u64::MAX - 3, ..head });
        assert!(by_frame_pointer(&mut wild, &copied).is_err());
    }
}
