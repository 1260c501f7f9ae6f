//! Faults one by one, for a recording.

use tracer_common::fault::FaultRecord;

use super::refine::Refined;
use crate::memory::Placed;

/// A fault with everything that is known of it.
#[derive(Clone, Debug)]
pub struct ListedFault {
    /// The kernel side's record.
    pub record: FaultRecord,
    /// The number of its pause: [`tracer_common::pause::WindowRecord::window`] as the finished pause has it.
    pub pause: u64,
    /// Its kind.
    pub refined: Refined,
    /// Its time inside the pause, in ns.
    pub ns: u64,
    /// What it touched.
    pub placed: Placed,
}

/// A fault of which it is not known yet what it touched.
#[derive(Clone, Debug)]
pub(super) struct Unplaced {
    pub(super) record: FaultRecord,
    pub(super) refined: Refined,
    pub(super) ns: u64,
}
