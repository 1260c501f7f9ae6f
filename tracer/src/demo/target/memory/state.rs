//! What the kernel says of pages of this process: there, swapped out, in a cache, huge.

use std::{fs, fs::File, io, os::unix::fs::FileExt as _};

use anyhow::{Context as _, Result};

use super::Pages;

// Bits of an entry of /proc/PID/pagemap: Documentation/admin-guide/mm/pagemap.rst.
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const FILE_OR_SHARED: u64 = 1 << 61;

/// How many of the pages have a swap entry in the page table.
pub(in super::super) fn swapped(pages: Pages) -> Result<usize> {
    with_flags(pages, SWAPPED)
}

/// How many of the pages are in the page table.
pub(in super::super) fn present(pages: Pages) -> Result<usize> {
    with_flags(pages, PRESENT)
}

/// Whether all of the pages are there, and are the file's and no private copies.
pub(in super::super) fn is_of_file(pages: Pages) -> Result<bool> {
    Ok(with_flags(pages, PRESENT | FILE_OR_SHARED)? == pages.count())
}

fn with_flags(pages: Pages, flags: u64) -> Result<usize> {
    let pagemap = File::open("/proc/self/pagemap").context("could not open /proc/self/pagemap")?;
    let page_bytes = rustix::param::page_size() as u64;
    let mut found = 0;
    for address in pages.addresses() {
        let mut entry = [0; 8];
        pagemap
            .read_exact_at(&mut entry, address as u64 / page_bytes * 8)
            .context("could not read /proc/self/pagemap")?;
        found += usize::from(u64::from_ne_bytes(entry) & flags == flags);
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

/// Size of a transparent huge page; `None` on a kernel that has none.
pub(in super::super) fn huge_page_bytes() -> Option<usize> {
    fs::read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").ok()?.trim().parse().ok()
}

/// How much of the memory is in huge pages, by `/proc/self/smaps`: the mappings that the run of pages is in must have
/// nothing else in huge pages.
pub(in super::super) fn in_huge_pages_bytes(pages: Pages) -> Result<u64> {
    let smaps = fs::read_to_string("/proc/self/smaps").context("could not read /proc/self/smaps")?;
    let first = pages.first() as u64;
    Ok(huge_bytes_of(&smaps, first, first + pages.span_bytes() as u64))
}

fn huge_bytes_of(smaps: &str, first: u64, end: u64) -> u64 {
    let mut inside = false;
    let mut bytes = 0;
    for line in smaps.lines() {
        if let Some((from, to)) = range(line) {
            inside = from < end && first < to;
        } else if inside && let Some(rest) = line.strip_prefix("AnonHugePages:") {
            let kib: u64 = rest.trim().trim_end_matches("kB").trim().parse().unwrap_or(0);
            bytes += kib * 1024;
        }
    }
    bytes
}

/// The range of a mapping's first line.
fn range(line: &str) -> Option<(u64, u64)> {
    let (from, to) = line.split_whitespace().next()?.split_once('-')?;
    Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0 
Rss:                4096 kB
AnonHugePages:      2048 kB
7f0000400000-7f0000600000 rw-p 00000000 00:00 0 
AnonHugePages:         0 kB
7f0000600000-7f0000a00000 rw-p 00000000 00:00 0 
AnonHugePages:      4096 kB
";

    #[test]
    fn huge_pages_of_the_mappings_that_a_range_is_in() {
        assert_eq!(huge_bytes_of(SMAPS, 0x7f00_0020_0000, 0x7f00_0040_0000), 2 << 20);
        assert_eq!(huge_bytes_of(SMAPS, 0x7f00_0040_0000, 0x7f00_0060_0000), 0);
        assert_eq!(huge_bytes_of(SMAPS, 0x7f00_0000_0000, 0x7f00_00a0_0000), 6 << 20);
        assert_eq!(huge_bytes_of(SMAPS, 0x1000, 0x2000), 0);
    }
}
