//! Shared memory touched for the first time.

use anyhow::Result;

use super::{
    super::memory::{Pages, Region},
    Kind, Work,
};

pub(super) fn prepare(pages: usize) -> Result<Work> {
    Ok(Work::new(Kind::SharedMemory, Region::shared(pages)?, demo_touch_shared_memory))
}

// By writing: reads map what else is there around the page.
#[inline(never)]
fn demo_touch_shared_memory(pages: Pages) {
    pages.write_each(8);
}
