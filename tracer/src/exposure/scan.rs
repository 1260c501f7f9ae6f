//! `PAGEMAP_SCAN`: the kernel walks the page tables and returns runs of pages that are in memory or swapped out. Holes
//! cost nothing, however large they are.
//!
//! Linux 6.7 and later, `include/uapi/linux/fs.h` and `Documentation/admin-guide/mm/pagemap.rst`.

use std::{fs::File, io, os::fd::AsRawFd as _};

use bytemuck::{Pod, Zeroable};

/// `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: libc::c_ulong = 0xc060_6610;
const PAGE_IS_FILE: u64 = 1 << 2;
const PAGE_IS_PRESENT: u64 = 1 << 3;
const PAGE_IS_SWAPPED: u64 = 1 << 4;
const PAGE_IS_PFNZERO: u64 = 1 << 5;
/// Runs returned at once: 24 bytes each.
const RUNS: usize = 4096;

/// `struct pm_scan_arg`.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Argument {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Run {
    start: u64,
    end: u64,
    categories: u64,
}

/// What one call has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scanned {
    /// Bytes in memory. The page of zeros that stands for memory which was only read is not among them.
    pub(super) resident_bytes: u64,
    /// Of them, pages of files and of shared memory.
    pub(super) resident_file_bytes: u64,
    /// Bytes swapped out.
    pub(super) swapped_bytes: u64,
    /// Where the next call has to begin.
    pub(super) next: u64,
}

/// The buffer of the calls.
#[derive(Debug)]
pub(super) struct Scanner {
    runs: Vec<u64>,
}

impl Scanner {
    pub(super) fn new() -> Self {
        Self { runs: vec![0; RUNS * size_of::<Run>() / 8] }
    }

    /// Looks at `start..end`, or at a first part of it.
    ///
    /// # Errors
    /// `ENOTTY` where the kernel does not have it.
    pub(super) fn scan(&mut self, pagemap: &File, start: u64, end: u64) -> io::Result<Scanned> {
        let mut argument = Argument {
            size: size_of::<Argument>() as u64,
            start,
            end,
            vec: self.runs.as_mut_ptr() as u64,
            vec_len: RUNS as u64,
            category_anyof_mask: PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
            return_mask: PAGE_IS_FILE | PAGE_IS_PRESENT | PAGE_IS_SWAPPED | PAGE_IS_PFNZERO,
            ..Argument::default()
        };
        // SAFETY: the argument is a live `pm_scan_arg` of the size that it says, and `vec` points to room for
        // `vec_len` `page_region`s, which lives as long as `self`.
        let found = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN, &raw mut argument) };
        let found = usize::try_from(found).map_err(|_| io::Error::last_os_error())?;
        let runs: &[Run] = &bytemuck::cast_slice(&self.runs)[..found];
        // `walk_end` can lie before runs that were returned: it is where the kernel's own small buffer was full for the
        // last time (`fs/proc/task_mmu.c`, `do_pagemap_scan`). With room left in ours, the whole range was looked at.
        let full = found == RUNS;
        let next = runs.last().filter(|_| full).map_or(end, |run| run.end);
        let mut scanned = Scanned { next, ..Scanned::default() };
        for run in runs {
            let bytes = run.end.saturating_sub(run.start);
            if run.categories & PAGE_IS_SWAPPED != 0 {
                scanned.swapped_bytes += bytes;
            } else if run.categories & PAGE_IS_PFNZERO == 0 {
                scanned.resident_bytes += bytes;
                if run.categories & PAGE_IS_FILE != 0 {
                    scanned.resident_file_bytes += bytes;
                }
            }
        }
        Ok(scanned)
    }
}
