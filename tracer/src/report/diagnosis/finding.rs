//! A finding before it has its place among the others.

use super::basis::Scope;
use crate::report::model::Diagnosis;

/// A finding and what decides its place.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) scope: Scope,
    /// How much time it explains by itself, within its scope: time that another rule explains better is not in it.
    pub(super) ns: u64,
    pub(super) diagnosis: Diagnosis,
}
