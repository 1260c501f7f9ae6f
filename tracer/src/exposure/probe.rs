//! How long a swap-in takes here: a few MiB of pauselens's own memory are swapped out and read back, page by page.
//!
//! The kernel keeps what it has just written to swap in its swap cache. So each page is written out, taken back in
//! from the cache, and dropped again, clean: `mincore(2)` tells of own memory whether the cache still has it
//! (`mm/mincore.c`, `mincore_swap`). A child process holds the pages' places in swap meanwhile. Then every timed access is a read of the device, which the thread's own count of
//! major faults confirms.

use std::{
    io,
    time::{Duration, Instant},
};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use thiserror::Error;

use super::{
    areas::{Areas, areas},
    holder::Holder,
    latency::Timed,
    model::Latency,
};
use crate::clock::monotonic_ns;

/// Read back at places far from each other.
const FAR_BYTES: usize = 4 << 20;
/// Read back from begin to end.
const SEQUENTIAL_BYTES: usize = 2 << 20;
/// Of this many pages one is read: further apart than the kernel reads ahead by default (8).
const APART_PAGES: usize = 8;
/// Getting the memory out may take this long.
const OUT_WITHIN: Duration = Duration::from_millis(1500);
/// Reading may take this long, on a slow disk.
const READ_WITHIN: Duration = Duration::from_millis(700);
/// Between two attempts to get the memory out.
const TRY_AGAIN: Duration = Duration::from_millis(10);
/// Fewer timed reads say little.
const FEWEST_READS: usize = 16;

/// Why there is no latency.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// The system refused.
    #[error(
        "the swap-in latency can't be measured: {what} of pauselens's own memory failed: {source}; Linux 5.4 or later has \
         what it needs"
    )]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The memory stayed.
    #[error(
        "only {out} of {of} pages of pauselens's own memory could be swapped out in {waited_ms} ms; its cgroup may \
         allow no swap (memory.swap.max, `cat /proc/self/cgroup` names it), or swap is full (`swapon --show`)"
    )]
    StaysInMemory {
        /// How many were out.
        out: usize,
        /// Of how many.
        of: usize,
        /// After how long.
        waited_ms: u128,
    },
    /// Nearly nothing came from the device.
    #[error(
        "of the pages of pauselens's own memory that were swapped out only {reads} had to be read back, {needed} are \
         needed; other processes' reads brought the others along: try again"
    )]
    FewReads {
        /// How many had to.
        reads: usize,
        /// How many are needed.
        needed: usize,
    },
}

/// What the probe has found.
#[derive(Clone, Debug)]
pub struct Probed {
    /// How long reads took.
    pub latency: Latency,
    /// Where the pages were.
    pub(super) areas: Areas,
}

/// Swaps a few MiB of our own out and times how they come back.
///
/// # Errors
/// See [`ProbeError`].
pub fn probe() -> Result<Probed, ProbeError> {
    let memory = Memory::new().map_err(|source| ProbeError::System { what: "mapping", source })?;
    memory.page_out()?;
    let _holder = Holder::start().map_err(|source| ProbeError::System { what: "forking", source })?;
    memory.swap_out()?;
    let areas = memory.areas()?;
    let timed = memory.read_back();
    if timed.far.len() < FEWEST_READS {
        return Err(ProbeError::FewReads { reads: timed.far.len(), needed: FEWEST_READS });
    }
    let latency = timed
        .latency((FAR_BYTES + SEQUENTIAL_BYTES) as u64)
        .ok_or(ProbeError::FewReads { reads: 0, needed: FEWEST_READS })?;
    Ok(Probed { latency, areas })
}

/// Anonymous memory of our own, of small pages.
struct Memory {
    start: *mut u8,
    bytes: usize,
    page_bytes: usize,
}

impl Memory {
    fn new() -> io::Result<Self> {
        let bytes = FAR_BYTES + SEQUENTIAL_BYTES;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        let memory = Self { start: start.cast(), bytes, page_bytes: rustix::param::page_size() };
        // SAFETY: the range is our own mapping. A kernel without huge pages refuses, and needs no telling.
        let _ = unsafe { madvise(start, bytes, Advice::LinuxNoHugepage) };
        // Not of one value, and no two pages alike: what stands for swap may compress, or merge them.
        let mut value = monotonic_ns() | 1;
        for word in (0..bytes).step_by(size_of::<u64>()) {
            // Marsaglia's xorshift.
            value ^= value << 13;
            value ^= value >> 7;
            value ^= value << 17;
            // SAFETY: inside our own mapping, which is writable and aligned to pages.
            unsafe { memory.start.add(word).cast::<u64>().write(value) };
        }
        Ok(memory)
    }

    fn pages(&self) -> usize {
        self.bytes / self.page_bytes
    }

    /// Reads one byte of a page.
    fn touch(&self, page: usize) {
        // SAFETY: inside our own mapping, which is readable.
        unsafe { self.start.add(page * self.page_bytes).read_volatile() };
    }

    fn page_out(&self) -> Result<(), ProbeError> {
        // SAFETY: the range is our own mapping; its contents stay what they are.
        unsafe { madvise(self.start.cast(), self.bytes, Advice::LinuxPageOut) }
            .map_err(|errno| ProbeError::System { what: "swapping out (MADV_PAGEOUT)", source: errno.into() })
    }

    /// Which pages are in memory, the swap cache included.
    fn there(&self) -> Result<Vec<bool>, ProbeError> {
        let mut there = vec![0_u8; self.pages()];
        // SAFETY: the range is our own mapping, and there is a byte for each of its pages.
        let status = unsafe { libc::mincore(self.start.cast(), self.bytes, there.as_mut_ptr()) };
        if status != 0 {
            return Err(ProbeError::System { what: "mincore", source: io::Error::last_os_error() });
        }
        Ok(there.into_iter().map(|page| page & 1 != 0).collect())
    }

    /// Most of it: a page or two can be kept by somebody else's look at it.
    fn swap_out(&self) -> Result<(), ProbeError> {
        let begin = Instant::now();
        loop {
            self.page_out()?;
            let there = self.there()?;
            let out = there.iter().filter(|there| !**there).count();
            if out * 20 >= self.pages() * 19 {
                return Ok(());
            }
            if begin.elapsed() >= OUT_WITHIN {
                let (of, waited_ms) = (self.pages(), begin.elapsed().as_millis());
                return Err(ProbeError::StaysInMemory { out, of, waited_ms });
            }
            std::thread::sleep(TRY_AGAIN);
            // From the swap cache, as soon as the device has it: then it can be dropped.
            for (page, _) in there.iter().enumerate().filter(|(_, there)| **there) {
                self.touch(page);
            }
        }
    }

    fn areas(&self) -> Result<Areas, ProbeError> {
        let start = self.start as u64;
        let range = (start, start + self.bytes as u64);
        areas(std::process::id(), std::iter::once(range), u64::MAX)
            .map_err(|source| ProbeError::System { what: "reading /proc/self/pagemap", source })
    }

    fn read_back(&self) -> Timed {
        let mut timed = Timed::default();
        let deadline = Instant::now() + READ_WITHIN;
        let far_pages = FAR_BYTES / self.page_bytes;
        for page in scattered(far_pages / APART_PAGES) {
            if Instant::now() > deadline {
                break;
            }
            let (ns, majors) = self.timed(page * APART_PAGES);
            if majors > 0 {
                timed.far.push(ns);
            }
        }
        for page in far_pages..self.pages() {
            if Instant::now() > deadline + READ_WITHIN {
                break;
            }
            let (ns, majors) = self.timed(page);
            timed.sequential_pages += 1;
            timed.sequential_ns += ns;
            timed.sequential_reads += majors;
        }
        timed
    }

    /// Time and major faults of one access.
    fn timed(&self, page: usize) -> (u64, u64) {
        let majors = major_faults();
        let begin = monotonic_ns();
        self.touch(page);
        let ns = monotonic_ns().saturating_sub(begin);
        (ns, major_faults().saturating_sub(majors))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: our own mapping, to which nothing points any more.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}

/// The numbers below `count`, each once, neighbours far from each other.
fn scattered(count: usize) -> impl Iterator<Item = usize> {
    // Steps of about 0.618 of the whole; odd, so that with a power of two each number comes once.
    let step = (count * 618 / 1000) | 1;
    (0..count).map(move |index| index * step % count.max(1))
}

/// This thread's major faults so far.
fn major_faults() -> u64 {
    // SAFETY: plain data, all zeros are a value of it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is live.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    u64::try_from(usage.ru_majflt).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_once_and_far_apart() {
        let order: Vec<usize> = scattered(128).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..128));
        assert!(order.windows(2).all(|two| two[0].abs_diff(two[1]) > 4));
    }
}
