//! The rule that faults are not the explanation: said plainly, so that nobody looks for a cause in them.

use crate::report::model::Diagnosis;
use crate::report::units;

use super::basis::{Basis, Scope};
use super::remedy::{self, Remedy, for_all, for_go};
use super::rules::Finding;
use super::slow_stop;
use super::thresholds::{MOST_PERCENT, at_least};

/// The rule's stable name.
pub(super) const NAME: &str = "faults_explain_little";

const REMEDIES: [Remedy; 3] = [
    for_all(
        "see whether the pause waited for a CPU: `perf sched timehist -p PID`, nr_throttled and throttled_usec in \
         the cgroup's cpu.stat, cpu.pressure, steal time on a virtual machine",
    ),
    for_all("if it had its CPU, see what it computed there: `perf record -g -p PID`"),
    for_go("GODEBUG=gctrace=1 prints how long each phase of a collection took and how much CPU it used"),
];

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let explained_ns = basis.worst.explained_by_faults_ns;
    // A slow stop says the same and more.
    if at_least(explained_ns, MOST_PERCENT, basis.worst_ns) || slow_stop::unexplained_ns(basis).is_some() {
        return None;
    }
    let name = basis.worst_name();
    let finding = if explained_ns == 0 {
        format!(
            "Page faults explain nothing of {name} ({}): look at CPU next.",
            units::duration(basis.worst_ns)
        )
    } else {
        format!("Page faults explain only {}: look at CPU next.", basis.of_worst(explained_ns))
    };
    let mut evidence = vec![basis.worst_in_words()];
    if basis.worst.faults == 0 {
        evidence.push("the thread that ran it took no page fault in it".to_owned());
    } else {
        evidence.push(format!(
            "the thread that ran it took {} in it, {} in all",
            units::counted(basis.worst.faults, "fault", "faults"),
            units::duration(basis.worst.in_faults_ns)
        ));
    }
    evidence.extend(basis.reservations());
    Some(Finding {
        scope: Scope::Worst,
        ns: basis.worst_ns.saturating_sub(explained_ns),
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding,
            evidence,
            remedies: remedy::applying(&REMEDIES, basis.report),
        },
    })
}
