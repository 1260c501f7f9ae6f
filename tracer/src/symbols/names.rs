//! Names for addresses: Go's function table inside Go text, what the target wrote down of generated code, blazesym
//! everywhere else.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    fs::File,
    os::fd::AsRawFd as _,
    path::PathBuf,
    sync::Arc,
};

use blazesym::symbolize::{
    Input, Symbolized, Symbolizer,
    source::{Elf, Source},
};

use super::{
    code_files::{CodeFile, CodeFiles},
    generated::{Notes, Wanted},
    modules::{Module, Modules},
    outermost::{leave_out_known_roots, mark_growing_stack},
    unwind::{checked, is_mark, name_of},
};
use crate::{
    elf::{DebugFile, ElfAddress, FileOffset, GoFunctions, Image, find_debug_file},
    target::FileId,
};

/// The frame that stands for a stack that was lost in the kernel.
const STACK_LOST: &str = "[stack lost]";
/// The frame that stands for the outermost frames that were not walked.
const STACK_CUT: &str = "[deeper frames not recorded]";

/// A function that was made while the program ran, and has no name.
const GENERATED: &str = "[generated code]";

/// Names the addresses of one process.
pub struct Namer {
    modules: Modules,
    go: Option<Arc<GoFunctions>>,
    symbolizer: Symbolizer,
    files: CodeFiles,
    debug_files: RefCell<HashMap<FileId, Option<Arc<DebugFile>>>>,
    generated: Wanted,
    notes: Notes,
    unnamed_generated: RefCell<BTreeSet<u64>>,
    names: RefCell<HashMap<u64, String>>,
}

impl Namer {
    /// `go` is the function table of the target's executable, when it is a Go program.
    #[must_use]
    pub fn new(modules: Modules, go: Option<Arc<GoFunctions>>) -> Self {
        // Names only: reading debug information of a large binary takes more memory than the tracer may use.
        let symbolizer = Symbolizer::builder().enable_code_info(false).enable_inlined_fns(false).build();
        Self {
            modules,
            go,
            symbolizer,
            files: CodeFiles::default(),
            debug_files: RefCell::default(),
            generated: Wanted::default(),
            notes: Notes::default(),
            unnamed_generated: RefCell::default(),
            names: RefCell::default(),
        }
    }

    /// Reads the names of generated code, of the stacks that will be asked for: the target's files of names are long, and a
    /// trace has few addresses. Without this generated code has no names.
    pub fn read_generated<'a>(&mut self, stacks: impl Iterator<Item = &'a [u64]>) {
        let addresses = stacks.flat_map(|frames| {
            let frames = frames.iter().filter(|frame| !is_mark(**frame));
            frames.enumerate().map(|(depth, address)| instruction(depth, *address))
        });
        let generated = |address: &u64| {
            self.modules.find(*address).is_none_or(|module| {
                module.is_memory() || (module.file.is_some() && self.files.of(module).is_none())
            })
        };
        let mut wanted = Wanted::new(addresses.filter(generated));
        if !wanted.is_empty() {
            self.modules.name_generated(&mut wanted, &mut self.notes);
            self.generated = wanted;
        }
    }

    /// What there is to be told of the names that were given so far.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone().into_lines();
        let unnamed = self.unnamed_generated.borrow().len();
        if unnamed > 0 {
            let more =
                if self.notes.any_used() { ", and the target's own files don't tell them" } else { "" };
            let (places, have) = if unnamed == 1 { ("place", "has") } else { ("places", "have") };
            notes.push(format!(
                "{unnamed} {places} in generated code {have} no name{more}: {}",
                self.modules.hint()
            ));
        }
        notes
    }

    /// The names of a stack, innermost first. `None` as frames: the stack was lost.
    #[must_use]
    pub fn stack(&self, frames: Option<&[u64]>, cut: bool) -> Vec<String> {
        self.stack_of(frames, cut, false)
    }

    /// The same for a stack at a function's entry, whose caller was read from where the function returns to.
    #[must_use]
    pub fn stack_at_entry(&self, frames: &[u64]) -> Vec<String> {
        self.stack_of(Some(frames), false, true)
    }

    fn stack_of(&self, frames: Option<&[u64]>, cut: bool, caller_known: bool) -> Vec<String> {
        self.frames(frames, cut, caller_known).into_iter().map(|(name, _)| name).collect()
    }

    /// The names of a stack with their addresses, innermost first; what stands for something missing has none. `None` as
    /// frames: the stack was lost. `caller_known`: it is one at a function's entry, as for [`Self::stack_at_entry`].
    #[must_use]
    pub fn frames(
        &self,
        frames: Option<&[u64]>,
        cut: bool,
        caller_known: bool,
    ) -> Vec<(String, Option<u64>)> {
        let Some(frames) = frames.filter(|frames| !frames.is_empty()) else {
            return vec![(STACK_LOST.to_owned(), None)];
        };
        // A return address of 0 is no frame: the walk had come to an end that looked like one more.
        let real = frames.iter().position(|address| *address == 0).unwrap_or(frames.len()).max(1);
        let frames = checked(&frames[..real], caller_known, &self.modules, &self.files);
        let named = |(depth, frame): (usize, &u64)| match is_mark(*frame) {
            true => name_of(*frame).map(|name| (name.to_owned(), None)),
            false => Some((self.name(instruction(depth, *frame)), Some(*frame))),
        };
        let mut names: Vec<(String, Option<u64>)> = frames.iter().enumerate().filter_map(named).collect();
        leave_out_known_roots(&mut names);
        if cut {
            names.push((STACK_CUT.to_owned(), None));
        } else if self.go.is_some() {
            mark_growing_stack(&mut names);
        }
        names
    }

    /// The name of the function that holds the address.
    #[must_use]
    pub fn name(&self, address: u64) -> String {
        if let Some(name) = self.names.borrow().get(&address) {
            return name.clone();
        }
        let name = self.look_up(address);
        self.names.borrow_mut().insert(address, name.clone());
        name
    }

    fn look_up(&self, address: u64) -> String {
        let generated = || self.generated.name(address).map(str::to_owned);
        let Some(module) = self.modules.find(address) else {
            return generated().unwrap_or_else(|| format!("[{address:#x}, in no known mapping]"));
        };
        let known = self.files.of(module).and_then(|file| {
            let elf_address = module.elf_address(&file, address)?;
            self.go_name(&file, elf_address).or_else(|| self.elf_name(module, &file.image, elf_address))
        });
        if let Some(name) = known.or_else(generated) {
            return name;
        }
        if module.is_memory() {
            self.unnamed_generated.borrow_mut().insert(address);
            return GENERATED.to_owned();
        }
        unnamed(module, module.file_offset(address))
    }

    /// The table belongs to one file; its text range together with the file's own table tells whether it is this one.
    fn go_name(&self, file: &CodeFile, address: ElfAddress) -> Option<String> {
        let table = self.go.as_ref().filter(|_| file.holds_go)?;
        table.name_at(address).map(|(name, _)| name.to_owned())
    }

    /// The name in the file's own tables, or in its debug file. What `strip` leaves of a library's names are its exported
    /// functions: where one of those is known to hold the address its name is the one that people know.
    fn elf_name(&self, module: &Module, image: &Image, address: ElfAddress) -> Option<String> {
        let own = self.symbol(module.file.as_ref()?, address);
        if let Some((name, true)) = own {
            return Some(name);
        }
        let in_debug_file = || self.symbol(self.debug_file(module, image)?.image.file(), address);
        in_debug_file().or(own).map(|(name, _)| name)
    }

    /// The function's name, and whether the table says that it reaches as far as the address.
    fn symbol(&self, file: &File, address: ElfAddress) -> Option<(String, bool)> {
        let mut elf = Elf::new(PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())));
        elf.debug_syms = false;
        match self.symbolizer.symbolize_single(&Source::Elf(elf), Input::VirtOffset(address.0)) {
            Ok(Symbolized::Sym(symbol)) => {
                let reaches = symbol.size.is_some_and(|size| symbol.offset < size);
                Some((symbol.name.into_owned(), reaches))
            }
            _ => None,
        }
    }

    fn debug_file(&self, module: &Module, image: &Image) -> Option<Arc<DebugFile>> {
        let mut debug_files = self.debug_files.borrow_mut();
        debug_files
            .entry(module.id.clone())
            .or_insert_with(|| {
                let root = self.modules.root()?;
                find_debug_file(image, &root)
                    .inspect_err(|nothing| log::debug!("{}: {nothing}", image.shown_as().display()))
                    .ok()
                    .map(Arc::new)
            })
            .clone()
    }
}

/// The instruction that a frame stands for: all but the innermost are return addresses, and the call is before them.
fn instruction(depth: usize, address: u64) -> u64 {
    if depth == 0 { address } else { address.saturating_sub(1) }
}

fn unnamed(module: &Module, offset: FileOffset) -> String {
    let name = module.name.to_string_lossy();
    if name.starts_with('[') {
        return name.into_owned();
    }
    let file = name.rsplit('/').next().unwrap_or(&name);
    format!("[{file}+{offset:#x}]")
}
