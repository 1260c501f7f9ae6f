//! The rule that faults had to free memory first.

use crate::report::model::Diagnosis;
use crate::report::units;

use super::basis::{Basis, Scope};
use super::remedy::{self, Remedy, for_all};
use super::rules::Finding;

/// The rule's stable name.
pub(super) const NAME: &str = "reclaim_during_pause";

const REMEDIES: [Remedy; 3] = [
    for_all(
        "compare memory.current of the service's cgroup with memory.high and memory.max: a cgroup at its limit \
         frees its own pages at every fault. Raise the limit or make the service smaller",
    ),
    for_all(
        "memory.stat (pgscan_direct, pgsteal_direct), memory.events (high, max) and memory.pressure say how often \
         and how hard",
    ),
    for_all(
        "if the whole host is short of memory: free some, or let the kernel begin earlier in the background \
         (vm.watermark_scale_factor)",
    ),
];

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let in_worst_ns = basis.worst.reclaim_ns;
    let in_all_ns = basis.report.summary.reclaim_ns;
    let scope = basis.scope(in_worst_ns, in_all_ns)?;
    let what = "was spent reclaiming memory inside page faults: the kernel had to free pages before it could give one";
    let mut evidence = vec![
        basis.worst_in_words(),
        format!(
            "of {} in its faults, {} ({}) were spent reclaiming",
            units::duration(basis.worst.in_faults_ns),
            units::duration(in_worst_ns),
            units::share(in_worst_ns, basis.worst.in_faults_ns)
        ),
        format!("reclaiming took {}", basis.of_all(in_all_ns)),
    ];
    evidence.extend(basis.reservations());
    Some(Finding {
        scope,
        ns: match scope {
            Scope::Worst => in_worst_ns,
            Scope::Total => in_all_ns,
        },
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding: basis.sentence(scope, in_worst_ns, in_all_ns, what),
            evidence,
            remedies: remedy::applying(&REMEDIES, basis.report),
        },
    })
}
