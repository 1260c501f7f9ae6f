//! A file on a disk to be mapped, with pages far apart.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::FileExt as _,
    path::Path,
    process,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use rustix::fs::{Advice, fadvise};

use super::{Pages, state};

/// A read fault maps what else is cached in the same 64 KiB (Linux: `fault_around_bytes`): with one page in each
/// such window, each page is a fault of its own.
const FAULT_AROUND_BYTES: usize = 64 * 1024;

/// A file whose name is gone already, so that nothing is left behind however the process ends.
#[derive(Debug)]
pub(in super::super) struct BackingFile {
    file: File,
}

impl BackingFile {
    /// How far apart its pages are.
    pub(in super::super) fn stride_bytes() -> usize {
        FAULT_AROUND_BYTES.max(rustix::param::page_size())
    }

    /// Writes so many pages and a spare one; they are in the page cache and on the disk.
    pub(in super::super) fn create(directory: &Path, pages: usize) -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("pauselens-demo-{}-{number}", process::id()));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .with_context(|| format!("could not create {}", path.display()))?;
        fs::remove_file(&path).with_context(|| format!("could not remove {}", path.display()))?;
        // Without read-ahead, the page cache holds the pages that were written and nothing between them.
        fadvise(&file, 0, None, Advice::Random).context("posix_fadvise(RANDOM) failed")?;
        let contents = vec![0x5a; rustix::param::page_size()];
        let stride = Self::stride_bytes() as u64;
        for page in 0..=pages as u64 {
            file.write_all_at(&contents, page * stride).context("could not write the file to be mapped")?;
        }
        // Its size is that of the mapping.
        file.set_len((pages as u64 + 1) * stride).context("could not set the file's size")?;
        file.sync_all().context("could not write the mapped file to the disk")?;
        Ok(Self { file })
    }

    pub(in super::super) fn file(&self) -> &File {
        &self.file
    }

    /// Drops the file from the page cache. `pages` are its mapping, of which none may have been touched.
    pub(in super::super) fn evict(&self, pages: Pages) -> Result<()> {
        const TRIES: usize = 100;
        let mut left = pages.count();
        for _ in 0..TRIES {
            fadvise(&self.file, 0, None, Advice::DontNeed).context("posix_fadvise(DONTNEED) failed")?;
            left = state::cached(pages)?;
            if left == 0 {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(5));
        }
        bail!(
            "{left} of {} file pages stay in the page cache, although it was told to drop them. The file must be on \
             a disk: name a folder on one with --directory",
            pages.count()
        )
    }
}
