//! What the kernel says of pages of this process: swapped out, in a cache.

use std::{fs::File, io, os::unix::fs::FileExt as _};

use anyhow::{Context as _, Result};

use super::Pages;

/// How many of the pages have a swap entry in the page table.
pub(in super::super) fn swapped(pages: Pages) -> Result<usize> {
    const SWAPPED: u64 = 1 << 62;
    let pagemap = File::open("/proc/self/pagemap").context("could not open /proc/self/pagemap")?;
    let page_bytes = rustix::param::page_size() as u64;
    let mut found = 0;
    for address in pages.addresses() {
        let mut entry = [0; 8];
        pagemap
            .read_exact_at(&mut entry, address as u64 / page_bytes * 8)
            .context("could not read /proc/self/pagemap")?;
        found += usize::from(u64::from_ne_bytes(entry) & SWAPPED != 0);
    }
    Ok(found)
}

/// How many of the pages are in memory: mapped, or in the page cache or the swap cache.
pub(in super::super) fn cached(pages: Pages) -> Result<usize> {
    let mut found = 0;
    for address in pages.addresses() {
        let mut resident = 0_u8;
        // SAFETY: the address is the begin of a mapped page, and the answer for one page is one byte.
        let status = unsafe { libc::mincore(address.cast(), rustix::param::page_size(), &raw mut resident) };
        if status != 0 {
            return Err(io::Error::last_os_error()).context("mincore failed");
        }
        found += usize::from(resident & 1);
    }
    Ok(found)
}
