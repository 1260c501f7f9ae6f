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
        if let Some(histogram) = &self.folded {
            return Some(histogram.value_at_quantile(share));
        }
        self.exact.sort_unstable();
        let rank = (share * self.exact.len() as f64).ceil().max(1.0) as usize;
        self.exact.get(rank - 1).copied()
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
