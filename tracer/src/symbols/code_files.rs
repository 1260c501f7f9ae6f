//! The target's executable files as code: each is opened once.

use std::{
    cell::RefCell,
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use super::modules::Module;
use crate::{
    elf::{CallFrames, CallerRule, ElfAddress, FileOffset, Image, follows_call, holds_go_code},
    target::FileId,
};

/// A file that is mapped as code.
#[derive(Debug)]
pub(super) struct CodeFile {
    pub(super) image: Arc<Image>,
    /// How callers are found in it; `None`: it does not say.
    pub(super) frames: Option<CallFrames>,
    /// It holds Go code, which has frame pointers and no call frame information.
    pub(super) holds_go: bool,
    /// What was found out of its instructions: the same few come again and again.
    rules: Mutex<HashMap<ElfAddress, CallerRule>>,
    behind_calls: Mutex<HashMap<ElfAddress, bool>>,
}

impl CodeFile {
    /// How the caller of the function at an instruction is found.
    pub(super) fn caller_rule(&self, address: ElfAddress) -> CallerRule {
        let Some(frames) = &self.frames else { return CallerRule::Unknown };
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        *rules.entry(address).or_insert_with(|| frames.caller_rule(address))
    }

    /// Whether the instruction before the address is a call.
    pub(super) fn is_behind_call(&self, address: ElfAddress) -> bool {
        let mut known = self.behind_calls.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(address).or_insert_with(|| follows_call(&self.image, address) == Some(true))
    }
}

/// All that were asked for.
#[derive(Default)]
pub(super) struct CodeFiles(RefCell<HashMap<FileId, Option<Arc<CodeFile>>>>);

impl fmt::Debug for CodeFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files", self.0.borrow().len())
    }
}

impl CodeFiles {
    /// The file of a module; `None` when it has none, or one that is not code that can be read: a damaged file costs its own
    /// names, no others.
    pub(super) fn of(&self, module: &Module) -> Option<Arc<CodeFile>> {
        let file = module.file.as_ref()?;
        let mut files = self.0.borrow_mut();
        files
            .entry(module.id.clone())
            .or_insert_with(|| {
                let file = file.try_clone().ok()?;
                let image = Arc::new(Image::open(file, PathBuf::from(&module.name)).ok()?);
                let frames = CallFrames::of(Arc::clone(&image));
                let holds_go = holds_go_code(&image);
                let (rules, behind_calls) = Default::default();
                Some(Arc::new(CodeFile { image, frames, holds_go, rules, behind_calls }))
            })
            .clone()
    }
}

impl Module {
    /// The offset in the file of a runtime address inside the module.
    pub(super) fn file_offset(&self, address: u64) -> FileOffset {
        FileOffset(address - self.start + self.offset_bytes)
    }

    /// The address in the file's own tables.
    pub(super) fn elf_address(&self, file: &CodeFile, address: u64) -> Option<ElfAddress> {
        file.image.elf_address(self.file_offset(address))
    }
}
