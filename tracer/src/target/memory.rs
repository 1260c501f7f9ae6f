//! Reads a process's memory without changing anything about it: only pages that are in memory now.
//!
//! Reading a page that is swapped out would bring it back, and reading one that was never touched would map it: both
//! would change the very pauses that are measured. `/proc/PID/pagemap` tells what is present (bit 63 of an entry; Linux
//! `Documentation/admin-guide/mm/pagemap.rst`), `/proc/PID/mem` is read then. Between the two a page can still go; that is
//! as rare as it is short. What remains is that the kernel counts a read page as used: so as few as possible are read.

use std::{fs::File, io, os::unix::fs::FileExt as _};

use thiserror::Error;

const PRESENT: u64 = 1 << 63;

/// Reads memory by address.
pub trait ReadMemory {
    /// Fills the bytes from memory at `address`, all of them or none that count.
    ///
    /// # Errors
    /// See [`Unread`].
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unread>;

    /// The same of memory that the program itself never uses, such as a table for debuggers: a page of it that is not in
    /// memory is brought in, which no pause of the program can notice. The kernel counts that fault as ours.
    ///
    /// # Errors
    /// See [`Unread`].
    fn read_unused(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unread> {
        self.read(address, bytes)
    }
}

/// Why memory was not read.
#[derive(Debug, Error)]
pub enum Unread {
    /// The page is not in memory: swapped out, or never touched. It is left alone.
    #[error("the page at {address:#x} is not in memory, and reading it would bring it in")]
    NotPresent {
        /// The page.
        address: u64,
    },
    /// It can't be read: it is not mapped any more, the process has ended, or it is not permitted.
    #[error("{what} can't be read at {address:#x}: {source}")]
    Failed {
        /// What was being read.
        what: &'static str,
        /// Where.
        address: u64,
        /// What the system said.
        source: io::Error,
    },
}

/// The memory of a process.
#[derive(Debug)]
pub struct PresentMemory {
    memory: File,
    pagemap: File,
    page_bytes: u64,
}

impl PresentMemory {
    /// Opens the memory of a process.
    ///
    /// # Errors
    /// It is gone, or may not be read.
    pub fn open(pid: u32) -> io::Result<Self> {
        let open = |name: &str| {
            let path = format!("/proc/{pid}/{name}");
            File::open(&path).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
        };
        let page_bytes = rustix::param::page_size() as u64;
        Ok(Self { memory: open("mem")?, pagemap: open("pagemap")?, page_bytes })
    }

    fn check_present(&self, address: u64, length: u64) -> Result<(), Unread> {
        let first = address / self.page_bytes;
        let last = address.saturating_add(length.saturating_sub(1)) / self.page_bytes;
        let mut entries = vec![0; usize::try_from(last - first + 1).unwrap_or(0) * 8];
        self.pagemap
            .read_exact_at(&mut entries, first.saturating_mul(8))
            .map_err(|source| Unread::Failed { what: "/proc/PID/pagemap", address, source })?;
        for (page, entry) in (first..).zip(entries.as_chunks::<8>().0) {
            if u64::from_le_bytes(*entry) & PRESENT == 0 {
                return Err(Unread::NotPresent { address: page * self.page_bytes });
            }
        }
        Ok(())
    }
}

impl ReadMemory for PresentMemory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unread> {
        self.check_present(address, bytes.len() as u64)?;
        self.read_unused(address, bytes)
    }

    fn read_unused(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unread> {
        self.memory.read_exact_at(bytes, address).map_err(|source| Unread::Failed {
            what: "/proc/PID/mem",
            address,
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};

    use super::*;

    #[test]
    fn present_pages_are_read_and_others_left_alone() {
        let page = rustix::param::page_size();
        // SAFETY: new memory at a place of the kernel's choice, and never unmapped.
        let start = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                3 * page,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }
        .unwrap()
        .cast::<u8>();
        // SAFETY: our own memory; huge pages would make the neighbours present.
        unsafe { madvise(start.cast(), 3 * page, Advice::LinuxNoHugepage) }.ok();
        // SAFETY: inside the mapping above.
        unsafe { start.add(page).write_volatile(7) };
        let memory = PresentMemory::open(std::process::id()).unwrap();
        let address = start as u64;
        let mut bytes = [0; 16];
        memory.read(address + page as u64, &mut bytes).unwrap();
        assert_eq!(bytes[0], 7);
        // The one before was never touched, and is not touched by trying.
        for _ in 0..2 {
            let error = memory.read(address + page as u64 - 8, &mut bytes).unwrap_err();
            assert!(matches!(error, Unread::NotPresent { address: at } if at == address), "{error}");
        }
        let error = memory.read(0x1000, &mut bytes).unwrap_err();
        assert!(matches!(error, Unread::NotPresent { .. }), "{error}");
    }

    #[test]
    fn a_process_that_is_gone_has_no_memory() {
        // Larger than any pid_max (2^22).
        let error = PresentMemory::open(1 << 23).unwrap_err();
        assert!(error.to_string().contains("/proc/8388608/mem"), "{error}");
    }
}
