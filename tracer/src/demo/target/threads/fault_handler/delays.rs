//! The delays as they were measured, kept where a pause can read them without a lock.

use std::sync::atomic::{AtomicU64, Ordering};

/// How long the handler held faults up, from reading the event to answering it. The rehearsal's fault, which is the
/// first, is left out.
#[derive(Debug)]
pub(in super::super::super) struct Delays {
    /// With the first.
    pub(in super::super::super) events: AtomicU64,
    /// When the last event was read, `CLOCK_MONOTONIC`.
    pub(in super::super::super) last_event_ns: AtomicU64,
    pub(in super::super::super) sum_ns: AtomicU64,
    pub(in super::super::super) min_ns: AtomicU64,
    pub(in super::super::super) max_ns: AtomicU64,
}

impl Delays {
    pub(super) fn new() -> Self {
        Self {
            events: AtomicU64::new(0),
            last_event_ns: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
        }
    }

    /// An event was read.
    pub(super) fn begin(&self, at_ns: u64) {
        self.last_event_ns.store(at_ns, Ordering::Release);
        self.events.fetch_add(1, Ordering::AcqRel);
    }

    /// It is about to be answered.
    pub(super) fn end(&self, delay_ns: u64) {
        // Always written to, so that the rehearsal brings the page in.
        let counts = self.events.load(Ordering::Acquire) > 1;
        self.sum_ns.fetch_add(if counts { delay_ns } else { 0 }, Ordering::AcqRel);
        self.min_ns.fetch_min(if counts { delay_ns } else { u64::MAX }, Ordering::AcqRel);
        self.max_ns.fetch_max(if counts { delay_ns } else { 0 }, Ordering::AcqRel);
    }
}
