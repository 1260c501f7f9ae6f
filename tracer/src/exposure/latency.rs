//! Times of single reads, summed up.

use super::model::{Latency, LatencySource};

/// What the probe has timed, in ns.
#[derive(Clone, Debug, Default)]
pub(super) struct Timed {
    /// Reads of the device, at addresses far from each other.
    pub(super) far: Vec<u64>,
    /// Pages read one after the other.
    pub(super) sequential_pages: u64,
    /// Reads of the device among them.
    pub(super) sequential_reads: u64,
    /// Their time.
    pub(super) sequential_ns: u64,
}

impl Timed {
    /// `None` without any read.
    pub(super) fn latency(mut self, probe_bytes: u64) -> Option<Latency> {
        self.far.sort_unstable();
        let reads = self.far.len() as u64;
        let mean_ns = self.far.iter().sum::<u64>().checked_div(reads)?;
        let usual = &self.far[..self.far.len() - self.far.len() / 20];
        let usual_ns = usual.iter().sum::<u64>().checked_div(usual.len() as u64)?;
        let of = |share: f64| self.far.get(((reads as f64 - 1.0) * share).round() as usize).copied();
        Some(Latency {
            source: LatencySource::Probe,
            reads,
            mean_ns,
            usual_ns,
            p10_ns: of(0.1),
            p50_ns: of(0.5),
            p90_ns: of(0.9),
            sequential_page_ns: self.sequential_ns.checked_div(self.sequential_pages),
            sequential_pages: Some(self.sequential_pages),
            sequential_reads: Some(self.sequential_reads),
            probe_bytes: Some(probe_bytes),
        })
    }
}

impl Latency {
    /// From swap-ins that a trace has seen: how many, and their time. `None` when there were too few to tell.
    #[must_use]
    pub fn of_trace(reads: u64, ns: u64) -> Option<Self> {
        /// Fewer say little of the next one.
        const FEWEST: u64 = 16;
        (reads >= FEWEST).then(|| Self {
            source: LatencySource::Trace,
            reads,
            mean_ns: ns / reads,
            usual_ns: ns / reads,
            p10_ns: None,
            p50_ns: None,
            p90_ns: None,
            sequential_page_ns: None,
            sequential_pages: None,
            sequential_reads: None,
            probe_bytes: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_means() {
        let timed = Timed {
            far: (1..=20).rev().map(|n| n * 10).chain([10_000]).collect(),
            sequential_pages: 64,
            sequential_reads: 9,
            sequential_ns: 640,
        };
        let latency = timed.latency(4096).unwrap();
        assert_eq!((latency.p10_ns, latency.p50_ns, latency.p90_ns), (Some(30), Some(110), Some(190)));
        assert_eq!((latency.mean_ns, latency.usual_ns), (12_100 / 21, 105));
        assert_eq!((latency.sequential_page_ns, latency.sequential_reads), (Some(10), Some(9)));
        assert_eq!(Timed::default().latency(0), None);
        assert_eq!(Latency::of_trace(15, 1500), None);
        assert_eq!(Latency::of_trace(16, 1600).map(|latency| latency.mean_ns), Some(100));
    }
}
