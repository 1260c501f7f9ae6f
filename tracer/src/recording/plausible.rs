//! Whether the numbers of pauses and faults can be added up.
//!
//! Each number of a line is below 2^53. Over a recording of real pauses a sum of numbers of one meaning is below 2^52: that
//! would be 52 days of time. A file that somebody made up can hold so many large ones that sums overflow: lines that would take a sum
//! there are left out.

use super::{line::Fault, numbers::SUM_LIMIT};
use crate::report::model::{KindTotal, Pause, Stack};

/// Numbers of a pause that have one meaning, added up.
const MEANINGS: usize = 33;

/// Sums of everything that any report adds up, one for each meaning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pauses: [u64; MEANINGS],
    faults: [u64; 5],
}

impl Default for Sums {
    fn default() -> Self {
        Self { pauses: [0; MEANINGS], faults: [0; 5] }
    }
}

impl Sums {
    /// Adds a fault. Whether it can be added up with those before it.
    pub(super) fn fault(&mut self, fault: &Fault) -> bool {
        let known = |ns: Option<u64>| ns.unwrap_or(0);
        add(
            &mut self.faults,
            [fault.ns, known(fault.full_ns), known(fault.blocked_ns), known(fault.reclaim_ns), 1],
        )
    }

    /// Adds a pause. Whether it can be added up with those before it.
    pub(super) fn pause(&mut self, pause: &Pause) -> bool {
        add(&mut self.pauses, meanings(pause))
    }
}

/// Adds them all, or none.
fn add<const N: usize>(to: &mut [u64; N], numbers: [u64; N]) -> bool {
    let mut sums = *to;
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum = sum.saturating_add(number);
    }
    let fit = sums.iter().all(|sum| *sum < SUM_LIMIT);
    if fit {
        *to = sums;
    }
    fit
}

fn meanings(pause: &Pause) -> [u64; MEANINGS] {
    let workers = pause.worker_faults.as_ref();
    let waited = pause.waited_for_workers;
    let waits = pause.cpu_waits.as_ref();
    let [kind_count, kind_ns, kind_inferred] = totals(pause.by_kind.values());
    let [region_count, region_ns, region_inferred] = totals(pause.by_region.values());
    let [place_count, place_ns, place_inferred] = totals(pause.places.iter().map(|place| &place.total));
    let [bystander_count, bystander_ns, bystander_inferred] = totals(pause.bystanders.by_kind.values());
    let of_workers = workers.map(|faults| {
        let kinds = totals(faults.by_kind.values());
        let regions = totals(faults.by_region.values());
        let places = totals(faults.places.iter().map(|place| &place.total));
        sum([kinds, regions, places].into_iter().flatten().chain([stacks(&faults.stacks)]))
    });
    let stopping = pause.stopping.as_ref();
    [
        pause.duration_ns.unwrap_or(0),
        pause.stopping_ns.unwrap_or(0),
        pause.faults,
        pause.major,
        pause.minor,
        pause.in_faults_ns,
        pause.explained_by_faults_ns,
        pause.reclaim_ns,
        pause.tracing_ns,
        pause.workers_unseen,
        waited.map_or(0, |waited| sum([waited.ns, waited.in_their_faults_ns, waited.faults_wall_ns])),
        pause.budget.map_or(0, |budget| budget.sum_ns()),
        waits.map_or(0, |waits| sum([waits.switches, waits.count, waits.ns, waits.longest_ns])),
        sum([pause.fault_details.of, pause.fault_details.have]),
        sum([pause.bystanders.faults, pause.bystanders.major, pause.bystanders.minor]),
        pause.bystanders.sum_ns,
        kind_count,
        kind_ns,
        kind_inferred,
        region_count,
        region_ns,
        region_inferred,
        place_count,
        sum([place_ns, place_inferred]),
        sum([bystander_count, bystander_inferred]),
        bystander_ns,
        stacks(&pause.stacks),
        workers.map_or(0, |faults| {
            sum([faults.faults, faults.sum_ns, faults.fault_details.of, faults.fault_details.have])
        }),
        of_workers.unwrap_or(0),
        sum(pause
            .workers
            .iter()
            .map(|worker| sum([worker.faults, worker.in_faults_ns, worker.budget.sum_ns()]))),
        sum(pause.blocked.iter().map(|blocked| sum([blocked.count, blocked.ns]))),
        sum(pause.reads.iter().map(|read| {
            sum([read.faults, read.ns, read.requests, read.bytes, read.read_ahead_pages, read.inferred])
        })),
        sum(stopping.iter().map(|stopping| {
            let threads = stopping.threads.iter().map(|thread| thread.budget.sum_ns());
            sum([stopping.ns, stopping.budget.sum_ns()].into_iter().chain(threads))
        })),
    ]
}

fn sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

/// Counts, times, and how many are inferred.
fn totals<'a>(totals: impl Iterator<Item = &'a KindTotal>) -> [u64; 3] {
    totals.fold([0; 3], |[count, ns, inferred], total| {
        [
            count.saturating_add(total.count),
            ns.saturating_add(total.ns),
            inferred.saturating_add(total.inferred),
        ]
    })
}

fn stacks(stacks: &[Stack]) -> u64 {
    sum(stacks.iter().map(|stack| {
        let kernel = sum(stack.kernel.iter().map(|path| sum([path.faults, path.ns])));
        sum(totals(stack.by_kind.values()).into_iter().chain([stack.faults, stack.ns, kernel]))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn what_would_overflow_is_refused_and_nothing_else() {
        let mut pause = fixtures::story().pauses[0].clone();
        let mut sums = Sums::default();
        assert!((0..100_000).all(|_| sums.pause(&pause)));
        pause.bystanders.sum_ns = SUM_LIMIT / 10;
        let taken = (0..2000).take_while(|_| sums.pause(&pause)).count();
        assert_eq!(taken, 9, "the others add to this one too");
        pause.bystanders.sum_ns = 0;
        assert!(sums.pause(&pause), "one that fits is taken again");
    }
}
