//! How often chance does as much: the runs of both sides are put into two groups in every way that there is.
//!
//! Were the sides the same, each way would be as likely as the one that was found. The statistic is how closely a measure
//! follows the grouping (its correlation with it, whatever the direction), so that measures of different units can be
//! compared; adjusted for many measures, a p counts the ways in which any one of them follows the grouping as closely.
//! That adjustment is exact, and knows that measures go together.

use rand::seq::SliceRandom as _;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng as _};

/// With more ways than this, so many are tried at random.
const MOST_WAYS: u64 = 20_000;

/// Correlations that differ by less are the same.
const SAME: f64 = 1e-9;

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tested {
    /// For each measure; `None` where a value is missing.
    pub(super) p: Vec<Option<f64>>,
    /// Adjusted for all measures of the family.
    pub(super) adjusted: Vec<Option<f64>>,
    /// How many ways were tried.
    pub(super) ways: u64,
    /// Whether these were all.
    pub(super) exact: bool,
}

/// In how many ways `of` things can be put into groups of `taken` and the others; saturating.
pub(super) fn ways(of: usize, taken: usize) -> u64 {
    let taken = taken.min(of - taken);
    (0..taken as u128)
        .try_fold(1_u128, |ways, n| Some(ways.checked_mul(of as u128 - n)? / (n + 1)))
        .map_or(u64::MAX, |ways| u64::try_from(ways).unwrap_or(u64::MAX))
}

/// The least p that complete separation comes to, whichever side is higher.
pub(super) fn least_p(a: usize, b: usize) -> f64 {
    2.0 / ways(a + b, a) as f64
}

/// Tests each measure: its values in the runs of A, then in those of B. `family` says which of them share an adjustment.
pub(super) fn test(measures: &[Vec<Option<f64>>], family: &[usize], a: usize, seed: u64) -> Tested {
    let runs = measures.first().map_or(0, Vec::len);
    let scores: Vec<Option<Vec<f64>>> = measures.iter().map(|values| scores(values)).collect();
    let all = ways(runs, a);
    let exact = all <= MOST_WAYS;
    let mut grouping: Vec<bool> = (0..runs).map(|run| run >= a).collect();
    let found: Vec<f64> = scores.iter().map(|scores| follows(scores.as_deref(), &grouping)).collect();
    let (mut as_much, mut any_as_much) = (vec![0_u64; measures.len()], vec![0_u64; measures.len()]);
    let families = family.iter().max().map_or(0, |most| most + 1);
    let mut most = vec![0.0_f64; families];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let tried = if exact { all } else { MOST_WAYS };
    for way in 0..tried {
        // The first way is the one that was found, whether all are tried or some.
        if way > 0 {
            if exact { next(&mut grouping) } else { grouping.shuffle(&mut random) }
        }
        most.fill(0.0);
        let these: Vec<f64> = scores.iter().map(|scores| follows(scores.as_deref(), &grouping)).collect();
        for (index, &value) in these.iter().enumerate() {
            as_much[index] += u64::from(value >= found[index] - SAME);
            let most = &mut most[family[index]];
            *most = most.max(value);
        }
        for index in 0..measures.len() {
            any_as_much[index] += u64::from(most[family[index]] >= found[index] - SAME);
        }
    }
    let share = |counts: Vec<u64>| {
        let shares = counts.into_iter().zip(&scores);
        shares.map(|(count, known)| known.as_ref().map(|_| count as f64 / tried as f64)).collect()
    };
    Tested { p: share(as_much), adjusted: share(any_as_much), ways: tried, exact }
}

/// Logarithms, around their mean, at length 1: ratios count, and one run that is far off does not decide alone. A 0 has
/// none and is taken as half of the smallest value that is none. `None` when a value is missing.
fn scores(values: &[Option<f64>]) -> Option<Vec<f64>> {
    let values: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    let least = values.iter().copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    if least.is_infinite() {
        return Some(vec![0.0; values.len()]);
    }
    let mut scores: Vec<f64> = values.iter().map(|value| value.max(least / 2.0).ln()).collect();
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    scores.iter_mut().for_each(|score| *score -= mean);
    let length = scores.iter().map(|score| score * score).sum::<f64>().sqrt();
    // Equal values have no direction; what rounding leaves of it is none.
    let scale = if length > 1e-12 { 1.0 / length } else { 0.0 };
    scores.iter_mut().for_each(|score| *score *= scale);
    Some(scores)
}

/// How closely the scores follow a grouping, from 0 to 1.
fn follows(scores: Option<&[f64]>, grouping: &[bool]) -> f64 {
    let Some(scores) = scores else { return 0.0 };
    let in_b = grouping.iter().filter(|in_b| **in_b).count() as f64;
    let in_a = grouping.len() as f64 - in_b;
    // Scores add up to 0, so B's sum tells A's.
    let sum: f64 = scores.iter().zip(grouping).filter(|(_, in_b)| **in_b).map(|(score, _)| score).sum();
    sum.abs() * (1.0 / in_a + 1.0 / in_b).sqrt()
}

/// The next grouping in lexical order; behind the last one comes the first. The one that is found, all of A before all of B, is the first.
fn next(grouping: &mut [bool]) {
    let Some(rise) = grouping.windows(2).rposition(|pair| !pair[0] && pair[1]) else {
        grouping.reverse();
        return;
    };
    let Some(swap) = grouping.iter().rposition(|in_b| *in_b) else { return };
    grouping.swap(rise, swap);
    grouping[rise + 1..].reverse();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn ways_are_counted() {
        assert_eq!((ways(6, 3), ways(8, 4), ways(10, 5), ways(7, 3), ways(9, 2)), (20, 70, 252, 35, 36));
        assert_eq!((ways(5, 0), ways(5, 5), ways(500, 250)), (1, 1, u64::MAX));
        assert!((least_p(3, 3) - 0.1).abs() < 1e-12);
        assert!((least_p(4, 4) - 2.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn every_grouping_is_tried_once() {
        let mut grouping = vec![false, false, false, true, true];
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..ways(5, 3) {
            assert_eq!(grouping.iter().filter(|in_b| **in_b).count(), 2);
            assert!(seen.insert(grouping.clone()), "{grouping:?} comes twice");
            next(&mut grouping);
        }
        assert_eq!(grouping, [false, false, false, true, true], "the first one comes after the last");
    }

    #[test]
    fn complete_separation_has_the_least_p() {
        for (a, b, expected) in [(3, 3, 2.0 / 20.0), (4, 4, 2.0 / 70.0), (5, 5, 2.0 / 252.0)] {
            let values: Vec<f64> =
                (0..a).map(|n| 1.0 + n as f64).chain((0..b).map(|n| 100.0 + n as f64)).collect();
            let tested = test(&[known(&values)], &[0], a, 1);
            assert!((tested.p[0].unwrap() - expected).abs() < 1e-12, "{a} and {b}: {tested:?}");
            assert_eq!(tested.adjusted, tested.p, "one measure needs no adjustment");
            assert!(tested.exact);
        }
    }

    #[test]
    fn by_hand() {
        // Scores in the order of size: of the 6 ways to choose 2 of 4, these two and their opposites are as far apart.
        let tested = test(&[known(&[1.0, 3.0, 2.0, 4.0])], &[0], 2, 1);
        assert_eq!(tested.ways, 6);
        // |ln(2·4) - ln(1·3)| = 0.98; the ways have 2.48 (1 2 | 3 4), 0.98 (1 3 | 2 4), 0.29 (1 4 | 2 3), each twice.
        assert!((tested.p[0].unwrap() - 4.0 / 6.0).abs() < 1e-12, "{tested:?}");
    }

    #[test]
    fn many_measures_are_adjusted_for_and_equal_ones_cost_nothing() {
        let separated = known(&[1.0, 1.1, 1.2, 1.3, 2.0, 2.1, 2.2, 2.3]);
        let twice = test(&[separated.clone(), separated.clone()], &[0, 0], 4, 1);
        assert_eq!(twice.adjusted, twice.p);
        // Another one that follows another grouping even more closely.
        let other = known(&[1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 1.0, 9.0]);
        let tested = test(&[separated.clone(), other.clone()], &[0, 0], 4, 1);
        assert!((tested.p[0].unwrap() - 2.0 / 70.0).abs() < 1e-12);
        assert!((tested.adjusted[0].unwrap() - 4.0 / 70.0).abs() < 1e-12, "{tested:?}");
        let apart = test(&[separated, other], &[0, 1], 4, 1);
        assert_eq!(apart.adjusted, apart.p, "families have nothing to do with each other");
    }

    #[test]
    fn nothing_differs_where_all_are_equal_and_unknown_is_unknown() {
        let zeros = known(&[0.0; 8]);
        let equal = known(&[3.7; 8]);
        let mut missing = known(&[1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
        missing[2] = None;
        let tested = test(&[zeros, equal, missing], &[0, 0, 0], 4, 1);
        assert_eq!(tested.p, [Some(1.0), Some(1.0), None]);
    }

    #[test]
    fn zeros_against_something_differ() {
        let tested = test(&[known(&[0.0, 0.0, 0.0, 0.0, 5.0, 6.0, 7.0, 8.0])], &[0], 4, 1);
        assert!((tested.p[0].unwrap() - 2.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn too_many_ways_are_sampled_and_close() {
        let values: Vec<f64> = (0..20).map(|n| 1.0 + f64::from(n)).collect();
        let tested = test(&[known(&values)], &[0], 10, 7);
        assert!(!tested.exact);
        assert!(tested.p[0].unwrap() <= 2.0 / 20_000.0);
    }
}
