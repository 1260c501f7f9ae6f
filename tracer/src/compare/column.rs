//! What is added up over pauses: each sum has a place in a row of numbers, so that runs can be resampled quickly.

use crate::{
    memory::Region,
    pause::{Budget, Kind},
    report::model::{Pause, Summary},
};

const KINDS_FROM: usize = 5;
const REGIONS_FROM: usize = KINDS_FROM + 2 * Kind::ALL.len();
const BUDGET_FROM: usize = REGIONS_FROM + 2 * Region::ALL.len();
/// How many parts a budget has.
pub(super) const PARTS: usize = 17;
/// How many sums there are besides those of code paths.
pub(super) const COLUMNS: usize = BUDGET_FROM + PARTS;

/// A row of sums.
pub(super) type Row = [f64; COLUMNS];

/// One sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Lengths.
    Paused,
    /// The drivers' faults.
    Faults,
    /// The drivers' time in faults.
    InFaults,
    /// What faults explain.
    Explained,
    /// requested → stopped.
    Stopping,
    /// Faults of a kind, by its place in `Kind::ALL`.
    Kind(usize, Of),
    /// Faults on a region, by its place in [`Region::ALL`].
    Region(usize, Of),
    /// A part of the budget, by its place in `Budget::parts`.
    Part(usize),
}

/// Count or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// How many.
    Count,
    /// Their time in nanoseconds.
    Ns,
}

impl Column {
    /// Its place in a row.
    pub(super) fn index(self) -> usize {
        let second = |of| usize::from(of == Of::Ns);
        match self {
            Self::Paused => 0,
            Self::Faults => 1,
            Self::InFaults => 2,
            Self::Explained => 3,
            Self::Stopping => 4,
            Self::Kind(kind, of) => KINDS_FROM + 2 * kind + second(of),
            Self::Region(region, of) => REGIONS_FROM + 2 * region + second(of),
            Self::Part(part) => BUDGET_FROM + part,
        }
    }
}

/// The sums of one pause.
pub(super) fn of_pause(pause: &Pause, to: &mut Row) {
    let mut add = |column: Column, value: u64| to[column.index()] += value as f64;
    add(Column::Paused, pause.duration_ns.unwrap_or(0));
    add(Column::Faults, pause.faults);
    add(Column::InFaults, pause.in_faults_ns);
    add(Column::Explained, pause.explained_by_faults_ns);
    add(Column::Stopping, pause.stopping_ns.unwrap_or(0));
    for (index, kind) in Kind::ALL.iter().enumerate() {
        if let Some(total) = pause.by_kind.get(kind) {
            add(Column::Kind(index, Of::Count), total.count);
            add(Column::Kind(index, Of::Ns), total.ns);
        }
    }
    for (index, region) in Region::ALL.iter().enumerate() {
        if let Some(total) = pause.by_region.get(region) {
            add(Column::Region(index, Of::Count), total.count);
            add(Column::Region(index, Of::Ns), total.ns);
        }
    }
    if let Some(budget) = &pause.budget {
        for (index, part) in budget.parts().iter().enumerate() {
            add(Column::Part(index), part.ns);
        }
    }
}

/// The sums of all complete pauses, and which of them are known.
pub(super) fn of_summary(summary: &Summary) -> (Row, [bool; COLUMNS]) {
    let mut row = [0.0; COLUMNS];
    let mut known = [true; COLUMNS];
    let mut put = |column: Column, value: Option<u64>| match value {
        Some(value) => row[column.index()] = value as f64,
        None => known[column.index()] = false,
    };
    put(Column::Paused, Some(summary.paused_ns));
    put(Column::Faults, Some(summary.faults));
    put(Column::InFaults, Some(summary.in_faults_ns));
    put(Column::Explained, Some(summary.explained_by_faults_ns));
    put(Column::Stopping, summary.stopping_ns);
    for (index, kind) in Kind::ALL.iter().enumerate() {
        let total = summary.by_kind.get(kind).copied().unwrap_or_default();
        put(Column::Kind(index, Of::Count), Some(total.count));
        put(Column::Kind(index, Of::Ns), Some(total.ns));
    }
    for (index, region) in Region::ALL.iter().enumerate() {
        let total = summary.by_region.get(region).copied().unwrap_or_default();
        put(Column::Region(index, Of::Count), Some(total.count));
        put(Column::Region(index, Of::Ns), Some(total.ns));
    }
    let parts = summary.budget.map(|budget| budget.parts());
    for index in 0..PARTS {
        put(Column::Part(index), parts.as_ref().map(|parts| parts[index].ns));
    }
    (row, known)
}

/// Names of the budget's parts: in the JSON, and in words.
pub(super) fn part_names() -> [(&'static str, &'static str); PARTS] {
    Budget::default().parts().map(|part| (part.name, part.words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sum_has_a_place_of_its_own() {
        let mut columns =
            vec![Column::Paused, Column::Faults, Column::InFaults, Column::Explained, Column::Stopping];
        for of in [Of::Count, Of::Ns] {
            columns.extend((0..Kind::ALL.len()).map(|kind| Column::Kind(kind, of)));
            columns.extend((0..Region::ALL.len()).map(|region| Column::Region(region, of)));
        }
        columns.extend((0..PARTS).map(Column::Part));
        let mut places: Vec<_> = columns.into_iter().map(Column::index).collect();
        places.sort_unstable();
        assert_eq!(places, (0..COLUMNS).collect::<Vec<_>>());
    }
}
