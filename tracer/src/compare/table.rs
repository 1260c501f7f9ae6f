//! A run as numbers only: the sums that measures need, for each group of pauses.

use super::{
    column::Of,
    measure::{Quantile, Quantity, Source},
    run::Run,
};
use crate::pause::Sorted;

/// A run's numbers.
#[derive(Debug)]
pub(super) struct Table<'a> {
    pub(super) covered_s: f64,
    pub(super) pauses: f64,
    /// Quantiles of all pauses.
    pub(super) quantiles: [Option<f64>; 4],
    /// Lengths of the pauses, if all are there.
    pub(super) lengths: Option<&'a Sorted>,
    /// Which sums there are.
    sources: Vec<Source>,
    /// Whether they are known.
    known: Vec<bool>,
    /// What is not in the groups: pauses without lines. It is never resampled.
    rest: Vec<f64>,
    /// One row for each group.
    rows: Vec<f64>,
    groups: usize,
}

/// What measures are computed from.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    pub(super) sums: Vec<f64>,
    pub(super) quantiles: [Option<f64>; 4],
}

impl<'a> Table<'a> {
    pub(super) fn new(run: &'a Run, quantities: &[Quantity], paths: &[Vec<String>]) -> Self {
        let mut sources: Vec<Source> = Vec::new();
        for source in quantities.iter().flat_map(|quantity| quantity.sources()) {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        let groups = run.groups.len();
        let mut rows = vec![0.0; groups * sources.len()];
        let (mut known, mut rest) = (Vec::new(), Vec::new());
        for (place, source) in sources.iter().enumerate() {
            let path = match *source {
                Source::Column(_) => None,
                Source::Path(path, _) => run.paths.get(&paths[path]),
            };
            let mut seen = 0.0;
            for group in 0..groups {
                let value = match *source {
                    Source::Column(column) => run.groups[group][column.index()],
                    Source::Path(_, of) => path
                        .and_then(|path| path.groups.get(&(group as u16)))
                        .map_or(0.0, |sums| sums[usize::from(of == Of::Ns)]),
                };
                rows[group * sources.len() + place] = value;
                seen += value;
            }
            let total = match *source {
                Source::Column(column) => run.totals[column.index()],
                Source::Path(_, Of::Ns) => path.map_or(0.0, |path| path.ns),
                Source::Path(_, Of::Count) => path.map_or(0.0, |path| path.faults),
            };
            rest.push(total - seen);
            known.push(match *source {
                Source::Column(column) => run.known[column.index()],
                Source::Path(..) => true,
            });
        }
        Self {
            covered_s: run.covered_ns as f64 / 1e9,
            pauses: run.pauses as f64,
            quantiles: run.quantiles.map(|quantile| quantile.map(|ns| ns as f64)),
            lengths: run.has_all_lines().then_some(&run.lengths),
            sources,
            known,
            rest,
            rows,
            groups,
        }
    }

    /// How many groups of pauses there are.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    /// The run as it is.
    pub(super) fn as_is(&self) -> Drawn {
        let mut drawn = Drawn { sums: self.rest.clone(), quantiles: self.quantiles };
        for group in 0..self.groups {
            self.add(group, 1.0, &mut drawn.sums);
        }
        drawn
    }

    /// What never changes: the start of sums.
    pub(super) fn rest(&self) -> &[f64] {
        &self.rest
    }

    /// Adds a group so many times.
    pub(super) fn add(&self, group: usize, times: f64, sums: &mut [f64]) {
        let width = self.sources.len();
        for (sum, value) in sums.iter_mut().zip(&self.rows[group * width..(group + 1) * width]) {
            *sum += times * value;
        }
    }

    /// Where measures find their sums in [`Drawn::sums`].
    pub(super) fn places(&self, quantity: Quantity) -> Places {
        let place = |source| self.sources.iter().position(|known| *known == source).unwrap_or(0);
        let mut places = quantity.sources().into_iter().map(place);
        Places { top: places.next().unwrap_or(0), below: places.next().unwrap_or(0) }
    }

    /// A measure; `None` when it can't be told.
    pub(super) fn value(&self, quantity: Quantity, places: Places, drawn: &Drawn) -> Option<f64> {
        let sum = |place: usize| self.known[place].then(|| drawn.sums[place]);
        let over = |value: f64, below: f64| (below > 0.0).then(|| value / below);
        match quantity {
            Quantity::Pauses => Some(self.pauses),
            Quantity::Rate => over(self.pauses, self.covered_s),
            Quantity::Length(quantile) => drawn.quantiles[quantile as usize],
            Quantity::PerSecond(_) => over(sum(places.top)?, self.covered_s),
            Quantity::PerPause(_) => over(sum(places.top)?, self.pauses),
            Quantity::ShareOfTime(_) => over(sum(places.top)?, self.covered_s * 1e9),
            Quantity::ShareOfPaused(_) => over(sum(places.top)?, sum(places.below)?),
        }
    }
}

/// Places in [`Drawn::sums`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    top: usize,
    below: usize,
}

/// The shares of the quantiles, in their order.
pub(super) fn shares() -> [f64; 4] {
    Quantile::ALL.map(Quantile::share)
}
