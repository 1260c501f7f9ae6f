//! The target's executable files, opened while it lives, so that its addresses can be named after it has ended.

use std::{ffi::OsString, fs::File, path::PathBuf, sync::Arc};

use crate::target::{FileId, Mapping};

/// One executable mapping and the file behind it.
#[derive(Clone, Debug)]
pub struct Module {
    /// First runtime address.
    pub start: u64,
    /// First runtime address after it.
    pub end: u64,
    /// Offset of `start` in the file, in bytes.
    pub offset_bytes: u64,
    /// The path or the kernel's name, as in the map.
    pub name: OsString,
    /// The open file; `None` when there is none or it could not be opened.
    pub file: Option<Arc<File>>,
    /// Which file it is.
    pub id: FileId,
}

/// All that were seen.
#[derive(Debug)]
pub struct Modules {
    pid: u32,
    modules: Vec<Module>,
}

impl Modules {
    /// None yet.
    #[must_use]
    pub fn new(pid: u32) -> Self {
        Self { pid, modules: Vec::new() }
    }

    /// Remembers the executable mappings that are new.
    pub fn observe(&mut self, mappings: &[Mapping]) {
        for mapping in mappings.iter().filter(|mapping| mapping.executable) {
            let known = self.modules.iter().any(|module| {
                module.start == mapping.start && module.end == mapping.end && module.id == mapping.file
            });
            if !known {
                let file = if mapping.is_file() { self.open(mapping) } else { None };
                self.modules.push(Module {
                    start: mapping.start,
                    end: mapping.end,
                    offset_bytes: mapping.offset_bytes,
                    name: mapping.name.clone(),
                    file,
                    id: mapping.file.clone(),
                });
            }
        }
    }

    /// The newest module that holds the address.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<&Module> {
        self.modules.iter().rev().find(|module| (module.start..module.end).contains(&address))
    }

    /// The file of a mapping: the one that another mapping opened, the mapping's own, or the path as the target
    /// sees it.
    fn open(&self, mapping: &Mapping) -> Option<Arc<File>> {
        if let Some(module) = self.modules.iter().find(|module| module.id == mapping.file) {
            return module.file.clone();
        }
        let own = format!("/proc/{}/map_files/{:x}-{:x}", self.pid, mapping.start, mapping.end);
        File::open(own)
            .or_else(|_| {
                let mut path = OsString::from(format!("/proc/{}/root", self.pid));
                path.push(&mapping.name);
                File::open(PathBuf::from(path))
            })
            .ok()
            .map(Arc::new)
    }
}
