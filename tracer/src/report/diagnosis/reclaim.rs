//! The rule that memory had to be freed first: because the cgroup was at its limit, or because the host was short.

use crate::report::model::{Diagnosis, Report};
use crate::report::units;

use super::basis::Basis;
use super::finding::Finding;
use super::remedy::{self, Remedy, for_all};
use super::split;
use super::thresholds::{MOST_PERCENT, at_least};

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
    let reclaiming = split::reclaiming(basis);
    let scope = basis.scope(reclaiming.worst_ns, reclaiming.all_ns)?;
    let outside_ns = basis.worst.budget.as_ref().map_or(0, |budget| budget.reclaiming_ns);
    let place = if at_least(outside_ns, MOST_PERCENT, reclaiming.worst_ns) {
        "in system calls"
    } else {
        "inside page faults"
    };
    let what =
        format!("was spent reclaiming memory {place}: the kernel had to free pages before it could give one");
    let in_faults_ns = reclaiming.worst_ns.saturating_sub(outside_ns);
    let mut evidence = vec![
        basis.worst_in_words(),
        format!(
            "of {} in its faults, {} ({}) were spent reclaiming",
            units::duration(basis.worst.in_faults_ns),
            units::duration(in_faults_ns),
            units::share(in_faults_ns, basis.worst.in_faults_ns)
        ),
    ];
    if outside_ns > 0 {
        evidence.push(format!("outside faults, in system calls, {}", units::duration(outside_ns)));
    }
    evidence.push(format!("reclaiming took {}", basis.of_all(reclaiming.all_ns)));
    evidence.push(limit(basis.report));
    evidence.extend(basis.reservations());
    Some(Finding {
        scope,
        ns: reclaiming.of(scope),
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding: basis.sentence(scope, reclaiming.worst_ns, reclaiming.all_ns, &what),
            evidence,
            remedies: remedy::applying(&REMEDIES, basis.report),
        },
    })
}

/// What is known of the memory limit: the reason for the reclaim only if it was hit.
fn limit(report: &Report) -> String {
    match &report.summary.memory_limit {
        Some(limit) if limit.hits > 0 => format!(
            "the cgroup {} was at its memory limit {} during the trace: it uses {} of {}",
            limit.cgroup,
            units::counted(limit.hits, "time", "times"),
            units::bytes(limit.used_bytes),
            units::bytes(limit.limit_bytes)
        ),
        Some(limit) => format!(
            "the memory limit of the cgroup {} ({}) was not hit during the trace: the host itself was short of memory",
            limit.cgroup,
            units::bytes(limit.limit_bytes)
        ),
        None => "no memory limit of a cgroup is known: the host itself was short of memory, or the target ended before \
                 its limit could be read"
            .to_owned(),
    }
}
