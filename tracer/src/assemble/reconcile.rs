//! pauselens's counts of faults against the kernel's own counters.

use crate::{
    report::model::{Reconciliation, ThreadReconciliation},
    session::{CounterReadings, Outcome},
    target::{Counters, Reading, thread_name},
};

/// Threads that are listed at most.
const THREADS_LISTED: usize = 32;

/// The whole process, ended threads included.
pub(super) fn process(outcome: &Outcome) -> Reconciliation {
    let alive = outcome.threads.values();
    let ours = Counters {
        minor: outcome.totals.ended_threads_minor + alive.clone().map(|thread| thread.minor).sum::<u64>(),
        major: outcome.totals.ended_threads_major + alive.map(|thread| thread.major).sum::<u64>(),
    };
    compare(ours, range(&outcome.counters, |reading| reading.process))
}

/// The threads that drove pauses, and those with something left over; the ones with most left over first.
pub(super) fn threads(outcome: &Outcome, pid: u32) -> Vec<ThreadReconciliation> {
    let mut listed: Vec<_> = outcome
        .threads
        .iter()
        .map(|(tid, state)| {
            let ours = Counters { minor: state.minor, major: state.major };
            ThreadReconciliation {
                tid: *tid,
                name: thread_name(pid, *tid),
                drove: outcome.collected.drove.get(tid).copied().unwrap_or(0),
                counts: compare(ours, range(&outcome.counters, |reading| thread(reading, *tid))),
            }
        })
        .filter(|thread| thread.drove > 0 || thread.counts.left_over.is_some_and(|left| left != 0))
        .collect();
    let left_over = |thread: &ThreadReconciliation| thread.counts.left_over.map_or(0, i64::unsigned_abs);
    listed.sort_by_key(|thread| (std::cmp::Reverse(left_over(thread)), std::cmp::Reverse(thread.drove)));
    listed.truncate(THREADS_LISTED);
    listed
}

/// A thread that was not there yet has counted nothing.
fn thread(reading: &Reading, tid: u32) -> Option<Counters> {
    reading.process.map(|_| reading.threads.get(&tid).copied().unwrap_or_default())
}

/// The fewest and the most faults that the kernel can have counted while the gate was open. The most is not known of
/// a target that had ended before it could be read again.
fn range(readings: &CounterReadings, of: impl Fn(&Reading) -> Option<Counters>) -> Range {
    let between = |from: Counters, to: Counters| {
        Some(Counters { minor: to.minor.checked_sub(from.minor)?, major: to.major.checked_sub(from.major)? })
    };
    let pair = |from: &Reading, to: &Reading| between(of(from)?, of(to)?);
    Range {
        least: pair(&readings.after_open, &readings.before_close),
        most: pair(&readings.before_open, &readings.after_close),
    }
}

/// What the kernel's counters tell.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    least: Option<Counters>,
    most: Option<Counters>,
}

fn compare(ours: Counters, range: Range) -> Reconciliation {
    let total = |counters: Counters| i64::try_from(counters.minor + counters.major).unwrap_or(i64::MAX);
    let unseen = range.least.map(|least| (total(least) - total(ours)).max(0));
    let too_many = range.most.map(|most| (total(most) - total(ours)).min(0));
    let left_over = match (unseen, too_many) {
        // Some were not seen, whatever the most is.
        (Some(unseen), _) if unseen > 0 => Some(unseen),
        (Some(_), Some(too_many)) => Some(too_many),
        _ => None,
    };
    Reconciliation {
        minor: Some(ours.minor),
        major: Some(ours.major),
        kernel_minor_least: range.least.map(|least| least.minor),
        kernel_minor_most: range.most.map(|most| most.minor),
        kernel_major_least: range.least.map(|least| least.major),
        kernel_major_most: range.most.map(|most| most.major),
        left_over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_the_range_leaves_nothing_over() {
        let counters = |minor, major| Counters { minor, major };
        let range = Range { least: Some(counters(100, 5)), most: Some(counters(110, 5)) };
        for (minor, left_over) in [(100, 0), (110, 0), (104, 0), (90, 10), (111, -1)] {
            assert_eq!(compare(counters(minor, 5), range).left_over, Some(left_over), "{minor}");
        }
        assert_eq!(compare(counters(1, 0), Range::default()).left_over, None);
        let ended = Range { most: None, ..range };
        assert_eq!(compare(counters(200, 5), ended).left_over, None);
        assert_eq!(compare(counters(90, 5), ended).left_over, Some(10));
    }
}
