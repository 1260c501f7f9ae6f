//! The target's executable files, opened while it lives, so that its addresses can be named after it has ended.

use std::{
    ffi::OsString,
    fs::File,
    os::fd::{AsRawFd as _, OwnedFd},
    path::PathBuf,
    sync::Arc,
};

use rustix::fs::{Mode, OFlags, open};

use super::generated::{NameFiles, Notes, Wanted, hint, lacks_frame_pointers};
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

impl Module {
    /// Whether it is memory without a file of its own, or with one that only stands for memory: code that is run there was
    /// made while the program ran.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        const SHARED: [&[u8]; 4] = [b"/memfd:", b"/dev/zero", b"/dev/shm/", b"/SYSV"];
        const KERNEL_S: [&[u8]; 4] = [b"[vdso]", b"[vsyscall]", b"[vvar]", b"[uprobes]"];
        let name = self.name.as_encoded_bytes();
        let is_path = name.starts_with(b"/") && !SHARED.iter().any(|begin| name.starts_with(begin));
        !is_path && !KERNEL_S.contains(&name)
    }
}

/// All that were seen.
#[derive(Debug)]
pub struct Modules {
    pid: u32,
    modules: Vec<Module>,
    name_files: NameFiles,
    root: Option<OwnedFd>,
}

impl Modules {
    /// None yet.
    #[must_use]
    pub fn new(pid: u32) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self {
            pid,
            modules: Vec::new(),
            name_files: NameFiles::of(pid),
            root: open(format!("/proc/{pid}/root"), flags, Mode::empty()).ok(),
        }
    }

    /// Remembers the executable mappings that are new.
    pub fn observe(&mut self, mappings: &[Mapping]) {
        let before = self.modules.len();
        for mapping in mappings.iter().filter(|mapping| mapping.executable) {
            let known = self.modules.iter().any(|module| {
                module.start == mapping.start && module.end == mapping.end && module.id == mapping.file
            });
            if !known {
                let file = if mapping.is_file() { self.open(mapping) } else { None };
                self.name_files.mapped(&mapping.name.to_string_lossy(), file.as_deref());
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
        if self.modules[before..].iter().any(Module::is_memory) {
            self.look_for_names();
        }
    }

    /// Opens what the target has written down of code that it generated. To be called at the end as well: it may have begun
    /// to write meanwhile.
    pub fn look_for_names(&mut self) {
        if self.modules.iter().any(Module::is_memory) {
            self.name_files.look();
        }
    }

    /// Names addresses of generated code, as the target's files have it now.
    pub(super) fn name_generated(&self, wanted: &mut Wanted, notes: &mut Notes) {
        self.name_files.name(wanted, notes);
    }

    /// How to get names of generated code.
    pub(super) fn hint(&self) -> &'static str {
        hint(self.modules.iter().map(|module| module.name.as_os_str()))
    }

    /// Whether generated code is known to have no frame pointers here.
    pub(super) fn generated_lacks_frame_pointers(&self) -> bool {
        lacks_frame_pointers(self.modules.iter().map(|module| module.name.as_os_str()))
    }

    /// All that were seen, the newest last.
    #[must_use]
    pub fn all(&self) -> &[Module] {
        &self.modules
    }

    /// A folder that stands for the target's root for as long as this lives.
    pub(super) fn root(&self) -> Option<PathBuf> {
        let alive = PathBuf::from(format!("/proc/{}/root", self.pid));
        // What is mounted below it is seen while the target lives.
        if alive.join(".").exists() {
            return Some(alive);
        }
        self.root.as_ref().map(|root| PathBuf::from(format!("/proc/self/fd/{}", root.as_raw_fd())))
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
