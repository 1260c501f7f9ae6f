//! A fault's interval, for the stopping phase.

use super::kind::Kind;

/// One fault's interval on one thread, for the stopping phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FaultSpan {
    pub(super) tid: u32,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) kind: Kind,
    pub(super) stack: u64,
}
