//! Huge pages touched for the first time: one fault each. Where the kernel has none to give, the fault gets a page of the
//! usual size, which is noticed afterwards.

use std::cell::Cell;

use anyhow::{Context as _, Result, ensure};

use super::{
    super::memory::{Pages, Region, state},
    Kind, Work,
    work::Prepared,
};

struct HugePages {
    region: Region,
    /// How many were there before the pause: the spare one, or none.
    before: Cell<u64>,
}

pub(super) fn prepare(pages: usize) -> Result<Work> {
    let huge_bytes = state::huge_page_bytes().context("this kernel has no transparent huge pages")?;
    let region = Region::anonymous_huge(pages, huge_bytes)?;
    region.advise(libc::MADV_HUGEPAGE, "MADV_HUGEPAGE")?;
    Ok(Work::of(Kind::Huge, HugePages { region, before: Cell::new(0) }))
}

impl HugePages {
    fn count(&self) -> Result<u64> {
        let pages = self.region.all();
        let bytes = state::in_huge_pages_bytes(pages)?;
        ensure!(
            bytes <= pages.span_bytes() as u64,
            "the kernel says that {} bytes have {bytes} bytes in huge pages",
            pages.span_bytes()
        );
        Ok(bytes / (pages.span_bytes() / pages.count()) as u64)
    }
}

impl Prepared for HugePages {
    fn rehearse(&self) {
        demo_touch_huge_pages(self.region.spare());
    }

    fn settle(&self) -> Result<()> {
        self.before.set(self.count()?);
        Ok(())
    }

    fn perform(&self) {
        demo_touch_huge_pages(self.region.rest());
    }

    fn pages(&self) -> u64 {
        self.region.rest().count() as u64
    }

    fn of_other_kind(&self) -> (&'static str, u64) {
        // What can't be read is taken for huge, as was asked for: should it not be, whoever compares will notice.
        let huge = self.count().map_or(self.pages(), |now| now.saturating_sub(self.before.get()));
        ("first_touch", self.pages().saturating_sub(huge))
    }
}

#[inline(never)]
fn demo_touch_huge_pages(pages: Pages) {
    pages.write_each(16);
}
