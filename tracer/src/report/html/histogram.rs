//! How long faults took, by kind: each fault is counted.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{fault::Brief, parts};
use crate::{recording::line, report::model::Kind};

/// Buckets to one doubling of the length.
const PER_DOUBLING: u32 = 4;

/// The lengths of faults of one kind on one sort of thread.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Lengths {
    /// `driver`, `worker`, `bystander`.
    pub(super) role: &'static str,
    /// The kind's number.
    pub(super) kind: usize,
    /// How many.
    pub(super) count: u64,
    /// How many of them have the kind by inference.
    pub(super) inferred: u64,
    /// The longest.
    pub(super) longest_ns: u64,
    /// How many in each bucket: its number and the count.
    pub(super) buckets: BTreeMap<u32, u64>,
}

/// Counts faults.
#[derive(Debug, Default)]
pub(super) struct Histogram(BTreeMap<(line::Role, Kind), Lengths>);

impl Histogram {
    /// Counts one.
    pub(super) fn add(&mut self, fault: &Brief) {
        let ns = fault.ns;
        let lengths = self.0.entry((fault.role, fault.kind)).or_default();
        lengths.count += 1;
        lengths.inferred += u64::from(fault.inferred);
        lengths.longest_ns = lengths.longest_ns.max(ns);
        *lengths.buckets.entry(bucket(ns)).or_default() += 1;
    }

    /// All counts.
    pub(super) fn into_lengths(self) -> Vec<Lengths> {
        let name =
            |((role, kind), lengths)| Lengths { role: role_word(role), kind: parts::number(kind), ..lengths };
        self.0.into_iter().map(name).collect()
    }
}

/// The word of a recording.
fn role_word(role: line::Role) -> &'static str {
    match role {
        line::Role::Driver => "driver",
        line::Role::Worker => "worker",
        line::Role::Bystander => "bystander",
    }
}

/// The bucket of a length: `4 e + q` holds lengths from `2^e (1 + q / 4)` on, up to the next one's. 0 is with 1.
fn bucket(ns: u64) -> u32 {
    let ns = ns.max(1);
    let doublings = ns.ilog2();
    let quarter = ((u128::from(ns) * u128::from(PER_DOUBLING)) >> doublings) & u128::from(PER_DOUBLING - 1);
    doublings * PER_DOUBLING + u32::try_from(quarter).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_hold_what_they_say() {
        for (ns, expected) in
            [(0, 0), (1, 0), (2, 4), (3, 6), (4, 8), (5, 9), (6, 10), (7, 11), (8, 12), (9, 12), (10, 13)]
        {
            assert_eq!(bucket(ns), expected, "{ns}");
        }
        let many: Vec<u32> = (1..100_000).map(bucket).collect();
        assert!(many.is_sorted());
        assert_eq!(bucket(u64::MAX), 255);
    }
}
