//! The mapping of this program's own code, and which of its pages are on the disk only.

use std::{fs::File, io, os::fd::AsRawFd as _, process};

use anyhow::{Context as _, Result};

use super::{super::world, Pages, state};
use crate::target::read_maps;

/// A read fault maps what else is cached in the same window (Linux: `fault_around_bytes`).
const WINDOW_BYTES: usize = 64 * 1024;

/// `cachestat`, the same on all architectures; since Linux 6.5.
const CACHESTAT: libc::c_long = 451;

/// It.
#[derive(Debug)]
pub(in super::super) struct OwnText {
    start: usize,
    end: usize,
    /// Where `start` is in the file.
    offset_bytes: u64,
    file: File,
}

/// Finds it: it is where the pause functions are.
pub(in super::super) fn mapping() -> Result<OwnText> {
    let function = world::pauselens_demo_stop_world as *const () as u64;
    let mappings = read_maps(process::id()).context("could not read /proc/self/maps")?;
    let text = mappings
        .iter()
        .find(|mapping| mapping.contains(function))
        .context("/proc/self/maps does not have this program's own code")?;
    Ok(OwnText {
        start: usize::try_from(text.start)?,
        end: usize::try_from(text.end)?,
        offset_bytes: text.offset_bytes,
        file: File::open("/proc/self/exe").context("could not open /proc/self/exe")?,
    })
}

impl OwnText {
    pub(in super::super) fn all(&self) -> Pages {
        Pages::new(self.start as *mut u8, self.end - self.start, 1)
    }

    /// One page in each window: mapping one maps no other.
    pub(in super::super) fn one_in_each_window(&self) -> impl Iterator<Item = *mut u8> {
        (self.start.next_multiple_of(WINDOW_BYTES)..self.end)
            .step_by(WINDOW_BYTES)
            .map(|address| address as *mut u8)
    }

    /// Whether a page of it is not in the page cache, and not on its way there either.
    pub(in super::super) fn on_disk_only(&self, address: *mut u8) -> Result<bool> {
        let page_bytes = rustix::param::page_size();
        let offset = self.offset_bytes + (address as usize - self.start) as u64;
        let range = [offset, page_bytes as u64];
        let mut counts = [0_u64; 5];
        // SAFETY: pointers to what the call reads and writes: `struct cachestat_range` is two u64, `struct cachestat` five.
        let status = unsafe {
            libc::syscall(CACHESTAT, self.file.as_raw_fd(), range.as_ptr(), counts.as_mut_ptr(), 0_u32)
        };
        if status == 0 {
            return Ok(counts[0] == 0);
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::ENOSYS) {
            return Err(error).context("cachestat failed");
        }
        // An older kernel. What is on its way to the cache does not show there.
        Ok(state::cached(Pages::new(address, page_bytes, 1))? == 0)
    }
}
