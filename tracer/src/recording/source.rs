//! Where a recording's bytes come from: a file, or memory.

use std::{
    fs::File,
    io::{self, Cursor, Read, Seek},
    path::PathBuf,
    sync::Arc,
};

use super::reading::Counted;

/// Bytes that can be read from any place, as often as needed.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// Those of a file.
    File(PathBuf),
    /// These.
    Bytes(Arc<[u8]>),
}

/// What can be read and gone back in.
pub(super) trait Bytes: Read + Seek {}

impl<T: Read + Seek> Bytes for T {}

impl Source {
    /// From the first byte on.
    ///
    /// # Errors
    /// When the file can't be opened, or is not one that can be read more than once.
    pub(super) fn open(&self) -> io::Result<Box<dyn Bytes>> {
        match self {
            Self::File(path) => {
                let file = File::open(path)?;
                if !file.metadata()?.is_file() {
                    return Err(io::Error::other("it is no regular file, and is read more than once"));
                }
                let bytes = file.metadata()?.len();
                Ok(Box::new(Counted::new(file, bytes)))
            }
            Self::Bytes(bytes) => Ok(Box::new(Cursor::new(Arc::clone(bytes)))),
        }
    }
}
