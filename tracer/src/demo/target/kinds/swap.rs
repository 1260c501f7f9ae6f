//! Anonymous pages that were swapped out.

use std::{thread, time::Duration};

use anyhow::{Context as _, Result, bail};

use super::{
    super::memory::{Pages, Region, advise, state},
    Kind, Work,
};

pub(super) fn prepare(pages: usize) -> Result<Work> {
    let region = Region::anonymous(pages)?;
    fill(region.all());
    page_out(region.all())?;
    // The first time, the pages are written to the swap area and stay in the swap cache. Once they have been read back
    // they are clean copies of what the area holds, and the second time they are dropped at once.
    region.all().read_each(0);
    page_out(region.all())?;
    leave_swap_cache(region.all())?;
    Ok(Work::scattered(Kind::Swap, region, demo_read_swapped_pages))
}

/// Contents that compress as a program's data does, into many short pieces, where the swap area compresses (zram, zswap): pages
/// of a single value never reach it, and what does not compress at all is only copied.
fn fill(pages: Pages) {
    const VOCABULARY: usize = 256;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let vocabulary: [u32; VOCABULARY] = std::array::from_fn(|_| next() as u32);
    let words = rustix::param::page_size() / size_of::<u32>();
    for address in pages.addresses() {
        for word in 0..words {
            let value = vocabulary[(next() >> 32) as usize % VOCABULARY];
            // SAFETY: the word is inside the page, which is writable and aligned to more than a word.
            unsafe { address.cast::<u32>().wrapping_add(word).write_volatile(value) };
        }
    }
}

/// Until every page has a swap entry. A page that another CPU has still in hand is passed over by the kernel.
fn page_out(pages: Pages) -> Result<()> {
    const TRIES: usize = 200;
    let mut swapped = 0;
    for _ in 0..TRIES {
        advise(pages, libc::MADV_PAGEOUT)
            .context("madvise(MADV_PAGEOUT) failed: it needs Linux 5.4 or later")?;
        swapped = state::swapped(pages)?;
        if swapped == pages.count() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(5));
    }
    bail!(
        "only {swapped} of {} pages could be swapped out. Is the swap area full? See /proc/swaps",
        pages.count()
    )
}

/// Until no page is in the swap cache.
fn leave_swap_cache(pages: Pages) -> Result<()> {
    const TRIES: usize = 20;
    for _ in 0..TRIES {
        if state::cached(pages)? == 0 {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(5));
        pages.read_each(0);
        page_out(pages)?;
    }
    // Each page is one fault all the same, only a quicker one.
    Ok(())
}

#[inline(never)]
fn demo_read_swapped_pages(pages: Pages) {
    pages.read_each(10);
}
