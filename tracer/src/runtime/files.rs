//! The files whose code a process has mapped: opened through the process itself, so that paths may be gone, replaced, or
//! of another mount namespace.

use std::{
    collections::HashSet,
    fs::File,
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use crate::{
    elf::{DebugFile, Image, NoDebugFile, find_debug_file},
    target::{Mapping, Target, read_maps},
};

/// The executable first, then what else it has mapped, in the order of the addresses.
#[derive(Clone, Debug)]
pub struct MappedFiles {
    /// The files that could be opened as ELF files of this machine.
    pub files: Vec<Arc<Image>>,
    /// Those that could not, with the reason: they are left out.
    pub unreadable: Vec<(PathBuf, String)>,
    /// What stands for the process's root.
    root: PathBuf,
    /// The separate debug file of each, once it has been looked for.
    debug_files: Vec<Arc<OnceLock<Result<DebugFile, NoDebugFile>>>>,
}

impl MappedFiles {
    /// Opens the files behind a process's executable mappings.
    ///
    /// # Errors
    /// When the process's map can't be read. A file that can't be opened is left out.
    pub fn of(target: &Target, executable: Arc<Image>) -> io::Result<Self> {
        let mut found = Self::only(executable);
        found.root = PathBuf::from(format!("/proc/{}/root", target.pid()));
        let mut known: HashSet<(String, u64)> = HashSet::new();
        let own = found.files[0].file().metadata().ok().map(|metadata| metadata.ino());
        for mapping in read_maps(target.pid())? {
            if !mapping.executable || !mapping.is_file() {
                continue;
            }
            if !known.insert((mapping.file.device.clone(), mapping.file.inode)) {
                continue;
            }
            // The same inode on another device would be an odd chance; the name decides.
            if own == Some(mapping.file.inode) || mapping.name == target.exe().as_os_str() {
                continue;
            }
            let path = PathBuf::from(&mapping.name);
            match open(target.pid(), &mapping)
                .map_err(|error| error.to_string())
                .and_then(|file| Image::open(file, path.clone()).map_err(|error| error.to_string()))
            {
                Ok(image) => {
                    found.files.push(Arc::new(image));
                    found.debug_files.push(Arc::default());
                }
                Err(reason) => found.unreadable.push((path, reason)),
            }
        }
        Ok(found)
    }

    /// One file alone.
    #[must_use]
    pub fn only(image: Arc<Image>) -> Self {
        Self {
            files: vec![image],
            unreadable: Vec::new(),
            root: PathBuf::from("/"),
            debug_files: vec![Arc::default()],
        }
    }

    /// One of them alone.
    ///
    /// # Panics
    /// There is none of that index.
    #[must_use]
    pub fn one(&self, file: usize) -> Self {
        Self {
            files: vec![Arc::clone(&self.files[file])],
            unreadable: Vec::new(),
            root: self.root.clone(),
            debug_files: vec![Arc::clone(&self.debug_files[file])],
        }
    }

    /// The separate debug file of one of them. It is looked for once, when it is first asked for.
    ///
    /// # Errors
    /// There is none: with everything that was tried.
    ///
    /// # Panics
    /// There is no file of that index.
    pub fn debug_file(&self, file: usize) -> Result<&DebugFile, &NoDebugFile> {
        self.debug_files[file].get_or_init(|| find_debug_file(&self.files[file], &self.root)).as_ref()
    }

    /// Whether the file is the one that is written so: its path, or the path's last part.
    #[must_use]
    pub fn is_called(image: &Image, name: &str) -> bool {
        let path = image.shown_as();
        path == Path::new(name) || path.file_name().is_some_and(|last| last == name)
    }
}

fn open(pid: u32, mapping: &Mapping) -> io::Result<File> {
    File::open(format!("/proc/{pid}/map_files/{:x}-{:x}", mapping.start, mapping.end)).or_else(|_| {
        let mut path = std::ffi::OsString::from(format!("/proc/{pid}/root"));
        path.push(&mapping.name);
        File::open(path)
    })
}
