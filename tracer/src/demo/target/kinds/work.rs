//! Prepared pages of one kind, waiting for their pause.

use std::{fmt, sync::Arc};

use super::{
    super::{
        memory::{Pages, Region},
        threads::Delays,
    },
    Kind,
};

/// Pages of one kind and the function that touches them. Dropping it frees whatever it needed.
pub(in super::super) struct Work {
    kind: Kind,
    spare: Pages,
    pages: Pages,
    touch: Box<dyn Fn(Pages)>,
    delays: Option<Arc<Delays>>,
    // Last, so that whatever `touch` holds goes before the memory that it works on.
    _region: Region,
}

impl Work {
    /// What `touch` must keep alive until the pause is over, it owns.
    pub(super) fn new(kind: Kind, region: Region, touch: impl Fn(Pages) + 'static) -> Self {
        let (spare, pages) = (region.spare(), region.rest());
        Self { kind, spare, pages, touch: Box::new(touch), delays: None, _region: region }
    }

    /// Touches the pages in an order that read-ahead does not guess.
    pub(super) fn scattered(mut self) -> Self {
        self.pages = self.pages.scattered();
        self
    }

    /// The delays are measured by a handler.
    pub(super) fn with_delays(mut self, delays: Arc<Delays>) -> Self {
        self.delays = Some(delays);
        self
    }

    /// Touches the spare page: runs through the same code as the pause will, so that its code and its stack are there.
    pub(in super::super) fn rehearse(&self) {
        (self.touch)(self.spare);
    }

    /// Touches the pages: each is one fault.
    pub(in super::super) fn perform(&self) {
        (self.touch)(self.pages);
    }

    pub(in super::super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(in super::super) fn pages(&self) -> u64 {
        self.pages.count() as u64
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
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}
