//! The pages of a range of another process's addresses: how many are in memory, how many are swapped out.
//!
//! `/proc/PID/pagemap`, `Documentation/admin-guide/mm/pagemap.rst`. The ioctl where the kernel has it, else plain reads
//! of 8 bytes a page through a buffer of fixed size.

use std::{fs::File, io, os::unix::fs::FileExt as _, time::Instant};

use super::{scan::Scanner, zero_page::zero_frame};

/// Bit 61 of an entry: a page of a file, or of shared memory.
const FILE: u64 = 1 << 61;
/// Bit 62 of an entry: swapped out.
const SWAPPED: u64 = 1 << 62;
/// Bit 63 of an entry: in memory.
const PRESENT: u64 = 1 << 63;
/// Bits 0 to 54 of an entry of a page in memory: its frame; 0 for those who may not see it.
const FRAME: u64 = (1 << 55) - 1;
/// Entries read at once.
const ENTRIES: usize = 32 * 1024;

/// Pages of a range, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) resident_bytes: u64,
    /// Of them, pages of files and of shared memory.
    pub(super) resident_file_bytes: u64,
    pub(super) swapped_bytes: u64,
}

/// The open page map of a process.
#[derive(Debug)]
pub(super) struct Pages {
    file: File,
    page_bytes: u64,
    /// `None`: the kernel does not have the ioctl.
    scanner: Option<Scanner>,
    /// The page of zeros that stands for memory which was only read; `None` when it can't be told from others. The ioctl
    /// tells by itself.
    zero_frame: Option<u64>,
    entries: Vec<u8>,
}

impl Pages {
    /// Opens it.
    ///
    /// # Errors
    /// When it may not be read, or the process is gone.
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let file = File::open(format!("/proc/{pid}/pagemap"))?;
        let mut scanner = Scanner::new();
        let scans = scanner.scan(&file, 0, 0).is_ok();
        let page_bytes = rustix::param::page_size() as u64;
        let zero_frame = if scans { None } else { zero_frame() };
        Ok(Self { file, page_bytes, scanner: scans.then_some(scanner), zero_frame, entries: Vec::new() })
    }

    /// For tests: the way of kernels before 6.7.
    #[cfg(test)]
    pub(super) fn without_scan(mut self) -> Self {
        self.scanner = None;
        self.zero_frame = zero_frame();
        self
    }

    /// How pages are read.
    pub(super) fn read_by(&self) -> &'static str {
        if self.scanner.is_some() { "PAGEMAP_SCAN" } else { "pagemap" }
    }

    /// Whether ranges that hold nothing cost nothing.
    pub(super) fn skips_holes(&self) -> bool {
        self.scanner.is_some()
    }

    /// Counts the pages of a range. `None`: not done by the deadline. A range in which nothing is mapped holds nothing.
    ///
    /// # Errors
    /// When the map can't be read any more.
    pub(super) fn count(&mut self, start: u64, end: u64, deadline: Instant) -> io::Result<Option<Counted>> {
        let mut counted = Counted::default();
        let mut at = start;
        while at < end {
            if Instant::now() > deadline {
                return Ok(None);
            }
            let next = match &mut self.scanner {
                Some(scanner) => {
                    let scanned = scanner.scan(&self.file, at, end)?;
                    counted.resident_bytes += scanned.resident_bytes;
                    counted.resident_file_bytes += scanned.resident_file_bytes;
                    counted.swapped_bytes += scanned.swapped_bytes;
                    scanned.next
                }
                None => self.read(at, end, &mut counted)?,
            };
            if next <= at {
                break;
            }
            at = next;
        }
        Ok(Some(counted))
    }

    fn read(&mut self, at: u64, end: u64, counted: &mut Counted) -> io::Result<u64> {
        let pages = usize::try_from((end - at) / self.page_bytes).unwrap_or(ENTRIES).min(ENTRIES);
        self.entries.resize(pages * 8, 0);
        let read = self.file.read_at(&mut self.entries, at / self.page_bytes * 8)?;
        let mut next = at;
        for entry in self.entries[..read].as_chunks::<8>().0 {
            let entry = u64::from_ne_bytes(*entry);
            if entry & PRESENT != 0 && self.zero_frame == Some(entry & FRAME) {
                // Memory that holds nothing of its own.
            } else if entry & PRESENT != 0 {
                counted.resident_bytes += self.page_bytes;
                if entry & FILE != 0 {
                    counted.resident_file_bytes += self.page_bytes;
                }
            } else if entry & SWAPPED != 0 {
                counted.swapped_bytes += self.page_bytes;
            }
            next += self.page_bytes;
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// This test's own memory, both ways: more runs of pages than are returned at once, and one long run.
    #[test]
    fn both_ways_count_the_same() {
        const PAGES: usize = 10_000;
        let page = rustix::param::page_size();
        let mut all = vec![0_u8; (PAGES + 1) * page];
        let first = (all.as_ptr() as usize).next_multiple_of(page);
        let offset = first - all.as_ptr() as usize;
        let written = || (0..100).chain((100..PAGES).step_by(2));
        for index in written() {
            all[offset + index * page] = 1;
        }
        // Where frames can't be seen, what was only read can't be told from what was written.
        for index in (101..PAGES).step_by(2).filter(|_| zero_frame().is_some()).take(500) {
            assert_eq!(std::hint::black_box(&all)[offset + index * page], 0);
        }
        let deadline = Instant::now() + Duration::from_secs(10);
        let (start, end) = (first as u64, (first + PAGES * page) as u64);
        let ours = || Pages::open(std::process::id());
        for pages in [ours(), ours().map(Pages::without_scan)] {
            let mut pages = pages.unwrap();
            let counted = pages.count(start, end, deadline).unwrap().unwrap();
            let here = counted.resident_bytes + counted.swapped_bytes;
            let expected = (written().count() * page) as u64;
            // Where the kernel makes huge pages of everything, all of it can be there.
            let all = (PAGES * page) as u64;
            let fits = here == expected || (huge_pages_always() && (expected..=all).contains(&here));
            assert!(fits, "{here}, not {expected} by {}", pages.read_by());
        }
        drop(all);
    }

    fn huge_pages_always() -> bool {
        std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
            .is_ok_and(|text| text.contains("[always]"))
    }

    #[test]
    fn nothing_is_where_nothing_is_mapped() {
        let deadline = Instant::now() + Duration::from_secs(10);
        for pages in
            [Pages::open(std::process::id()), Pages::open(std::process::id()).map(Pages::without_scan)]
        {
            let counted = pages.unwrap().count(0x1000, 0x9000, deadline).unwrap();
            assert_eq!(counted, Some(Counted::default()));
        }
    }

    #[test]
    fn a_deadline_ends_it() {
        let mut pages = Pages::open(std::process::id()).unwrap().without_scan();
        let past = Instant::now() - Duration::from_millis(1);
        assert_eq!(pages.count(0, 1 << 46, past).unwrap(), None);
    }
}
