//! Lengths of pauses and their quantiles: exact up to a bound, then a histogram, so that memory stays bounded.

use hdrhistogram::Histogram;

/// This many lengths are kept as they are (8 MiB).
const KEPT: usize = 1 << 20;

/// Lengths in nanoseconds.
#[derive(Debug, Default)]
pub struct Durations {
    exact: Vec<u64>,
    folded: Option<Histogram<u64>>,
}

impl Durations {
    /// Adds one.
    pub fn add(&mut self, ns: u64) {
        if let Some(histogram) = &mut self.folded {
            histogram.saturating_record(ns);
            return;
        }
        self.exact.push(ns);
        if self.exact.len() >= KEPT {
            self.fold();
        }
    }

    /// Adds as many of about this length: quantiles are no longer exact.
    pub fn add_about(&mut self, ns: u64, count: u64) {
        if count > 0 && self.folded.is_none() {
            self.fold();
        }
        if let Some(histogram) = &mut self.folded {
            histogram.saturating_record_n(ns, count);
        }
    }

    fn fold(&mut self) {
        // Three significant digits; lengths up to a day.
        let Ok(mut histogram) = Histogram::new_with_bounds(1, 86_400_000_000_000, 3) else { return };
        for ns in self.exact.drain(..) {
            histogram.saturating_record(ns);
        }
        self.exact.shrink_to_fit();
        self.folded = Some(histogram);
    }

    /// Whether quantiles are exact, or within 0.1 %.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.folded.is_none()
    }

    /// The smallest kept length that at least this share (0 to 1) of them doesn't exceed; `None` when there is none.
    pub fn quantile(&mut self, share: f64) -> Option<u64> {
        self.exact.sort_unstable();
        self.at(share)
    }

    /// The lengths when no more are added: for many quantiles of the same ones.
    #[must_use]
    pub fn sorted(mut self) -> Sorted {
        self.exact.sort_unstable();
        Sorted(self)
    }

    /// The quantile, when the lengths are in order.
    fn at(&self, share: f64) -> Option<u64> {
        if let Some(histogram) = &self.folded {
            return Some(histogram.value_at_quantile(share));
        }
        let rank = (share * self.exact.len() as f64).ceil().max(1.0) as usize;
        self.exact.get(rank - 1).copied()
    }
}

/// Lengths in order.
#[derive(Debug)]
pub struct Sorted(Durations);

impl Sorted {
    /// As [`Durations::quantile`].
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        self.0.at(share)
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.folded.as_ref().map_or(self.0.exact.len() as u64, Histogram::len)
    }

    /// As [`Durations::is_exact`].
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.0.is_exact()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_few() {
        let mut durations = Durations::default();
        assert_eq!(durations.quantile(0.5), None);
        for ns in [30, 10, 20] {
            durations.add(ns);
        }
        assert_eq!(durations.quantile(0.5), Some(20));
        assert_eq!(durations.quantile(0.99), Some(30));
        assert_eq!(durations.quantile(0.0), Some(10));
        durations.add(40);
        assert_eq!(durations.quantile(0.5), Some(20));
        assert!(durations.is_exact());
    }

    #[test]
    fn lengths_that_were_added_up_make_quantiles_close() {
        let mut durations = Durations::default();
        durations.add_about(7, 0);
        durations.add(100_000);
        assert!(durations.is_exact());
        durations.add_about(5_000, 3);
        assert!(!durations.is_exact());
        let near = |found: Option<u64>, ns: u64| found.is_some_and(|found| found.abs_diff(ns) * 1000 <= ns);
        assert!(near(durations.quantile(0.5), 5_000) && near(durations.quantile(1.0), 100_000));
    }

    #[test]
    fn many_are_folded_and_stay_close() {
        let mut durations = Durations::default();
        for ns in 0..(KEPT as u64 + 1000) {
            durations.add(1000 + ns);
        }
        assert!(!durations.is_exact());
        let median = durations.quantile(0.5).expect("there are some") as f64;
        let expected = 1000.0 + KEPT as f64 / 2.0;
        assert!((median - expected).abs() / expected < 0.002, "{median} against {expected}");
    }
}
