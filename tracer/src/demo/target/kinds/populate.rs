//! Pages populated with `madvise`: no page fault at all, but the thread's own counters count them.

use anyhow::{Context as _, Result};

use super::{
    super::memory::{Pages, Region, advise},
    Kind, Work,
};

pub(super) fn prepare(pages: usize) -> Result<Work> {
    let region = Region::anonymous(pages)?;
    advise(region.spare(), libc::MADV_POPULATE_WRITE)
        .context("madvise(MADV_POPULATE_WRITE) failed: it needs Linux 5.14 or later")?;
    Ok(Work::new(Kind::Populate, region, demo_populate_pages))
}

#[inline(never)]
fn demo_populate_pages(pages: Pages) {
    // It worked on the spare page; pages that are missing show in the thread's counters after the pause.
    let _ = advise(pages, libc::MADV_POPULATE_WRITE);
}
