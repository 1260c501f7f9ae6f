//! Pages whose faults are answered by another thread of this process, after a set delay.

use std::{sync::Arc, time::Duration};

use anyhow::Result;

use super::{
    super::{
        memory::{Pages, Region},
        threads::FaultHandler,
    },
    Kind, Work,
};

pub(super) fn prepare(pages: usize, delay: Duration) -> Result<Work> {
    let region = Region::anonymous(pages)?;
    let handler = FaultHandler::start(region.all(), delay)?;
    let delays = Arc::clone(&handler.delays);
    Ok(Work::new(Kind::Userfault, region, move |pages| {
        // It answers as long as this closure lives.
        let _ = &handler;
        demo_read_delayed_pages(pages);
    })
    .with_delays(delays))
}

#[inline(never)]
fn demo_read_delayed_pages(pages: Pages) {
    pages.read_each(11);
}
