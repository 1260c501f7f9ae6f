//! Which processes a trace of an executable, or of a cgroup, is of.

use std::{
    fs, io,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use thiserror::Error;

use crate::target::{CgroupPath, CgroupPathError, is_in_cgroup, resolve_cgroup};

/// What the processes have in common.
#[derive(Clone, Debug)]
pub enum Matching {
    /// They run this file.
    Executable(Executable),
    /// They are in this cgroup, or in one below it.
    Cgroup(CgroupPath),
}

/// An executable: a file, or a path as the processes see it.
#[derive(Clone, Debug)]
pub struct Executable {
    path: PathBuf,
    file: Option<FileKey>,
}

/// Which file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileKey {
    device: u64,
    inode: u64,
}

/// What was asked for can't be matched with anything.
#[derive(Debug, Error)]
pub enum MatchingError {
    /// The path is not a full one.
    #[error("--exe {0} is not a full path; give it from `/` on, as the process sees it")]
    NotFull(String),
    /// There is no such file, and no process runs one of that path.
    #[error(
        "there is no file {path} ({source}), and no process runs one of that path; `ls -l /proc/PID/exe` shows what a \
         process runs"
    )]
    NoFile {
        /// The path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such cgroup.
    #[error(transparent)]
    Cgroup(#[from] CgroupPathError),
}

impl Matching {
    /// Every process that runs the file at `path`, or a file of that path in its own root.
    ///
    /// # Errors
    /// When the path is relative to nothing, or neither the file nor such a process exists.
    pub fn executable(path: &Path) -> Result<Self, MatchingError> {
        let full =
            std::path::absolute(path).map_err(|_| MatchingError::NotFull(path.display().to_string()))?;
        let found = fs::metadata(&full);
        let file = found.as_ref().ok().map(FileKey::of);
        // Links are followed: a process's path has none.
        let path = fs::canonicalize(&full).unwrap_or(full);
        let matching = Self::Executable(Executable { path: path.clone(), file });
        match found {
            Ok(_) => Ok(matching),
            Err(_) if process_ids().any(|pid| matching.includes(pid)) => Ok(matching),
            Err(source) => Err(MatchingError::NoFile { path: path.display().to_string(), source }),
        }
    }

    /// Every process of a cgroup and of those below it: its folder, or its path as in `/proc/PID/cgroup`.
    ///
    /// # Errors
    /// When there is no such cgroup.
    pub fn cgroup(path: &Path) -> Result<Self, MatchingError> {
        Ok(Self::Cgroup(resolve_cgroup(path)?))
    }

    /// Whether the process is one of them. `false` also when it is gone.
    #[must_use]
    pub fn includes(&self, pid: u32) -> bool {
        match self {
            Self::Executable(executable) => executable.is_run_by(pid),
            Self::Cgroup(cgroup) => is_in_cgroup(pid, cgroup),
        }
    }

    /// Where to look for them: all processes, or those of the cgroup.
    pub(super) fn processes(&self) -> Vec<u32> {
        match self {
            Self::Executable(_) => process_ids().collect(),
            Self::Cgroup(cgroup) => cgroup.processes(),
        }
    }

    /// `processes that run /usr/bin/x`, for messages.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Executable(executable) => format!("processes that run {}", executable.path.display()),
            Self::Cgroup(cgroup) => format!("processes of the cgroup {}", cgroup.shown()),
        }
    }

    /// Whether a process can become one of them without beginning a program.
    pub(super) fn can_be_joined(&self) -> bool {
        matches!(self, Self::Cgroup(_))
    }
}

impl Executable {
    fn is_run_by(&self, pid: u32) -> bool {
        let exe = format!("/proc/{pid}/exe");
        let Ok(runs) = fs::metadata(&exe).map(|metadata| FileKey::of(&metadata)) else { return false };
        if self.file == Some(runs) {
            return true;
        }
        if fs::read_link(&exe).is_ok_and(|link| without_mark(&link) == self.path) {
            return true;
        }
        let mut in_root = PathBuf::from(format!("/proc/{pid}/root"));
        in_root.extend(self.path.strip_prefix("/").ok());
        fs::metadata(in_root).is_ok_and(|metadata| FileKey::of(&metadata) == runs)
    }
}

impl FileKey {
    fn of(metadata: &fs::Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// A file that was deleted or replaced keeps its path, with a mark behind it.
fn without_mark(path: &Path) -> &Path {
    let bytes = path.as_os_str().as_bytes();
    bytes.strip_suffix(b" (deleted)").map_or(path, |bytes| Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

/// All processes that there are now, in the tracer's pid namespace.
fn process_ids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_file_is_matched_however_it_is_called() {
        let own = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        for path in [&own, &link] {
            let matching = Matching::executable(path).unwrap();
            assert!(matching.includes(std::process::id()), "{}", path.display());
        }
        assert!(!Matching::executable(Path::new("/bin/sh")).unwrap().includes(std::process::id()));
    }

    #[test]
    fn a_path_that_nobody_runs_is_an_error() {
        let error = Matching::executable(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }

    #[test]
    fn the_mark_of_a_deleted_file_is_no_part_of_its_path() {
        assert_eq!(without_mark(Path::new("/a/b (deleted)")), Path::new("/a/b"));
        assert_eq!(without_mark(Path::new("/a/b")), Path::new("/a/b"));
    }
}
