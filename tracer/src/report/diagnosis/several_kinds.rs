//! The rule that faults explain the worst pause but no kind of them stands out.

use crate::report::model::Diagnosis;
use crate::report::units;

use super::basis::{Basis, Scope};
use super::finding::Finding;
use super::thresholds::{MOST_PERCENT, at_least};

/// The rule's stable name.
pub(super) const NAME: &str = "faults_of_several_kinds";

/// How many kinds are listed as evidence.
const MOST_KINDS: usize = 5;

pub(super) fn finding(basis: &Basis<'_>, others: &[Finding]) -> Option<Finding> {
    let worst = basis.worst;
    let explained_ns = worst.explained_by_faults_ns;
    let one_stands_out = others.iter().any(|finding| finding.scope == Scope::Worst);
    if one_stands_out || !at_least(explained_ns, MOST_PERCENT, basis.worst_ns) {
        return None;
    }
    let finding =
        format!("Page faults explain {}, but no one kind of them stands out.", basis.of_worst(explained_ns));
    let mut kinds: Vec<_> = worst.by_kind.iter().collect();
    kinds.sort_by_key(|(_, total)| std::cmp::Reverse(total.ns));
    let mut evidence = vec![basis.worst_in_words()];
    evidence.extend(kinds.into_iter().take(MOST_KINDS).map(|(kind, total)| {
        let faults = units::counted(total.count, "fault", "faults");
        format!("{faults} of kind {} took {}", kind.word(), units::duration(total.ns))
    }));
    evidence.extend(basis.reservations());
    Some(Finding {
        scope: Scope::Worst,
        ns: explained_ns,
        diagnosis: Diagnosis { rule: NAME.to_owned(), finding, evidence, remedies: Vec::new() },
    })
}
