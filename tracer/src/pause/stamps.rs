//! The probes' times against the runtime's own stamps: two sources for one number.

use tracer_common::pause::WindowRecord;

use super::durations::Durations;
use crate::runtime::RuntimeStamps;

/// Differences seen so far.
#[derive(Debug, Default)]
pub struct StampDifferences {
    /// Pauses with at least one stamp.
    pub pauses: u64,
    /// |probe's requested - runtime's started stopping|, in ns.
    pub requested: Durations,
    /// |probe's stopped - runtime's finished stopping|, in ns.
    pub stopped: Durations,
}

impl StampDifferences {
    /// Compares one pause. Times that either side lacks are left out.
    pub fn add(&mut self, record: &WindowRecord, stamps: RuntimeStamps) {
        let mut any = false;
        for (ours, theirs, into) in [
            (record.requested_ns, stamps.requested_ns, &mut self.requested),
            (record.stopped_ns, stamps.stopped_ns, &mut self.stopped),
        ] {
            if let Some(theirs) = theirs.filter(|_| ours != 0) {
                into.add(ours.abs_diff(theirs));
                any = true;
            }
        }
        self.pauses += u64::from(any);
    }
}
