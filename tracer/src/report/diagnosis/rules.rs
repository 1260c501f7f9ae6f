//! The table of rules, and their order in the result.

use crate::report::model::{Diagnosis, Report};

use super::basis::{Basis, Scope};
use super::{kind_rule, kinds, little_explained, reclaim, several_kinds, slow_stop, stopping_fault};

/// A finding and what decides its place.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) scope: Scope,
    /// How much time it is about, within its scope.
    pub(super) ns: u64,
    pub(super) diagnosis: Diagnosis,
}

/// Rules that are not about one kind of fault.
const OTHER_RULES: [fn(&Basis<'_>) -> Option<Finding>; 5] = [
    reclaim::finding,
    stopping_fault::finding,
    slow_stop::finding,
    little_explained::finding,
    several_kinds::finding,
];

/// What the numbers say, most important first: what is about the worst pause before what is about all pauses
/// together, more time before less. Empty when no pause was seen whole.
#[must_use]
pub fn diagnose(report: &Report) -> Vec<Diagnosis> {
    let Some(basis) = Basis::of(report) else { return Vec::new() };
    let by_kind = kinds::KIND_RULES.iter().filter_map(|rule| kind_rule::finding(rule, &basis));
    let others = OTHER_RULES.iter().filter_map(|rule| rule(&basis));
    let mut findings: Vec<Finding> = by_kind.chain(others).collect();
    findings.sort_by_key(|finding| (finding.scope, std::cmp::Reverse(finding.ns)));
    findings.into_iter().map(|finding| finding.diagnosis).collect()
}
