//! All pauses over time: each one while they are few; beyond that the worst ones of all and of each stretch of time, and
//! what all of them add up to.

use serde::Serialize;

use super::{names::Names, parts};
use crate::{
    longest::Longest,
    report::{
        model::{Pause, State},
        text::entries::mostly,
    },
};

/// Up to so many pauses are drawn one by one.
const MOST: usize = 6_000;

/// Beyond that: the worst of each of so many stretches of time,
const STRETCHES: usize = 1_200;

/// and so many of the worst of all.
const WORST: usize = 1_500;

/// Pauses that were not seen whole are listed up to this number.
const MOST_PARTIAL: usize = 200;

/// A pause in a few numbers.
#[derive(Clone, Debug)]
struct Row {
    id: u64,
    at_ns: i64,
    ns: u64,
    stopping_ns: Option<u64>,
    faults: u64,
    major: u64,
    in_faults_ns: u64,
    reason: u32,
    mostly: u32,
    parts: Vec<(usize, u64)>,
}

/// What a stretch of time holds.
#[derive(Clone, Debug, Default)]
struct Stretch {
    count: u64,
    ns: u64,
    worst: Option<Row>,
}

/// Takes pauses.
#[derive(Debug)]
pub(super) struct Timeline {
    stretch_ns: u64,
    count: u64,
    all: Vec<Row>,
    worst: Longest<Row>,
    stretches: Vec<Stretch>,
    partial: Vec<Partial>,
    partial_count: u64,
}

/// A pause that was not seen whole.
#[derive(Clone, Debug, Serialize)]
struct Partial {
    id: u64,
    state: State,
    /// When it began, or what is known of when it was; null when nothing is.
    at_ns: Option<i64>,
    reason: u32,
    faults: u64,
    in_faults_ns: u64,
}

/// What the page gets: pauses by column, in the order of time.
#[derive(Debug, Default, Serialize)]
pub(super) struct Pauses {
    /// How many complete ones there are.
    pub(super) of: u64,
    id: Vec<u64>,
    at_ns: Vec<i64>,
    ns: Vec<u64>,
    stopping_ns: Vec<Option<u64>>,
    faults: Vec<u64>,
    major: Vec<u64>,
    in_faults_ns: Vec<u64>,
    reason: Vec<u32>,
    mostly: Vec<u32>,
    /// Number of a part and its time, one after the other.
    parts: Vec<Vec<u64>>,
    /// How long a stretch is; 0 when all pauses are there.
    stretch_ns: u64,
    /// Stretch, count and time of all its pauses; only when not all pauses are there.
    stretches: Vec<[u64; 3]>,
    /// Those that were not seen whole.
    partial: Vec<Partial>,
    /// How many there are of these.
    partial_of: u64,
}

impl Timeline {
    /// For a trace of this length.
    pub(super) fn new(duration_ns: u64) -> Self {
        Self {
            stretch_ns: duration_ns / STRETCHES as u64 + 1,
            count: 0,
            all: Vec::new(),
            worst: Longest::new(WORST),
            stretches: Vec::new(),
            partial: Vec::new(),
            partial_count: 0,
        }
    }

    /// Takes one.
    pub(super) fn add(&mut self, pause: &Pause, names: &mut Names) {
        let known_at = pause.requested_ns.or(pause.stopped_ns).or(pause.restarting_ns).or(pause.resumed_ns);
        let (State::Complete, Some(at_ns), Some(ns)) = (pause.state, known_at, pause.duration_ns) else {
            self.partial_count += 1;
            if self.partial.len() < MOST_PARTIAL {
                self.partial.push(Partial {
                    id: pause.id,
                    state: pause.state,
                    at_ns: known_at,
                    reason: names.number(&pause.reason),
                    faults: pause.faults,
                    in_faults_ns: pause.in_faults_ns,
                });
            }
            return;
        };
        let row = Row {
            id: pause.id,
            at_ns,
            ns,
            stopping_ns: pause.stopping_ns,
            faults: pause.faults,
            major: pause.major,
            in_faults_ns: pause.in_faults_ns,
            reason: names.number(&pause.reason),
            mostly: names.number(&mostly(pause)),
            parts: parts::parts(pause),
        };
        self.count += 1;
        if self.stretches.is_empty() {
            self.all.push(row);
            if self.all.len() > MOST {
                self.stretches = vec![Stretch::default(); STRETCHES];
                std::mem::take(&mut self.all).into_iter().for_each(|row| self.thin(row));
            }
        } else {
            self.thin(row);
        }
    }

    fn thin(&mut self, row: Row) {
        let index = u64::try_from(row.at_ns.max(0)).unwrap_or(0) / self.stretch_ns;
        let index = usize::try_from(index).unwrap_or(usize::MAX).min(STRETCHES - 1);
        let stretch = &mut self.stretches[index];
        stretch.count += 1;
        stretch.ns = stretch.ns.saturating_add(row.ns);
        if stretch.worst.as_ref().is_none_or(|worst| row.ns > worst.ns) {
            stretch.worst = Some(row.clone());
        }
        if self.worst.wants(row.ns) {
            self.worst.offer(row.ns, row.id, row);
        }
    }

    /// What the page gets.
    pub(super) fn into_pauses(self) -> Pauses {
        let mut pauses = Pauses {
            of: self.count,
            partial: self.partial,
            partial_of: self.partial_count,
            ..Pauses::default()
        };
        let mut rows = self.all;
        if !self.stretches.is_empty() {
            pauses.stretch_ns = self.stretch_ns;
            rows = self.worst.into_sorted();
            for (index, stretch) in self.stretches.into_iter().enumerate() {
                if stretch.count > 0 {
                    pauses.stretches.push([index as u64, stretch.count, stretch.ns]);
                }
                rows.extend(stretch.worst);
            }
        }
        rows.sort_by_key(|row| (row.at_ns, row.id));
        rows.dedup_by_key(|row| row.id);
        for row in rows {
            pauses.id.push(row.id);
            pauses.at_ns.push(row.at_ns);
            pauses.ns.push(row.ns);
            pauses.stopping_ns.push(row.stopping_ns);
            pauses.faults.push(row.faults);
            pauses.major.push(row.major);
            pauses.in_faults_ns.push(row.in_faults_ns);
            pauses.reason.push(row.reason);
            pauses.mostly.push(row.mostly);
            pauses.parts.push(row.parts.into_iter().flat_map(|(part, ns)| [part as u64, ns]).collect());
        }
        pauses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures::pause;

    fn timeline(n: u64) -> Pauses {
        let (mut timeline, mut names) = (Timeline::new(n * 1_000_000), Names::default());
        for id in 1..=n {
            let at_ns = i64::try_from(id * 1_000_000 - 1_000_000).unwrap();
            timeline.add(&pause(id, "GC", at_ns, 30_000 + id * 7_919 % 10_007), &mut names);
        }
        timeline.into_pauses()
    }

    #[test]
    fn few_are_all_there() {
        let pauses = timeline(6_000);
        assert_eq!((pauses.of, pauses.id.len(), pauses.stretches.len()), (6_000, 6_000, 0));
    }

    #[test]
    fn of_many_the_worst_are_there_and_totals_are_exact() {
        let pauses = timeline(100_000);
        assert_eq!(pauses.of, 100_000);
        assert!(pauses.id.len() <= WORST + STRETCHES && pauses.id.len() >= STRETCHES);
        assert_eq!(pauses.stretches.iter().map(|[_, count, _]| count).sum::<u64>(), 100_000);
        let lengths: u64 = (1..=100_000_u64).map(|id| 30_000 + id * 7_919 % 10_007).sum();
        assert_eq!(pauses.stretches.iter().map(|[.., ns]| ns).sum::<u64>(), lengths);
        assert_eq!(pauses.ns.iter().max(), Some(&40_006));
        assert!(pauses.at_ns.is_sorted());
    }
}
