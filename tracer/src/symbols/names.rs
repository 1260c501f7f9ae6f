//! Names for addresses: Go's function table inside Go text, blazesym everywhere else.

use std::{cell::RefCell, collections::HashMap, os::fd::AsRawFd as _, path::PathBuf, sync::Arc};

use blazesym::symbolize::{
    Input, Symbolized, Symbolizer,
    source::{Elf, Source},
};

use super::modules::{Module, Modules};
use crate::{
    elf::{ElfAddress, FileOffset, GoFunctions, Image},
    target::FileId,
};

/// The frame that stands for a stack that was lost in the kernel.
const STACK_LOST: &str = "[stack lost]";
/// The frame that stands for the outermost frames that were not walked.
const STACK_CUT: &str = "[deeper frames not recorded]";

/// Names the addresses of one process.
pub struct Namer {
    modules: Modules,
    go: Option<Arc<GoFunctions>>,
    symbolizer: Symbolizer,
    images: RefCell<HashMap<FileId, Option<Arc<Image>>>>,
    names: RefCell<HashMap<u64, String>>,
}

impl Namer {
    /// `go` is the function table of the target's executable, when it is a Go program.
    #[must_use]
    pub fn new(modules: Modules, go: Option<Arc<GoFunctions>>) -> Self {
        // Names only: reading debug information of a large binary takes more memory than the tracer may use.
        let symbolizer = Symbolizer::builder().enable_code_info(false).enable_inlined_fns(false).build();
        Self { modules, go, symbolizer, images: RefCell::default(), names: RefCell::default() }
    }

    /// The names of a stack, innermost first. `None` as frames: the stack was lost.
    #[must_use]
    pub fn stack(&self, frames: Option<&[u64]>, cut: bool) -> Vec<String> {
        let Some(frames) = frames.filter(|frames| !frames.is_empty()) else {
            return vec![STACK_LOST.to_owned()];
        };
        // A return address of 0 is no frame: the walk had come to an end that looked like one more.
        let real = frames.iter().position(|address| *address == 0).unwrap_or(frames.len()).max(1);
        let mut names: Vec<String> = frames[..real]
            .iter()
            .enumerate()
            // All but the innermost are return addresses: the call is before them.
            .map(|(depth, address)| self.name(if depth == 0 { *address } else { address.saturating_sub(1) }))
            .collect();
        if cut {
            names.push(STACK_CUT.to_owned());
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
        let Some(module) = self.modules.find(address) else {
            return format!("[{address:#x}, in no known mapping]");
        };
        let offset = FileOffset(address - module.start + module.offset_bytes);
        let known = self.image(module).and_then(|image| {
            let elf_address = image.elf_address(offset)?;
            self.go_name(&image, elf_address).or_else(|| self.elf_name(module, elf_address))
        });
        known.unwrap_or_else(|| unnamed(module, offset))
    }

    /// The table belongs to one file; its text range together with the file's own table tells whether it is this one.
    fn go_name(&self, image: &Image, address: ElfAddress) -> Option<String> {
        let table = self.go.as_ref().filter(|_| crate::elf::holds_go_code(image))?;
        table.name_at(address).map(|(name, _)| name.to_owned())
    }

    fn elf_name(&self, module: &Module, address: ElfAddress) -> Option<String> {
        let file = module.file.as_ref()?;
        let mut elf = Elf::new(PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())));
        elf.debug_syms = false;
        match self.symbolizer.symbolize_single(&Source::Elf(elf), Input::VirtOffset(address.0)) {
            Ok(Symbolized::Sym(symbol)) => Some(symbol.name.into_owned()),
            _ => None,
        }
    }

    fn image(&self, module: &Module) -> Option<Arc<Image>> {
        let mut images = self.images.borrow_mut();
        images
            .entry(module.id.clone())
            .or_insert_with(|| {
                let file = module.file.as_ref()?.try_clone().ok()?;
                // A damaged file costs its own names, no others.
                Image::open(file, PathBuf::from(&module.name)).ok().map(Arc::new)
            })
            .clone()
    }
}

fn unnamed(module: &Module, offset: FileOffset) -> String {
    let name = module.name.to_string_lossy();
    if name.is_empty() {
        return "[generated code]".to_owned();
    }
    if name.starts_with('[') {
        return name.into_owned();
    }
    let file = name.rsplit('/').next().unwrap_or(&name);
    format!("[{file}+{offset:#x}]")
}
