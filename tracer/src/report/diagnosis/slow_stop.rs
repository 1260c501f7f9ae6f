//! The rule that the world was slow to stop, and faults are not why.

use crate::report::model::Diagnosis;
use crate::report::units;

use super::basis::{Basis, Scope};
use super::remedy::{self, Remedy, for_all, for_go};
use super::rules::Finding;
use super::thresholds::{MOST_PERCENT, at_least};

/// The rule's stable name.
pub(super) const NAME: &str = "slow_stop_without_faults";

const REMEDIES: [Remedy; 3] = [
    for_all(
        "see whether the threads get CPU time: nr_throttled and throttled_usec in the cgroup's cpu.stat, cpu.pressure, \
         and steal time on a virtual machine. A thread that does not run can't stop either",
    ),
    for_all("look for code that runs long without reaching a safepoint"),
    for_go(
        "GOMAXPROCS above the cgroup's CPU quota makes throttling likely (the default follows the quota from Go \
         1.25 on); an execution trace (runtime/trace) shows which goroutine stopped last",
    ),
];

/// The part of the worst pause's stopping that faults leave unexplained, when that is most of a stopping phase
/// which is most of the pause. The driver's own faults count as if all of them had been in the phase.
pub(super) fn unexplained_ns(basis: &Basis<'_>) -> Option<(u64, u64)> {
    let stopping_ns = basis.worst.stopping_ns?;
    let unexplained_ns = stopping_ns.saturating_sub(basis.worst.explained_by_faults_ns);
    let speaks = at_least(stopping_ns, MOST_PERCENT, basis.worst_ns)
        && at_least(unexplained_ns, MOST_PERCENT, stopping_ns);
    speaks.then_some((unexplained_ns, stopping_ns))
}

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let (unexplained_ns, stopping_ns) = unexplained_ns(basis)?;
    let finding = format!(
        "The world took {} to stop in {}, and page faults explain at most {} of that.",
        units::duration_of(stopping_ns, basis.worst_ns),
        basis.worst_name(),
        units::duration(stopping_ns - unexplained_ns),
    );
    let mut evidence = vec![
        basis.worst_in_words(),
        format!("stopping took {}", basis.of_worst(stopping_ns)),
        format!("faults explain {}", basis.of_worst(basis.worst.explained_by_faults_ns)),
    ];
    evidence.extend(basis.reservations());
    Some(Finding {
        scope: Scope::Worst,
        ns: unexplained_ns,
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding,
            evidence,
            remedies: remedy::applying(&REMEDIES, basis.report),
        },
    })
}
