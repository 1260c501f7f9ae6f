//! Cold pages of a file, read with `read(2)` into memory that is there: the driver waits for the disk, and not in a fault.

use std::{
    cell::{Cell, RefCell},
    fs::File,
    os::fd::AsRawFd as _,
    path::Path,
};

use anyhow::{Result, ensure};

use super::{
    super::memory::{BackingFile, Region},
    Act,
};

#[derive(Debug)]
struct FileIo {
    backing: BackingFile,
    /// Without the spare one.
    pages: usize,
    buffer: RefCell<Vec<u8>>,
    read_pages: Cell<usize>,
}

pub(super) fn prepare(pages: usize, directory: &Path) -> Result<Box<dyn Act>> {
    let backing = BackingFile::create(directory, pages)?;
    // Only to see which of its pages are in the page cache.
    let region = Region::private_file(backing.file(), pages, BackingFile::stride_bytes())?;
    backing.evict(region.all())?;
    let buffer = RefCell::new(vec![1; rustix::param::page_size()]);
    Ok(Box::new(FileIo { backing, pages, buffer, read_pages: Cell::new(0) }))
}

impl Act for FileIo {
    fn rehearse(&self) {
        // The spare page.
        self.read_pages.set(demo_reads_cold_file(self.backing.file(), 0..1, &mut self.buffer.borrow_mut()));
    }

    fn perform(&self) {
        let pages = 1..self.pages + 1;
        self.read_pages.set(demo_reads_cold_file(self.backing.file(), pages, &mut self.buffer.borrow_mut()));
    }

    fn outcome(&self) -> Result<()> {
        let read = self.read_pages.get();
        ensure!(read == self.pages, "only {read} of {} file pages could be read", self.pages);
        Ok(())
    }
}

/// Returns how many could be read.
#[inline(never)]
fn demo_reads_cold_file(file: &File, pages: std::ops::Range<usize>, buffer: &mut [u8]) -> usize {
    let mut read = 0;
    for page in pages {
        let offset = (page * BackingFile::stride_bytes()) as i64;
        // SAFETY: the buffer is valid for writes of its length.
        let got =
            unsafe { libc::pread(file.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), offset as _) };
        read += usize::from(usize::try_from(got).is_ok_and(|got| got == buffer.len()));
    }
    read
}
