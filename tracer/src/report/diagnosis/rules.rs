//! The table of rules, and their order in the result.

use crate::report::model::{Diagnosis, Report};

use super::{basis::Basis, finding::Finding};
use super::{
    blocked, compaction, cpu, kind_rule, kinds, little_explained, on_cpu, parked, reclaim, several_kinds,
    slow_stop, stopping_fault, waited_for_workers,
};

/// Rules that are not about one kind of fault. Of findings that explain the same time the first in the table wins, and
/// all of them win against a kind of fault.
const RULES: [fn(&Basis<'_>) -> Option<Finding>; 9] = [
    cpu::finding,
    reclaim::finding,
    compaction::finding,
    stopping_fault::finding,
    slow_stop::finding,
    waited_for_workers::finding,
    blocked::finding,
    parked::finding,
    on_cpu::finding,
];

/// A rule that knows what the others have found.
type LastRule = fn(&Basis<'_>, &[Finding]) -> Option<Finding>;

/// Rules that speak when the others say too little.
const LAST_RULES: [LastRule; 2] = [several_kinds::finding, little_explained::finding];

/// What the numbers say, most important first: what is about the worst pause before what is about all pauses
/// together, more time before less. Empty when no pause was seen whole.
#[must_use]
pub fn diagnose(report: &Report) -> Vec<Diagnosis> {
    let Some(basis) = Basis::of(report) else { return Vec::new() };
    let by_kind = kinds::KIND_RULES.iter().filter_map(|rule| kind_rule::finding(rule, &basis));
    let mut findings: Vec<Finding> = RULES.iter().filter_map(|rule| rule(&basis)).chain(by_kind).collect();
    for rule in LAST_RULES {
        findings.extend(rule(&basis, &findings));
    }
    findings.sort_by_key(|finding| (finding.scope, std::cmp::Reverse(finding.ns)));
    findings.into_iter().map(|finding| finding.diagnosis).collect()
}
