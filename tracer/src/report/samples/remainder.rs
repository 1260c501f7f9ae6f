//! What is missing from a sum, by kind as far as that is known.

use super::{Path, Sample, Total};
use crate::report::model::{ByKind, Kind, KindTotal, Region};

/// Faults: all of them, and those of which the kind is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    all: Total,
    by_kind: ByKind,
}

impl Counted {
    /// Adds what a pause, or a summary, says.
    pub(super) fn add(&mut self, all: Total, by_kind: &ByKind) {
        self.all.add(all);
        for (&kind, &total) in by_kind {
            self.add_known(kind, total);
        }
    }

    /// Adds faults that are all of this kind.
    pub(super) fn add_kind(&mut self, kind: Kind, inferred: bool, total: Total) {
        self.all.add(total);
        let Total { count, ns } = total;
        self.add_known(kind, KindTotal { count, ns, inferred: if inferred { count } else { 0 } });
    }

    /// Adds all of another sum.
    pub(super) fn add_all(&mut self, other: &Self) {
        self.add(other.all, &other.by_kind);
    }

    fn add_known(&mut self, kind: Kind, total: KindTotal) {
        let known = self.by_kind.entry(kind).or_default();
        known.count = known.count.saturating_add(total.count);
        known.ns = known.ns.saturating_add(total.ns);
        known.inferred = known.inferred.saturating_add(total.inferred);
    }

    /// What of this is not in the other sum. The kinds of it are never more than all of it.
    pub(super) fn without(&self, other: &Self) -> Self {
        let all = Total {
            count: self.all.count.saturating_sub(other.all.count),
            ns: self.all.ns.saturating_sub(other.all.ns),
        };
        let mut left = all;
        let mut by_kind = ByKind::new();
        for (kind, total) in &self.by_kind {
            let known = other.by_kind.get(kind).copied().unwrap_or_default();
            let missing = KindTotal {
                count: total.count.saturating_sub(known.count).min(left.count),
                ns: total.ns.saturating_sub(known.ns).min(left.ns),
                inferred: total.inferred.saturating_sub(known.inferred),
            };
            left = Total { count: left.count - missing.count, ns: left.ns - missing.ns };
            by_kind.insert(*kind, missing);
        }
        Self { all, by_kind }
    }

    /// This as samples without a stack: one for each kind, and one for what has no known kind. What is inferred in part
    /// counts as inferred.
    pub(super) fn samples(&self, reason: Option<usize>) -> Vec<(Sample, Total)> {
        let sample = |kind, kind_inferred| Sample {
            path: Path::Missing,
            kind,
            kind_inferred,
            region: Region::Unknown,
            region_inferred: false,
            reason,
        };
        let mut left = self.all;
        let mut samples = Vec::new();
        for (&kind, total) in &self.by_kind {
            left = Total { count: left.count - total.count, ns: left.ns - total.ns };
            samples
                .push((sample(Some(kind), total.inferred > 0), Total { count: total.count, ns: total.ns }));
        }
        samples.push((sample(None, false), left));
        samples.retain(|(_, total)| *total != Total::default());
        samples
    }
}
