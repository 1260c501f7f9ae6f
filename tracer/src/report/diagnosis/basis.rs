//! What every rule judges: the worst completed window, all completed ones together, and what is missing. In these rules
//! `pause` stands for whatever the report's windows are; their sentences call it what it is.

use crate::report::model::{Pause, Report, State, Unit};
use crate::report::units;

use super::thresholds::{NOTABLE_PERCENT, at_least};

/// The numbers that a rule may rest on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis<'a> {
    pub(super) report: &'a Report,
    /// The longest pause that was seen whole. Others have no length to take a share of.
    pub(super) worst: &'a Pause,
    pub(super) worst_ns: u64,
}

/// What a finding is about, the more pressing first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// The worst pause.
    Worst,
    /// All pauses together, while the worst one is another matter.
    Total,
}

impl<'a> Basis<'a> {
    /// `None` without a completed pause.
    pub(super) fn of(report: &'a Report) -> Option<Self> {
        report
            .pauses
            .iter()
            .filter(|pause| pause.state == State::Complete)
            .filter_map(|pause| Some(Self { report, worst: pause, worst_ns: pause.duration_ns? }))
            .filter(|basis| basis.worst_ns > 0)
            // The first of equals: the report's own order is by length.
            .reduce(|worst, next| if next.worst_ns > worst.worst_ns { next } else { worst })
    }

    /// Whether a part is worth a finding, and of what.
    pub(super) fn scope(&self, in_worst_ns: u64, in_all_ns: u64) -> Option<Scope> {
        if at_least(in_worst_ns, NOTABLE_PERCENT, self.worst_ns) {
            Some(Scope::Worst)
        } else if at_least(in_all_ns, NOTABLE_PERCENT, self.report.summary.paused_ns) {
            Some(Scope::Total)
        } else {
            None
        }
    }

    /// What the worst pause may be called: it is the worst only if no longer one is known.
    pub(super) fn worst_name(&self) -> &'static str {
        let summary = &self.report.summary;
        let lost = summary.worst_ns.is_some_and(|ns| ns > self.worst_ns) || summary.records_lost > 0;
        match (self.unit(), lost) {
            (Unit::Pause, false) => "the worst pause",
            (Unit::Call, false) => "the worst call",
            (Unit::Window, false) => "the worst window",
            (Unit::Pause, true) => "the longest pause on record",
            (Unit::Call, true) => "the longest call on record",
            (Unit::Window, true) => "the longest window on record",
        }
    }

    /// What the windows are.
    pub(super) fn unit(&self) -> Unit {
        self.report.windows.unit
    }

    /// `in all completed pauses`.
    pub(super) fn in_all(&self) -> String {
        format!("in all completed {}", self.unit().many())
    }

    /// `97.8 % of the worst pause (39.0 of 39.9 ms)`.
    pub(super) fn of_worst(&self, ns: u64) -> String {
        format!(
            "{} of {} ({})",
            units::share(ns, self.worst_ns),
            self.worst_name(),
            units::duration_of(ns, self.worst_ns)
        )
    }

    /// `38.4 % of all paused time (39.1 of 102 ms)`.
    pub(super) fn of_all(&self, ns: u64) -> String {
        let paused_ns = self.report.summary.paused_ns;
        let all = self.unit().all_time();
        format!("{} of {all} ({})", units::share(ns, paused_ns), units::duration_of(ns, paused_ns))
    }

    /// The share that a finding in this scope opens with; for [`Scope::Total`] it ends in a reservation.
    pub(super) fn sentence(&self, scope: Scope, in_worst_ns: u64, in_all_ns: u64, what: &str) -> String {
        match scope {
            Scope::Worst => format!("{} {what}.", self.of_worst(in_worst_ns)),
            Scope::Total => format!(
                "{} {what}, though only {} of {}.",
                self.of_all(in_all_ns),
                units::share(in_worst_ns, self.worst_ns),
                self.worst_name(),
            ),
        }
    }

    /// Which pause it was, and what is usual.
    pub(super) fn worst_in_words(&self) -> String {
        let median = match self.report.summary.median_ns {
            Some(ns) if ns < self.worst_ns => {
                format!(", the median {} {}", self.unit().one(), units::duration(ns))
            }
            _ => String::new(),
        };
        let one = self.unit().one();
        let reason = match self.worst.reason.as_str() {
            "" => "unknown reason",
            reason => reason,
        };
        format!("{one} #{} ({reason}) took {}{median}", self.worst.id, units::duration(self.worst_ns))
    }

    /// What the reader must know before believing a finding: nothing, in a whole trace.
    pub(super) fn reservations(&self) -> Vec<String> {
        let mut out = Vec::new();
        let part = self.worst.fault_details;
        if part.have < part.of {
            out.push(format!(
                "details were dropped: {} of {} of this {} have theirs; counts and times are whole, code paths are of \
                 the kept ones",
                units::count(part.have),
                units::counted(part.of, "fault", "faults"),
                self.unit().one(),
            ));
        }
        match &self.worst.budget {
            None => out.push(format!(
                "where the time outside page faults went, and what the faults themselves waited for, is not known for \
                 this {}",
                self.unit().one()
            )),
            Some(budget) if at_least(budget.unknown_ns, NOTABLE_PERCENT, self.worst_ns) => out.push(format!(
                "{} are unknown: a fault began in it whose end was not seen",
                self.of_worst(budget.unknown_ns)
            )),
            Some(_) => {}
        }
        if let Some(restarting_ns) = restarting_ns(self.worst)
            && at_least(restarting_ns, NOTABLE_PERCENT, self.worst_ns)
        {
            out.push(format!(
                "{} passed while the world was being restarted: some of its threads could run again by then",
                self.of_worst(restarting_ns)
            ));
        }
        let lost = self.report.summary.records_lost;
        if lost > 0 {
            out.push(format!(
                "the records of {} were lost: a longer one may be among them",
                self.unit().counted(lost)
            ));
        }
        out
    }
}

/// restarting → resumed, when both are known.
fn restarting_ns(pause: &Pause) -> Option<u64> {
    let (restarting_ns, resumed_ns) = pause.restarting_ns.zip(pause.resumed_ns)?;
    u64::try_from(i128::from(resumed_ns) - i128::from(restarting_ns)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;
    use crate::report::model::Part;

    #[test]
    fn pauses_not_seen_whole_are_not_judged() {
        let report = fixtures::partial();
        assert!(!report.pauses.is_empty());
        assert!(Basis::of(&report).is_none());
    }

    #[test]
    fn a_longer_pause_without_its_record_is_not_passed_over() {
        let mut report = fixtures::story();
        assert_eq!(Basis::of(&report).unwrap().worst_name(), "the worst pause");
        assert!(Basis::of(&report).unwrap().reservations().is_empty());
        report.summary.worst_ns = Some(50_000_000);
        assert_eq!(Basis::of(&report).unwrap().worst_name(), "the longest pause on record");
        report.summary.records_lost = 1;
        report.pauses[0].fault_details = Part { of: 228, have: 200 };
        assert_eq!(Basis::of(&report).unwrap().reservations().len(), 2);
    }

    #[test]
    fn a_slow_restart_is_not_passed_over() {
        let mut report = fixtures::story();
        let resumed_ns = report.pauses[0].resumed_ns.unwrap();
        report.pauses[0].restarting_ns = Some(resumed_ns - 30_000_000);
        let reservations = Basis::of(&report).unwrap().reservations();
        assert_eq!(
            reservations,
            [
                "75.2 % of the worst pause (30.0 of 39.9 ms) passed while the world was being restarted: some of its \
              threads could run again by then"
            ]
        );
    }
}
