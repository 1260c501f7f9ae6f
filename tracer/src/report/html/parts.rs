//! What a pause's time was made of, in parts that exclude each other and add up to it: what pictures are coloured by.

use crate::{
    pause::Remainder,
    report::model::{Kind, Pause},
};

/// One sort of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartSort {
    /// Its name; the page's style knows it by that.
    pub(super) name: &'static str,
    /// Its words.
    pub(super) words: &'static str,
}

/// The parts outside faults begin at this number; those before are the kinds, in the order of [`Kind::ALL`].
const OUTSIDE: usize = Kind::ALL.len();

/// The parts that are not a kind of fault.
const OTHERS: [PartSort; 9] = [
    PartSort { name: "kind_unknown", words: "in faults of unknown kind" },
    PartSort { name: "on_cpu", words: "on CPU" },
    PartSort { name: "waiting_for_cpu", words: "waiting for a CPU" },
    PartSort { name: "stopping", words: "blocked while the world was stopping" },
    PartSort { name: "blocked", words: "blocked" },
    PartSort { name: "reclaiming", words: "reclaiming or compacting memory" },
    PartSort { name: "parked", words: "parked, on no thread" },
    PartSort { name: "unknown", words: "unknown" },
    PartSort { name: "outside", words: "outside faults, not taken apart" },
];

const KIND_UNKNOWN: usize = OUTSIDE;
const ON_CPU: usize = OUTSIDE + 1;
const WAITING: usize = OUTSIDE + 2;
const STOPPING: usize = OUTSIDE + 3;
const BLOCKED: usize = OUTSIDE + 4;
const RECLAIMING: usize = OUTSIDE + 5;
const PARKED: usize = OUTSIDE + 6;
const UNKNOWN: usize = OUTSIDE + 7;
const NOT_TAKEN_APART: usize = OUTSIDE + 8;

/// All sorts, by number.
pub(super) fn sorts() -> Vec<PartSort> {
    let kinds = Kind::ALL.map(|kind| PartSort { name: kind.word(), words: kind.word() });
    kinds.into_iter().chain(OTHERS).collect()
}

/// A kind's number.
pub(super) fn number(kind: Kind) -> usize {
    Kind::ALL.iter().position(|known| *known == kind).unwrap_or(KIND_UNKNOWN)
}

/// The parts of a pause that took any time: number and nanoseconds, in the order of the sorts. They add up to the
/// pause's length.
pub(super) fn parts(pause: &Pause) -> Vec<(usize, u64)> {
    let duration_ns = pause.duration_ns.unwrap_or(0);
    let mut left = Remainder(duration_ns);
    let mut parts = Vec::new();
    let in_faults_ns = pause.in_faults_ns.min(duration_ns);
    let mut in_faults = Remainder(in_faults_ns);
    for (kind, total) in &pause.by_kind {
        parts.push((number(*kind), in_faults.take(total.ns)));
    }
    parts.push((KIND_UNKNOWN, in_faults.0));
    left.take(in_faults_ns);
    match &pause.budget {
        None => parts.push((NOT_TAKEN_APART, left.0)),
        Some(budget) => {
            let blocked_ns = [
                budget.blocked_futex_ns,
                budget.blocked_io_ns,
                budget.blocked_other_ns,
                budget.blocked_unknown_ns,
            ]
            .into_iter()
            .fold(0, u64::saturating_add);
            // A driver is blocked while it waits for the others to stop; how much of that time is not recorded, so this
            // is the most that it can be.
            let stopping_ns = pause.stopping_ns.unwrap_or(0).min(blocked_ns);
            for (part, ns) in [
                (ON_CPU, budget.on_cpu_ns),
                (WAITING, budget.waiting_for_cpu_ns),
                (STOPPING, stopping_ns),
                (BLOCKED, blocked_ns - stopping_ns),
                (RECLAIMING, budget.reclaiming_ns.saturating_add(budget.compacting_ns)),
                (PARKED, budget.parked_ns),
            ] {
                parts.push((part, left.take(ns)));
            }
            parts.push((UNKNOWN, left.0));
        }
    }
    parts.retain(|&(_, ns)| ns > 0);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn parts_add_up_whatever_a_pause_says() {
        let reports = (0..200).map(fixtures::random).chain([fixtures::story(), fixtures::workers()]);
        for report in reports {
            for pause in &report.pauses {
                let sum = parts(pause).iter().fold(0_u64, |sum, (_, ns)| sum + ns);
                assert_eq!(sum, pause.duration_ns.unwrap_or(0), "{pause:?}");
            }
        }
    }

    #[test]
    fn the_story_is_swap_ins() {
        let story = fixtures::story();
        let parts = parts(&story.pauses[0]);
        assert_eq!(parts[0], (number(Kind::SwapIn), 39_013_000));
        let named: Vec<_> = parts.iter().map(|&(part, ns)| (sorts()[part].name, ns)).collect();
        assert_eq!(
            named[1..],
            [("on_cpu", 611_000), ("waiting_for_cpu", 190_000), ("stopping", 12_000), ("blocked", 76_000)]
        );
    }
}
