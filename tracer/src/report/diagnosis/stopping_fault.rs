//! The rule that another thread's fault kept the world from stopping.

use crate::report::model::{Diagnosis, Pause, StoppingFault};
use crate::report::units;

use super::basis::{Basis, Scope};
use super::kinds::KIND_RULES;
use super::remedy;
use super::rules::Finding;
use super::thresholds::{MOST_PERCENT, NOTABLE_PERCENT, at_least};

/// The rule's stable name.
pub(super) const NAME: &str = "fault_delayed_stop";

/// The fault that covers most of the stopping phase, when the phase is known and one does.
pub(super) fn covering_fault(pause: &Pause) -> Option<(&StoppingFault, u64)> {
    let stopping_ns = pause.stopping_ns?;
    let longest = pause.stopping_faults.iter().max_by_key(|fault| fault.in_stopping_ns)?;
    at_least(longest.in_stopping_ns, MOST_PERCENT, stopping_ns).then_some((longest, stopping_ns))
}

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let (fault, stopping_ns) = covering_fault(basis.worst)?;
    if !at_least(stopping_ns, NOTABLE_PERCENT, basis.worst_ns) {
        return None;
    }
    let finding = format!(
        "For {} that the world took to stop in {}, thread {} was inside a page fault ({}): it could reach no \
         safepoint meanwhile.",
        units::duration_of(fault.in_stopping_ns, stopping_ns),
        basis.worst_name(),
        fault.tid,
        fault.kind.word(),
    );
    let mut evidence = vec![
        basis.worst_in_words(),
        format!("stopping took {}", basis.of_worst(stopping_ns)),
        format!(
            "the fault took {} in full, of which {} had passed when the stop was requested",
            units::duration(fault.full_ns),
            units::duration(fault.before_request_ns)
        ),
    ];
    let others = basis.worst.stopping_faults.len() - 1;
    if others > 0 {
        let others = units::counted(others as u64, "other fault", "other faults");
        evidence.push(format!("{others} of other threads overlapped the stopping"));
    }
    if let Some(frame) = fault.frames.first() {
        evidence.push(format!("it happened in {frame}"));
    }
    evidence.extend(basis.reservations());
    let remedies =
        KIND_RULES.iter().find(|rule| rule.kind == fault.kind).map_or(&[][..], |rule| rule.remedies);
    Some(Finding {
        scope: Scope::Worst,
        ns: fault.in_stopping_ns,
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding,
            evidence,
            remedies: remedy::applying(remedies, basis.report),
        },
    })
}
