//! What is compared: a list of measures, each a function of a run's sums and quantiles.

use std::collections::HashMap;

use super::{
    column::{Column, Of, part_names},
    model::{Group, Unit},
    run::Run,
};
use crate::{memory::Region, pause::Kind, report::model::Unit as Window};

/// This many code paths of either side are compared: those with the most time.
const PATHS: usize = 8;

/// With fewer pauses than this in any run, the 99th percentile is no more than the longest.
pub(super) const PAUSES_FOR_P99: u64 = 100;
/// With fewer than this, the 90th percentile is no more than the longest.
pub(super) const PAUSES_FOR_P90: u64 = 10;
/// The longest of so many times more pauses is longer by itself.
const MORE: f64 = 1.25;

/// Which quantile the verdict rests on: the furthest out that is one in every run, or the longest if the runs have about
/// as many pauses; `None` where there is none.
pub(super) fn tail(pauses: &[u64]) -> Option<Quantile> {
    let (fewest, most) = (pauses.iter().min().copied()?, pauses.iter().max().copied()?);
    if fewest >= PAUSES_FOR_P99 {
        Some(Quantile::P99)
    } else if fewest > 0 && most as f64 <= fewest as f64 * MORE {
        Some(Quantile::Worst)
    } else if fewest >= PAUSES_FOR_P90 {
        Some(Quantile::P90)
    } else {
        None
    }
}

/// A quantile of lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantile {
    Median,
    P90,
    P99,
    Worst,
}

impl Quantile {
    pub(super) const ALL: [Self; 4] = [Self::Median, Self::P90, Self::P99, Self::Worst];

    pub(super) fn share(self) -> f64 {
        match self {
            Self::Median => 0.5,
            Self::P90 => 0.9,
            Self::P99 => 0.99,
            Self::Worst => 1.0,
        }
    }
}

/// A sum that is resampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Column(Column),
    /// A code path, by its number among those that are compared.
    Path(usize, Of),
}

/// How a measure comes from a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// The number of pauses.
    Pauses,
    /// Pauses in a second of watched time.
    Rate,
    /// A quantile of lengths.
    Length(Quantile),
    /// A sum in a second of watched time.
    PerSecond(Source),
    /// A sum in a pause.
    PerPause(Source),
    /// A sum of time as a share of watched time.
    ShareOfTime(Source),
    /// A sum of time as a share of paused time.
    ShareOfPaused(Source),
}

impl Quantity {
    /// The sums that it needs.
    pub(super) fn sources(self) -> Vec<Source> {
        match self {
            Self::Pauses | Self::Rate | Self::Length(_) => Vec::new(),
            Self::PerSecond(source) | Self::PerPause(source) | Self::ShareOfTime(source) => vec![source],
            Self::ShareOfPaused(source) => vec![source, Source::Column(Column::Paused)],
        }
    }
}

/// Which way is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Lower,
    Neither,
}

/// A measure.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    pub(super) id: String,
    pub(super) group: Group,
    pub(super) of: Option<String>,
    pub(super) frames: Option<Vec<String>>,
    pub(super) words: String,
    pub(super) unit: Unit,
    pub(super) wanted: Wanted,
    pub(super) is_headline: bool,
    pub(super) quantity: Quantity,
}

/// The measures, and the code paths that they are about.
pub(super) fn define(a: &[Run], b: &[Run], window: Window) -> (Vec<Defined>, Vec<Vec<String>>) {
    let runs = || a.iter().chain(b);
    let mut list = List { measures: Vec::new(), window };
    list.pauses(tail(&runs().map(|run| run.pauses).collect::<Vec<_>>()));
    list.time();
    let faults = "faults";
    list.of_faults(
        Group::Faults,
        "faults",
        None,
        None,
        faults,
        [Column::Faults, Column::InFaults].map(Source::Column),
    );
    let occurs = |column: Column| runs().any(|run| run.totals[column.index()] > 0.0);
    for (index, kind) in Kind::ALL.iter().enumerate() {
        let of = [Of::Count, Of::Ns].map(|of| Column::Kind(index, of));
        if of.into_iter().any(occurs) {
            let word = kind.word();
            list.of_faults(Group::Kind, "kind", Some(word), None, word, of.map(Source::Column));
        }
    }
    for (index, region) in Region::ALL.iter().enumerate() {
        let of = [Of::Count, Of::Ns].map(|of| Column::Region(index, of));
        if of.into_iter().any(occurs) {
            let word = region.word();
            list.of_faults(Group::Region, "region", Some(word), None, word, of.map(Source::Column));
        }
    }
    let paths = top_paths(a, b);
    for (index, frames) in paths.iter().enumerate() {
        let of = [Of::Count, Of::Ns].map(|of| Source::Path(index, of));
        let name = format!("path.{}", index + 1);
        let words = frames.first().map_or("", String::as_str);
        list.of_faults(Group::Path, &name, None, Some(frames), words, of);
    }
    for (index, (name, words)) in part_names().into_iter().enumerate() {
        if occurs(Column::Part(index)) {
            list.part(name, words, Column::Part(index));
        }
    }
    (list.measures, paths)
}

#[derive(Debug)]
struct List {
    measures: Vec<Defined>,
    window: Window,
}

impl List {
    fn add(&mut self, group: Group, id: &str, words: String, unit: Unit, wanted: Wanted, quantity: Quantity) {
        self.measures.push(Defined {
            id: id.to_owned(),
            group,
            of: None,
            frames: None,
            words,
            unit,
            wanted,
            is_headline: false,
            quantity,
        });
    }

    fn headline(&mut self) {
        if let Some(last) = self.measures.last_mut() {
            last.is_headline = true;
        }
    }

    fn pauses(&mut self, tail: Option<Quantile>) {
        let many = self.window.many();
        self.add(Group::Pauses, "pauses", many.to_owned(), Unit::Count, Wanted::Neither, Quantity::Pauses);
        let rate = format!("{many} per second");
        self.add(Group::Pauses, "pauses_per_s", rate, Unit::PerSecond, Wanted::Lower, Quantity::Rate);
        for (id, words, quantile) in [
            ("median", "median", Quantile::Median),
            ("p90", "90th percentile", Quantile::P90),
            ("p99", "99th percentile", Quantile::P99),
            ("worst", "longest", Quantile::Worst),
        ] {
            let quantity = Quantity::Length(quantile);
            self.add(Group::Pauses, id, words.to_owned(), Unit::Ns, Wanted::Lower, quantity);
            if Some(quantile) == tail {
                self.headline();
            }
        }
    }

    fn time(&mut self) {
        let paused = Source::Column(Column::Paused);
        let share = Quantity::ShareOfTime(paused);
        let words = match self.window {
            Window::Pause => "paused share",
            Window::Call => "share in calls",
            Window::Window => "share in windows",
        }
        .to_owned();
        self.add(Group::Time, "paused_share", words, Unit::Share, Wanted::Lower, share);
        self.headline();
        for (id, words, column) in [
            ("in_faults_share", "of it in faults", Column::InFaults),
            ("explained_share", "of it explained by faults", Column::Explained),
        ] {
            let quantity = Quantity::ShareOfPaused(Source::Column(column));
            self.add(Group::Time, id, words.to_owned(), Unit::Share, Wanted::Neither, quantity);
        }
        let stopping = Source::Column(Column::Stopping);
        let words = "stopping".to_owned();
        let quantity = Quantity::PerPause(stopping);
        self.add(
            Group::Time,
            "stopping.ns_per_pause",
            words.clone(),
            Unit::NsPerPause,
            Wanted::Lower,
            quantity,
        );
        let quantity = Quantity::PerSecond(stopping);
        self.add(Group::Time, "stopping.ns_per_s", words, Unit::NsPerSecond, Wanted::Lower, quantity);
    }

    /// Number and time of some faults, in a pause and in a second.
    fn of_faults(
        &mut self,
        group: Group,
        name: &str,
        of: Option<&str>,
        frames: Option<&Vec<String>>,
        words: &str,
        [count, ns]: [Source; 2],
    ) {
        let name = of.map_or_else(|| name.to_owned(), |of| format!("{name}.{of}"));
        for (id, unit, quantity) in [
            ("per_pause", Unit::PerPause, Quantity::PerPause(count)),
            ("ns_per_pause", Unit::NsPerPause, Quantity::PerPause(ns)),
            ("per_s", Unit::PerSecond, Quantity::PerSecond(count)),
            ("ns_per_s", Unit::NsPerSecond, Quantity::PerSecond(ns)),
        ] {
            self.add(group, &format!("{name}.{id}"), words.to_owned(), unit, Wanted::Lower, quantity);
            if let Some(last) = self.measures.last_mut() {
                last.of = of.map(str::to_owned);
                last.frames = frames.cloned();
            }
        }
    }

    fn part(&mut self, name: &str, words: &str, column: Column) {
        let quantity = Quantity::PerPause(Source::Column(column));
        let id = format!("budget.{name}.ns_per_pause");
        // Time on the CPU is the work of the pause itself, and less of one part can be more of another.
        self.add(Group::Budget, &id, words.to_owned(), Unit::NsPerPause, Wanted::Lower, quantity);
        if let Some(last) = self.measures.last_mut() {
            last.of = Some(name.to_owned());
        }
    }
}

/// The code paths with the most time, of either side; each run counts as much as another one.
fn top_paths(a: &[Run], b: &[Run]) -> Vec<Vec<String>> {
    let mut top: Vec<(Vec<String>, f64)> = Vec::new();
    for side in [a, b] {
        let mut sums: HashMap<&Vec<String>, f64> = HashMap::new();
        for run in side {
            for (frames, path) in &run.paths {
                *sums.entry(frames).or_default() +=
                    path.ns / run.covered_ns.max(1) as f64 / side.len() as f64;
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(other.0)));
        for (frames, share) in sums.into_iter().take(PATHS) {
            match top.iter_mut().find(|(known, _)| known == frames) {
                Some((_, most)) => *most = most.max(share),
                None => top.push((frames.clone(), share)),
            }
        }
    }
    top.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    top.into_iter().map(|(frames, _)| frames).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_one_that_the_pauses_bear() {
        assert_eq!(tail(&[100, 5000]), Some(Quantile::P99));
        assert_eq!(tail(&[20, 24]), Some(Quantile::Worst));
        assert_eq!(tail(&[2, 2]), Some(Quantile::Worst));
        assert_eq!(tail(&[20, 200]), Some(Quantile::P90));
        assert_eq!(tail(&[9, 200]), None);
        assert_eq!(tail(&[0, 0]), None);
    }
}
