//! The rule that the kernel moved memory together to find a larger piece.

use crate::report::model::Diagnosis;
use crate::report::units;

use super::basis::Basis;
use super::finding::Finding;
use super::remedy::{self, Remedy, for_all, for_go};
use super::split;

/// The rule's stable name.
pub(super) const NAME: &str = "compaction_during_pause";

const REMEDIES: [Remedy; 4] = [
    for_all(
        "let huge pages be made in the background: /sys/kernel/mm/transparent_hugepage/defrag=defer (or defer+madvise) \
         wakes kcompactd and gives the fault small pages meanwhile",
    ),
    for_all(
        "or ask for fewer: /sys/kernel/mm/transparent_hugepage/enabled=madvise leaves them to programs that ask, \
         prctl(PR_SET_THP_DISABLE) turns them off for one",
    ),
    for_all(
        "vm.compaction_proactiveness above its 20 keeps larger pieces free ahead of time; compact_stall and \
         compact_fail in /proc/vmstat say how often the fault had to wait, and whether it was worth it",
    ),
    for_go("GODEBUG=disablethp=1 (Go 1.21.6 and later) leaves Go's heap without transparent huge pages"),
];

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let compacting = split::compacting(basis);
    let scope = basis.scope(compacting.worst_ns, compacting.all_ns)?;
    let what = "was spent compacting memory: the kernel moved pages to make room for a larger piece";
    let mut evidence = vec![basis.worst_in_words()];
    if let Some(budget) = &basis.worst.budget {
        evidence.push(format!(
            "in it {} were spent compacting inside page faults, {} in system calls",
            units::duration(budget.fault_compacting_ns),
            units::duration(budget.compacting_ns)
        ));
    }
    evidence.push(format!("compacting took {}", basis.of_all(compacting.all_ns)));
    evidence.extend(basis.reservations());
    Some(Finding {
        scope,
        ns: compacting.of(scope),
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding: basis.sentence(scope, compacting.worst_ns, compacting.all_ns, what),
            evidence,
            remedies: remedy::applying(&REMEDIES, basis.report),
        },
    })
}
