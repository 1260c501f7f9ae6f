//! How often windows begin: each costs the target its traps, so a trace of a function that is called all the time must
//! not go on unasked.

use std::time::{Duration, Instant};

/// A rate is told of at least so long a time.
const SHORTEST: Duration = Duration::from_millis(100);

/// Compares the rate at which windows begin with what is allowed.
#[derive(Debug)]
pub(super) struct Rate {
    most_per_second: u64,
    begun: u64,
    at: Instant,
}

impl Rate {
    pub(super) fn new(most_per_second: u64, now: Instant) -> Self {
        Self { most_per_second, begun: 0, at: now }
    }

    /// The rate since the last time, in windows per second, if it is more than allowed. `begun`: how many have begun since
    /// the trace did.
    pub(super) fn too_often(&mut self, begun: u64, now: Instant) -> Option<u64> {
        let passed = now.saturating_duration_since(self.at);
        if passed < SHORTEST {
            return None;
        }
        let new = begun.saturating_sub(self.begun);
        (self.begun, self.at) = (begun, now);
        let per_second = u128::from(new) * 1_000_000_000 / passed.as_nanos().max(1);
        let per_second = u64::try_from(per_second).unwrap_or(u64::MAX);
        (per_second > self.most_per_second).then_some(per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_since_the_last_look() {
        let start = Instant::now();
        let mut rate = Rate::new(10_000, start);
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(rate.too_often(2_000, at(200)), None);
        assert_eq!(rate.too_often(900_000, at(250)), None, "too soon to tell");
        assert_eq!(rate.too_often(6_002_000, at(800)), Some(10_000_000));
        assert_eq!(rate.too_often(6_002_000, at(1_000)), None);
    }
}
