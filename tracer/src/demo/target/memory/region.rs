//! A mapping of its own for each kind of fault, set up so that each touched page is one fault.

use std::{fs::File, io, os::fd::AsRawFd as _, ptr};

use anyhow::{Context as _, Result};

use super::Pages;

/// A mapping: unmapped when dropped.
///
/// Huge pages are off, and children don't get it unless asked for: a fork would make its pages copy-on-write.
#[derive(Debug)]
pub(in super::super) struct Region {
    start: *mut u8,
    stride_bytes: usize,
    /// With the spare one.
    pages: usize,
    mapped: (*mut u8, usize),
}

impl Region {
    /// Private anonymous memory for so many pages and a spare one.
    pub(in super::super) fn anonymous(pages: usize) -> Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        Self::map(pages, rustix::param::page_size(), libc::PROT_READ | libc::PROT_WRITE, flags, -1)
    }

    /// Shared anonymous memory.
    pub(in super::super) fn shared(pages: usize) -> Result<Self> {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        Self::map(pages, rustix::param::page_size(), libc::PROT_READ | libc::PROT_WRITE, flags, -1)
    }

    /// A file, mapped privately and writable, with a page every `stride_bytes`. Read-ahead is off.
    pub(in super::super) fn private_file(file: &File, pages: usize, stride_bytes: usize) -> Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let region = Self::map(pages, stride_bytes, protection, libc::MAP_PRIVATE, file.as_raw_fd())?;
        region.advise(libc::MADV_RANDOM, "MADV_RANDOM")?;
        Ok(region)
    }

    /// Private anonymous memory for so many huge pages and a spare one, aligned as they are.
    pub(in super::super) fn anonymous_huge(pages: usize, huge_bytes: usize) -> Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // One more than needed: somewhere in it is an aligned run.
        let mut region = Self::map(pages + 1, huge_bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1)?;
        let aligned = (region.start as usize).next_multiple_of(huge_bytes);
        region.start = region.start.wrapping_add(aligned - region.start as usize);
        region.pages -= 1;
        Ok(region)
    }

    fn map(
        pages: usize,
        stride_bytes: usize,
        protection: libc::c_int,
        flags: libc::c_int,
        fd: libc::c_int,
    ) -> Result<Self> {
        let pages = pages + 1;
        let bytes = pages * stride_bytes;
        // SAFETY: a new mapping at an address of the kernel's choice: no existing memory is touched.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error()).with_context(|| format!("could not map {bytes} bytes"));
        }
        let mapped = (start.cast(), bytes);
        let region = Self { start: start.cast(), stride_bytes, pages, mapped };
        // A kernel without huge pages refuses this, and has no need of it.
        let _ = region.advise(libc::MADV_NOHUGEPAGE, "MADV_NOHUGEPAGE");
        region.advise(libc::MADV_DONTFORK, "MADV_DONTFORK")?;
        Ok(region)
    }

    /// Gives the whole region an advice.
    pub(in super::super) fn advise(&self, advice: libc::c_int, name: &str) -> Result<()> {
        advise(self.all(), advice).with_context(|| format!("madvise({name}) failed"))
    }

    /// Sets the whole region's protection.
    pub(in super::super) fn protect(&self, protection: libc::c_int) -> Result<()> {
        let all = self.all();
        // SAFETY: the range is this region, which is touched only by whoever knows its protection.
        if unsafe { libc::mprotect(all.first().cast(), all.span_bytes(), protection) } != 0 {
            return Err(io::Error::last_os_error()).context("mprotect failed");
        }
        Ok(())
    }

    /// Every page.
    pub(in super::super) fn all(&self) -> Pages {
        Pages::new(self.start, self.stride_bytes, self.pages)
    }

    /// The page for the rehearsal.
    pub(in super::super) fn spare(&self) -> Pages {
        Pages::new(self.start, self.stride_bytes, 1)
    }

    /// The pages for the pause.
    pub(in super::super) fn rest(&self) -> Pages {
        Pages::new(self.start.wrapping_add(self.stride_bytes), self.stride_bytes, self.pages - 1)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let (start, bytes) = self.mapped;
        // SAFETY: the range was mapped by `map` and nothing refers to it any more. An error can't be acted upon.
        unsafe { libc::munmap(start.cast(), bytes) };
    }
}

/// Gives a run of pages an advice.
pub(in super::super) fn advise(pages: Pages, advice: libc::c_int) -> io::Result<()> {
    // SAFETY: only advices that keep the contents, or that the owner of the pages wants, are given.
    if unsafe { libc::madvise(pages.first().cast(), pages.span_bytes(), advice) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
