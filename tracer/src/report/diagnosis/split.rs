//! What the causes that can share one moment are given of it: each moment of a pause is counted for one of them.
//!
//! A fault that waits for a CPU is a matter of the CPU, not of its kind; a driver that is blocked until the world has
//! stopped is a matter of the stop. Where the report does not say which of two it was, the smaller claim is made.

use crate::report::model::{Budget, Pause, StoppingBudget};

use super::basis::{Basis, Scope};

/// Time in the worst pause and in all pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Both {
    pub(super) worst_ns: u64,
    pub(super) all_ns: u64,
}

impl Both {
    /// What a finding of this scope is about.
    pub(super) fn of(self, scope: Scope) -> u64 {
        match scope {
            Scope::Worst => self.worst_ns,
            Scope::Total => self.all_ns,
        }
    }
}

/// One of the two sides of [`Both`], with the same numbers in it.
#[derive(Clone, Copy, Debug)]
struct Side<'a> {
    budget: Option<&'a Budget>,
    stopping: Option<&'a StoppingBudget>,
    stopping_ns: u64,
    waited_for_workers_ns: u64,
    in_faults_ns: u64,
    reclaim_ns: u64,
}

fn both(basis: &Basis<'_>, of: impl Fn(Side<'_>) -> u64) -> Both {
    let (worst, summary) = (basis.worst, &basis.report.summary);
    Both {
        worst_ns: of(Side {
            budget: worst.budget.as_ref(),
            stopping: worst.stopping.as_ref().map(|stopping| &stopping.budget),
            stopping_ns: worst.stopping_ns.unwrap_or(0),
            waited_for_workers_ns: worst.waited_for_workers.map_or(0, |waited| waited.ns),
            in_faults_ns: worst.in_faults_ns,
            reclaim_ns: worst.reclaim_ns,
        }),
        all_ns: of(Side {
            budget: summary.budget.as_ref(),
            stopping: summary.stopping.as_ref().map(|stopping| &stopping.budget),
            stopping_ns: summary.stopping_ns.unwrap_or(0),
            waited_for_workers_ns: summary.waited_for_workers_ns.unwrap_or(0),
            in_faults_ns: summary.in_faults_ns,
            reclaim_ns: summary.reclaim_ns,
        }),
    }
}

/// Freeing memory, in faults or not. Without a budget it is the time in faults, which can hold waits for a CPU.
pub(super) fn reclaiming(basis: &Basis<'_>) -> Both {
    both(basis, |side| match side.budget {
        Some(budget) => budget.fault_reclaiming_ns.saturating_add(budget.reclaiming_ns),
        None => side.reclaim_ns,
    })
}

/// Moving memory together, in faults or not.
pub(super) fn compacting(basis: &Basis<'_>) -> Both {
    both(basis, |side| {
        side.budget.map_or(0, |budget| budget.fault_compacting_ns.saturating_add(budget.compacting_ns))
    })
}

/// Waiting for a CPU: the driver's own waits, or those of the thread that stopped last, whichever is more. They can be
/// at the same time, so they are not added.
pub(super) fn waiting_for_cpu(basis: &Basis<'_>) -> Both {
    both(basis, |side| {
        let driver_ns = side.budget.map_or(0, Budget::all_waiting_for_cpu_ns);
        driver_ns.max(last_waiting_ns(side))
    })
}

/// How long the threads that stopped last waited for a CPU, as far as that can have held up the driver: its own faults
/// count as if all of them had been in the phase.
pub(super) fn last_waiting_for_cpu(basis: &Basis<'_>) -> Both {
    both(basis, last_waiting_ns)
}

fn last_waiting_ns(side: Side<'_>) -> u64 {
    let most_ns = side.stopping_ns.saturating_sub(side.in_faults_ns);
    side.stopping.map_or(0, |budget| budget.waiting_for_cpu_ns.min(most_ns))
}

/// The driver blocked outside faults once the world had stopped: before that it waits for others, which is the stop's
/// matter. At least so long: the whole of the stopping phase is taken off. And without the time in which workers worked,
/// which is their matter.
pub(super) fn blocked(basis: &Basis<'_>) -> Both {
    both(basis, |side| {
        let blocked_ns = side.budget.map_or(0, blocked_ns);
        blocked_ns.saturating_sub(side.stopping_ns).saturating_sub(side.waited_for_workers_ns)
    })
}

/// The driver blocked once the world had stopped while workers worked: never more than it was blocked at all.
pub(super) fn waited_for_workers(basis: &Basis<'_>) -> Both {
    both(basis, |side| side.waited_for_workers_ns.min(side.budget.map_or(0, blocked_ns)))
}

/// On no thread: of calls by goroutines.
pub(super) fn parked(basis: &Basis<'_>) -> Both {
    both(basis, |side| side.budget.map_or(0, |budget| budget.parked_ns))
}

/// All that a budget says of being blocked outside faults.
pub(super) fn blocked_ns(budget: &Budget) -> u64 {
    [budget.blocked_futex_ns, budget.blocked_io_ns, budget.blocked_other_ns, budget.blocked_unknown_ns]
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// The driver running outside faults once the world had stopped, in the worst pause: what of the stopping phase it did
/// not spend blocked, waiting or in faults is taken off.
pub(super) fn on_cpu_ns(pause: &Pause) -> Option<u64> {
    let budget = pause.budget.as_ref()?;
    let elsewhere_ns = blocked_ns(budget).saturating_add(budget.waiting_for_cpu_ns);
    let while_stopping_ns = pause.stopping_ns.unwrap_or(0).saturating_sub(elsewhere_ns);
    Some(budget.on_cpu_ns.saturating_sub(while_stopping_ns))
}

/// What a kind's time is without waits for a CPU, reclaim and compaction. The report does not have these by kind:
/// every kind gets its share of them.
pub(super) fn of_kind(basis: &Basis<'_>, kind: Both) -> Both {
    let left = both(basis, |side| {
        let others_ns = side.budget.map_or(side.reclaim_ns, |budget| {
            budget
                .fault_waiting_for_cpu_ns
                .saturating_add(budget.fault_reclaiming_ns)
                .saturating_add(budget.fault_compacting_ns)
        });
        side.in_faults_ns.saturating_sub(others_ns)
    });
    let summary = &basis.report.summary;
    Both {
        worst_ns: share_of(kind.worst_ns, left.worst_ns, basis.worst.in_faults_ns),
        all_ns: share_of(kind.all_ns, left.all_ns, summary.in_faults_ns),
    }
}

fn share_of(ns: u64, part: u64, whole: u64) -> u64 {
    if whole == 0 || part >= whole {
        return ns;
    }
    u64::try_from(u128::from(ns) * u128::from(part) / u128::from(whole)).unwrap_or(ns)
}
