//! Anonymous pages touched for the first time by the kernel, which copies into them inside `read(2)`.

use std::{fs::File, os::fd::AsRawFd as _};

use anyhow::{Context as _, Result};

use super::{
    super::memory::{Pages, Region},
    Kind, Work,
};

pub(super) fn prepare(pages: usize) -> Result<Work> {
    let zero = File::open("/dev/zero").context("could not open /dev/zero")?;
    Ok(Work::new(Kind::Kernel, Region::anonymous(pages)?, move |pages| {
        demo_read_into_fresh_pages(&zero, pages)
    }))
}

#[inline(never)]
fn demo_read_into_fresh_pages(zero: &File, pages: Pages) {
    let mut done = 0;
    while done < pages.span_bytes() {
        let (to, bytes) = (pages.first().wrapping_add(done), pages.span_bytes() - done);
        // SAFETY: the range is the rest of the run of pages, which is writable and used by nobody else.
        let got = unsafe { libc::read(zero.as_raw_fd(), to.cast(), bytes) };
        match usize::try_from(got) {
            Ok(got) if got > 0 => done += got,
            // The thread's counters, which are checked after the pause, show that pages are missing.
            _ => return,
        }
    }
}
