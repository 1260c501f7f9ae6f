//! The verdict on a measure: a pure function of what was found.

use super::{measure::Wanted, model::Verdict};

/// With fewer runs than this on a side nothing is known of how much runs differ by themselves.
pub(super) const LEAST_RUNS: usize = 3;

/// What is asked of a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// The largest p.
    pub(super) p: f64,
    /// The smallest difference, as a share: 0.05 for 5 %.
    pub(super) difference: f64,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// How many runs there are.
    pub(super) runs: [usize; 2],
    /// The least p that so many runs can come to.
    pub(super) least_p: f64,
    /// How good the measure's own one is; `None` where the measure is not known in every run.
    pub(super) p: Option<f64>,
    /// The median of A.
    pub(super) a: Option<f64>,
    /// The median of B.
    pub(super) b: Option<f64>,
    /// Where B − A may lie.
    pub(super) interval: Option<[f64; 2]>,
    /// Which way is good.
    pub(super) wanted: Wanted,
}

/// Whether so many runs can bear any verdict.
pub(super) fn can_tell(runs: [usize; 2], least_p: f64, bar: Bar) -> bool {
    runs.iter().all(|&runs| runs >= LEAST_RUNS) && least_p <= bar.p
}

/// The verdict and why.
pub(super) fn verdict(found: &Found, bar: Bar) -> (Verdict, String) {
    let none = |why: String| (Verdict::NoDifferenceShown, why);
    let (Some(a), Some(b), Some(interval)) = (found.a, found.b, found.interval) else {
        return none("it is not known in every run".to_owned());
    };
    if !can_tell(found.runs, found.least_p, bar) {
        return none(too_few(found.runs, found.least_p, bar));
    }
    let Some(p) = found.p else { return none("it is not known in every run".to_owned()) };
    if p > bar.p {
        return none(format!(
            "in {} of the ways to put the runs into two groups these differ as much",
            percent(p)
        ));
    }
    if interval[0] <= 0.0 && interval[1] >= 0.0 {
        return none("the interval of the difference holds none at all".to_owned());
    }
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low > 0.0 && high / low < 1.0 + bar.difference {
        return none(format!("the difference is smaller than {}", percent(bar.difference)));
    }
    let verdict = match (found.wanted, b > a) {
        (Wanted::Lower, true) => Verdict::Worse,
        (Wanted::Lower, false) => Verdict::Better,
        (Wanted::Neither, true) => Verdict::Higher,
        (Wanted::Neither, false) => Verdict::Lower,
    };
    (
        verdict,
        format!("only in {} of the ways to put the runs into two groups do these differ as much", percent(p)),
    )
}

/// Why so many runs bear no verdict, and how many do.
pub(super) fn too_few([a, b]: [usize; 2], least_p: f64, bar: Bar) -> String {
    let runs = |n: usize| if n == 1 { "1 run".to_owned() } else { format!("{n} runs") };
    let needed = needed([a, b], bar);
    if a.min(b) < LEAST_RUNS {
        return format!(
            "{} against {}: how much runs differ by themselves is not known from fewer than {LEAST_RUNS} on a side; \
             {needed} are needed",
            runs(a),
            runs(b)
        );
    }
    format!(
        "{} against {}: even if all of one side were above all of the other, chance alone would do that in {} of the \
         ways; {needed} are needed",
        runs(a),
        runs(b),
        percent(least_p)
    )
}

/// `at least 4 runs on each side`.
fn needed(runs: [usize; 2], bar: Bar) -> String {
    let enough = |n: usize| super::permutation::least_p(n, n) <= bar.p;
    let each = (LEAST_RUNS..).find(|&n| enough(n)).unwrap_or(LEAST_RUNS);
    debug_assert!(runs.iter().any(|&runs| runs < each), "so many are enough");
    format!("at least {each} runs on each side")
}

/// `2.9 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 {
        return "less than 0.1 %".to_owned();
    }
    let text = format!("{percent:.1}");
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::permutation::least_p;

    const BAR: Bar = Bar { p: 0.05, difference: 0.05 };

    fn found(runs: [usize; 2], a: f64, b: f64, p: f64, interval: [f64; 2]) -> Found {
        Found {
            runs,
            least_p: least_p(runs[0], runs[1]),
            p: Some(p),
            a: Some(a),
            b: Some(b),
            interval: Some(interval),
            wanted: Wanted::Lower,
        }
    }

    #[test]
    fn all_conditions_have_to_hold() {
        let holds = found([4, 4], 10.0, 20.0, 2.0 / 70.0, [8.0, 12.0]);
        let is = |found: Found| verdict(&found, BAR).0;
        assert_eq!(is(holds), Verdict::Worse);
        assert_eq!(
            is(Found { a: Some(20.0), b: Some(10.0), interval: Some([-12.0, -8.0]), ..holds }),
            Verdict::Better
        );
        assert_eq!(is(Found { wanted: Wanted::Neither, ..holds }), Verdict::Higher);
        for not in [
            Found { p: Some(0.051), ..holds },
            Found { p: None, ..holds },
            Found { a: None, ..holds },
            Found { interval: None, ..holds },
            Found { interval: Some([-0.1, 12.0]), ..holds },
            Found { b: Some(10.4), interval: Some([0.1, 0.6]), ..holds },
        ] {
            assert_eq!(is(not), Verdict::NoDifferenceShown, "{not:?}");
        }
        assert_eq!(
            is(Found { a: Some(0.0), b: Some(1.0), interval: Some([0.5, 1.5]), ..holds }),
            Verdict::Worse
        );
    }

    #[test]
    fn few_runs_bear_no_verdict_however_far_apart_they_are() {
        for runs in [[1, 1], [2, 2], [1, 100], [2, 50], [3, 3], [3, 4]] {
            let far = found(runs, 1.0, 1e9, least_p(runs[0], runs[1]), [1e9, 1e9]);
            let (verdict, why) = verdict(&far, BAR);
            assert_eq!(verdict, Verdict::NoDifferenceShown, "{runs:?}");
            assert!(why.contains("at least 4 runs on each side are needed"), "{why}");
        }
        for runs in [[4, 4], [3, 5], [5, 3]] {
            let far = found(runs, 1.0, 1e9, least_p(runs[0], runs[1]), [1e9, 1e9]);
            assert_eq!(verdict(&far, BAR).0, Verdict::Worse, "{runs:?}");
        }
        let (_, why) = verdict(&found([3, 3], 1.0, 2.0, 0.1, [1.0, 1.0]), BAR);
        assert!(why.contains("in 10 % of the ways"), "{why}");
    }
}
