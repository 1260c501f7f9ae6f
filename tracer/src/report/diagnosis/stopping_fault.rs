//! The rule that another thread's fault kept the world from stopping.

use crate::report::model::{Diagnosis, Kind, Stopping, StoppingFault};
use crate::report::units;

use super::basis::{Basis, Scope};
use super::finding::Finding;
use super::kinds::KIND_RULES;
use super::remedy;
use super::thresholds::{MOST_PERCENT, NEARLY_ALL_PERCENT, NOTABLE_PERCENT, at_least};

/// The rule's stable name.
pub(super) const NAME: &str = "fault_delayed_stop";

/// Why the world stopped late, when it was faults of another thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged<'a> {
    /// The thread.
    tid: u32,
    /// The fault that held it up longest; `None` when its detail is missing.
    fault: Option<&'a StoppingFault>,
    /// Time in faults within the phase.
    ns: u64,
    /// The phase.
    stopping_ns: u64,
    /// Whether it is known to be the thread that stopped last.
    last: bool,
}

/// A fault that covers most of a notable stopping phase. Where it is known which thread stopped last, it is that thread's
/// faults that count, unless another one's covers nearly all of the phase.
pub(super) fn judged<'a>(basis: &Basis<'a>) -> Option<Judged<'a>> {
    let stopping_ns = basis.worst.stopping_ns?;
    if !at_least(stopping_ns, NOTABLE_PERCENT, basis.worst_ns) {
        return None;
    }
    let faults = &basis.worst.stopping_faults;
    let longest = faults.iter().max_by_key(|fault| fault.in_stopping_ns);
    let covers = |percent| longest.filter(|fault| at_least(fault.in_stopping_ns, percent, stopping_ns));
    let of = |fault: &'a StoppingFault, last| Judged {
        tid: fault.tid,
        fault: Some(fault),
        ns: fault.in_stopping_ns,
        stopping_ns,
        last,
    };
    let Some((stopping, last_tid)) = last_thread(basis) else {
        return covers(MOST_PERCENT).map(|fault| of(fault, false));
    };
    if let Some(fault) = covers(MOST_PERCENT).filter(|fault| fault.tid == last_tid) {
        return Some(of(fault, true));
    }
    if let Some(fault) = covers(NEARLY_ALL_PERCENT) {
        return Some(of(fault, false));
    }
    let ns = stopping.budget.fault_ns;
    at_least(ns, MOST_PERCENT, stopping_ns).then(|| Judged {
        tid: last_tid,
        fault: faults.iter().filter(|fault| fault.tid == last_tid).max_by_key(|fault| fault.in_stopping_ns),
        ns,
        stopping_ns,
        last: true,
    })
}

/// The thread that stopped last, when it is known, is not the driver, and most of what it did was seen.
fn last_thread<'a>(basis: &Basis<'a>) -> Option<(&'a Stopping, u32)> {
    let stopping = basis.worst.stopping.as_ref()?;
    let tid = stopping.last_tid.filter(|&tid| tid != basis.worst.driver_tid)?;
    (!at_least(stopping.budget.unknown_ns, MOST_PERCENT, stopping.ns)).then_some((stopping, tid))
}

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let judged = judged(basis)?;
    let kind = judged.fault.map(|fault| fault.kind);
    let inside = match kind {
        Some(kind) => format!("inside a page fault ({})", kind.word()),
        None => "inside page faults".to_owned(),
    };
    let finding = format!(
        "For {} that the world took to stop in {}, thread {} was {inside}: it could reach no safepoint meanwhile.",
        units::duration_of(judged.ns, judged.stopping_ns),
        basis.worst_name(),
        judged.tid,
    );
    let mut evidence =
        vec![basis.worst_in_words(), format!("stopping took {}", basis.of_worst(judged.stopping_ns))];
    if let Some(fault) = judged.fault {
        evidence.push(format!(
            "the fault took {} in full, of which {} had passed when the stop was requested",
            units::duration(fault.full_ns),
            units::duration(fault.before_request_ns)
        ));
    }
    if judged.last {
        evidence.push(format!("thread {} was the last one to stop, as far as it can be told", judged.tid));
    }
    let others = basis.worst.stopping_faults.len().saturating_sub(usize::from(judged.fault.is_some()));
    if others > 0 {
        let others = units::counted(others as u64, "other fault", "other faults");
        evidence.push(format!("{others} of other threads overlapped the stopping"));
    }
    if let Some(frame) = judged.fault.and_then(|fault| fault.frames.first()) {
        evidence.push(format!("it happened in {frame}"));
    }
    evidence.extend(basis.reservations());
    Some(Finding {
        scope: Scope::Worst,
        ns: judged.ns,
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding,
            evidence,
            remedies: kind.map_or_else(Vec::new, |kind| remedies(kind, basis)),
        },
    })
}

/// What helps against the kind of fault.
fn remedies(kind: Kind, basis: &Basis<'_>) -> Vec<String> {
    let remedies = KIND_RULES.iter().find(|rule| rule.kind == kind).map_or(&[][..], |rule| rule.remedies);
    remedy::applying(remedies, basis.report)
}
