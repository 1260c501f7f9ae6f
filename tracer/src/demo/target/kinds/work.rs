//! Prepared pages of one kind, waiting for their pause.

use std::{fmt, sync::Arc};

use anyhow::Result;

use super::{
    super::{
        memory::{Pages, Region},
        threads::Delays,
    },
    Kind,
};

/// Pages of one kind that are ready to be touched. Dropping it frees whatever it needed.
pub(in super::super) struct Work {
    kind: Kind,
    prepared: Box<dyn Prepared>,
    delays: Option<Arc<Delays>>,
}

/// How the pages of one kind are touched.
pub(super) trait Prepared {
    /// Touches a spare page: runs through the same code as the pause will, so that its code and its stack are there.
    fn rehearse(&self);

    /// After the rehearsal, and once more as the last that is done before the pause.
    fn settle(&self) -> Result<()> {
        Ok(())
    }

    /// Touches the pages: each is one fault.
    fn perform(&self);

    /// How many pages.
    fn pages(&self) -> u64;

    /// How many of the pages, which have been touched, turned out to be of another kind than they were to be, and of
    /// which.
    fn of_other_kind(&self) -> (&'static str, u64) {
        ("", 0)
    }
}

impl Work {
    /// Pages of a region of their own. What `touch` must keep alive until the pause is over, it owns.
    pub(super) fn new(kind: Kind, region: Region, touch: impl Fn(Pages) + 'static) -> Self {
        let (spare, pages) = (region.spare(), region.rest());
        let prepared = Box::new(OwnRegion { spare, pages, touch: Box::new(touch), _region: region });
        Self { kind, prepared, delays: None }
    }

    /// The same with the pages in an order that read-ahead does not guess.
    pub(super) fn scattered(kind: Kind, region: Region, touch: impl Fn(Pages) + 'static) -> Self {
        let (spare, pages) = (region.spare(), region.rest().scattered());
        let prepared = Box::new(OwnRegion { spare, pages, touch: Box::new(touch), _region: region });
        Self { kind, prepared, delays: None }
    }

    /// Pages that are touched in their own way.
    pub(super) fn of(kind: Kind, prepared: impl Prepared + 'static) -> Self {
        Self { kind, prepared: Box::new(prepared), delays: None }
    }

    /// The delays are measured by a handler.
    pub(super) fn with_delays(mut self, delays: Arc<Delays>) -> Self {
        self.delays = Some(delays);
        self
    }

    /// Touches a spare page.
    pub(in super::super) fn rehearse(&self) {
        self.prepared.rehearse();
    }

    /// After the rehearsal of everything, and once more right before the pause.
    pub(in super::super) fn settle(&self) -> Result<()> {
        self.prepared.settle()
    }

    /// Touches the pages: each is one fault.
    pub(in super::super) fn perform(&self) {
        self.prepared.perform();
    }

    pub(in super::super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(in super::super) fn pages(&self) -> u64 {
        self.prepared.pages()
    }

    /// How many faults of which kind, in the words of pauselens, the pages are; after they have been touched.
    pub(in super::super) fn faults(&self) -> Vec<(&'static str, u64)> {
        let Some(word) = self.kind.counted_as() else { return Vec::new() };
        let (other, of_other) = self.prepared.of_other_kind();
        let all = [(word, self.pages() - of_other), (other, of_other)];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    pub(in super::super) fn delays(&self) -> Option<&Delays> {
        self.delays.as_deref()
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Work")
            .field("kind", &self.kind)
            .field("pages", &self.pages())
            .finish_non_exhaustive()
    }
}

/// Pages of a region and the function that touches them.
struct OwnRegion {
    spare: Pages,
    pages: Pages,
    touch: Box<dyn Fn(Pages)>,
    // Last, so that whatever `touch` holds goes before the memory that it works on.
    _region: Region,
}

impl Prepared for OwnRegion {
    fn rehearse(&self) {
        (self.touch)(self.spare);
    }

    fn perform(&self) {
        (self.touch)(self.pages);
    }

    fn pages(&self) -> u64 {
        self.pages.count() as u64
    }
}
