//! Which swap areas pages are in: a latency that was measured in one says nothing of another.
//!
//! An entry of the page map holds the number of the area for what is swapped out
//! (`Documentation/admin-guide/mm/pagemap.rst`, bits 0 to 4).

use std::{collections::BTreeMap, fs::File, io, os::unix::fs::FileExt as _};

const SWAPPED: u64 = 1 << 62;
const PRESENT: u64 = 1 << 63;
const AREA: u64 = 0x1f;
/// Entries read at once.
const ENTRIES: u64 = 32 * 1024;

/// Pages by the area that they are in. The kernel counts areas from 0.
pub(super) type Areas = BTreeMap<u64, u64>;

/// Looks at these ranges of addresses, at no more than `most_pages` pages of them.
///
/// # Errors
/// When the page map can't be read.
pub(super) fn areas(
    pid: u32,
    ranges: impl Iterator<Item = (u64, u64)>,
    most_pages: u64,
) -> io::Result<Areas> {
    let page_bytes = rustix::param::page_size() as u64;
    let pagemap = File::open(format!("/proc/{pid}/pagemap"))?;
    let mut areas = Areas::new();
    let mut left = most_pages;
    let mut entries = Vec::new();
    for (start, end) in ranges {
        let mut page = start / page_bytes;
        let last = end / page_bytes;
        while page < last && left > 0 {
            let pages = (last - page).min(ENTRIES).min(left);
            entries.resize(usize::try_from(pages * 8).unwrap_or(0), 0);
            let read = pagemap.read_at(&mut entries, page * 8)?;
            if read == 0 {
                break;
            }
            for entry in entries[..read].as_chunks::<8>().0 {
                let entry = u64::from_ne_bytes(*entry);
                if entry & (PRESENT | SWAPPED) == SWAPPED {
                    *areas.entry(entry & AREA).or_default() += 1;
                }
            }
            page += pages;
            left -= pages;
        }
    }
    Ok(areas)
}

/// Whether nearly all of the first are in areas of the second: then what was measured there holds for them. Nothing
/// seen contradicts nothing.
pub(super) fn is_same(pages: &Areas, measured: &Areas) -> bool {
    let all: u64 = pages.values().sum();
    let in_measured: u64 =
        pages.iter().filter(|(area, _)| measured.contains_key(area)).map(|(_, pages)| pages).sum();
    // And the measured ones are not spread over several, of which the pages use one.
    let measured_all: u64 = measured.values().sum();
    let of_use: u64 = measured.iter().filter(|(area, _)| pages.contains_key(area)).map(|(_, n)| n).sum();
    all == 0 || (in_measured * 10 >= all * 9 && of_use * 10 >= measured_all * 9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_area_is_another_latency() {
        let of = |pages: &[(u64, u64)]| pages.iter().copied().collect::<Areas>();
        assert!(is_same(&of(&[]), &of(&[(0, 10)])));
        assert!(is_same(&of(&[(0, 95), (1, 5)]), &of(&[(0, 10)])));
        assert!(!is_same(&of(&[(0, 50), (1, 50)]), &of(&[(0, 10)])));
        assert!(!is_same(&of(&[(1, 50)]), &of(&[(0, 10)])));
        assert!(!is_same(&of(&[(1, 50)]), &of(&[(0, 5), (1, 5)])));
    }
}
