//! Anonymous pages touched for the first time, by writing or by reading.

use anyhow::Result;

use super::{
    super::memory::{Pages, Region},
    Kind, Work,
};

pub(super) fn prepare_writes(pages: usize) -> Result<Work> {
    Ok(Work::new(Kind::FirstTouch, Region::anonymous(pages)?, demo_touch_fresh_pages))
}

pub(super) fn prepare_reads(pages: usize) -> Result<Work> {
    Ok(Work::new(Kind::ZeroPageRead, Region::anonymous(pages)?, demo_read_fresh_pages))
}

#[inline(never)]
fn demo_touch_fresh_pages(pages: Pages) {
    pages.write_each(1);
}

#[inline(never)]
fn demo_read_fresh_pages(pages: Pages) {
    pages.read_each(2);
}
