//! Intervals by resampling: runs are drawn again from the runs of their side, and where these are few, pauses from those of
//! each drawn run.

use rand::RngExt as _;
use rand_distr::{Beta, Distribution as _};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng as _};

use super::{
    measure::Quantity,
    table::{Drawn, Places, Table, shares},
};

/// From so many runs on, only runs are drawn: each run's value has the chance of its pauses in it already, so drawing
/// these as well counts it twice. With fewer runs, drawing runs alone gives too narrow intervals, and this makes up for it.
/// `docs/compare.md` has the measured coverage of both.
const RUNS_ENOUGH: usize = 5;

/// How it is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) resamples: u32,
    pub(super) seed: u64,
    /// The share of the resamples that an interval holds.
    pub(super) confidence: f64,
}

/// Where a difference and a ratio may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) difference: [f64; 2],
    /// Infinite where A may be 0.
    pub(super) ratio: [f64; 2],
}

/// The interval of each measure, of B's median over runs against A's; `None` where it is not known in every run.
pub(super) fn intervals(
    sides: [&[Table<'_>]; 2],
    quantities: &[Quantity],
    how: How,
) -> Vec<Option<Interval>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(how.seed);
    let Some(any) = sides.iter().flat_map(|side| side.iter()).next() else {
        return vec![None; quantities.len()];
    };
    let places: Vec<Places> = quantities.iter().map(|&quantity| any.places(quantity)).collect();
    let count = how.resamples as usize;
    let mut differences = vec![Vec::with_capacity(count); quantities.len()];
    let mut ratios = vec![Vec::with_capacity(count); quantities.len()];
    let mut drawn = [(); 2].map(|()| vec![Vec::<f64>::new(); quantities.len()]);
    let mut resampler = Resampler::default();
    let as_is = sides.map(|side| side.iter().map(Table::as_is).collect::<Vec<_>>());
    for _ in 0..how.resamples {
        for ((side, as_is), values) in sides.iter().zip(&as_is).zip(&mut drawn) {
            values.iter_mut().for_each(Vec::clear);
            for _ in 0..side.len() {
                let run = random.random_range(0..side.len());
                let table = &side[run];
                let drawn = if side.len() < RUNS_ENOUGH {
                    resampler.draw(table, &mut random);
                    &resampler.drawn
                } else {
                    &as_is[run]
                };
                for ((&quantity, &places), values) in quantities.iter().zip(&places).zip(values.iter_mut()) {
                    values.extend(table.value(quantity, places, drawn));
                }
            }
        }
        for index in 0..quantities.len() {
            let [a, b] = &mut drawn;
            // A measure that a run lacks is one that can't be compared.
            if a[index].len() < sides[0].len() || b[index].len() < sides[1].len() {
                continue;
            }
            let (Some(a), Some(b)) = (median(&mut a[index]), median(&mut b[index])) else { continue };
            differences[index].push(b - a);
            ratios[index].push(if a == b { 1.0 } else { b / a });
        }
    }
    let within =
        |values: &mut Vec<f64>| (values.len() == count).then(|| middle(values, how.confidence)).flatten();
    let pairs = differences.iter_mut().zip(&mut ratios);
    pairs
        .map(|(differences, ratios)| {
            Some(Interval { difference: within(differences)?, ratio: within(ratios)? })
        })
        .collect()
}

/// Draws the pauses of a run again.
#[derive(Debug, Default)]
struct Resampler {
    drawn: Drawn,
    times: Vec<u16>,
}

impl Resampler {
    fn draw(&mut self, table: &Table<'_>, random: &mut Xoshiro256PlusPlus) {
        self.drawn.sums.clear();
        self.drawn.sums.extend_from_slice(table.rest());
        let groups = table.groups();
        self.times.clear();
        self.times.resize(groups, 0);
        for _ in 0..groups {
            self.times[random.random_range(0..groups)] += 1;
        }
        for (group, &times) in self.times.iter().enumerate() {
            if times > 0 {
                table.add(group, f64::from(times), &mut self.drawn.sums);
            }
        }
        self.drawn.quantiles = table.quantiles;
        let Some(lengths) = table.lengths else { return };
        for (quantile, share) in self.drawn.quantiles.iter_mut().zip(shares()) {
            if let Some(drawn) = draw_quantile(lengths.count(), share, random) {
                *quantile = lengths.quantile(drawn).map(|ns| ns as f64);
            }
        }
    }
}

/// Which share's quantile of `count` values is the quantile of `share` of as many values drawn from them.
///
/// The k-th smallest of n uniform numbers has the distribution Beta(k, n + 1 - k): so one draw stands for n.
fn draw_quantile(count: u64, share: f64, random: &mut Xoshiro256PlusPlus) -> Option<f64> {
    let count = count as f64;
    let rank = (share * count).ceil().max(1.0);
    let beta = Beta::new(rank, count + 1.0 - rank).ok()?;
    Some(beta.sample(random))
}

/// The median; of an even number of values the middle between two.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[half]),
        _ => Some(f64::midpoint(values[half - 1], values[half])),
    }
}

/// The least and the most of the middle share of the values.
fn middle(values: &mut [f64], share: f64) -> Option<[f64; 2]> {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = |part: f64| values[(part * last as f64).round() as usize];
    let left_out = (1.0 - share) / 2.0;
    Some([at(left_out), at(1.0 - left_out)])
}
