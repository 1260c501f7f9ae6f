//! How far this program has read the recording that it is reading: for those who wait.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

static TIMES: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static OF_BYTES: AtomicU64 = AtomicU64::new(0);

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// How often one has been begun, by any reader: each report goes through its recording more than once.
    pub times: u64,
    /// What has been read of the last one.
    pub bytes: u64,
    /// Its size.
    pub of_bytes: u64,
}

/// How far it is now.
#[must_use]
pub fn reading() -> Reading {
    Reading { times: TIMES.load(Relaxed), bytes: BYTES.load(Relaxed), of_bytes: OF_BYTES.load(Relaxed) }
}

/// A file whose reading is counted.
#[derive(Debug)]
pub(super) struct Counted(File);

impl Counted {
    /// From its begin; it has so many bytes.
    pub(super) fn new(file: File, of_bytes: u64) -> Self {
        TIMES.fetch_add(1, Relaxed);
        BYTES.store(0, Relaxed);
        OF_BYTES.store(of_bytes, Relaxed);
        Self(file)
    }
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(into)?;
        BYTES.fetch_add(read as u64, Relaxed);
        Ok(read)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = self.0.seek(to)?;
        BYTES.store(place, Relaxed);
        Ok(place)
    }
}
