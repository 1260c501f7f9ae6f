//! Tracing during a share of the time only: the probes are placed at the begin of each round and taken away after the
//! share, so that the target pays nothing in between.

use std::time::{Duration, Instant};

/// How long a round is. Placing and taking away takes the kernel some tens of milliseconds.
const ROUND: Duration = Duration::from_secs(1);

/// Whose turn it is.
#[derive(Debug)]
pub(super) struct Sampling {
    share: f64,
    watching: bool,
    rests_anew: bool,
    since: Instant,
    until: Instant,
    watched: Duration,
    rounds: u64,
}

/// What is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Turn {
    /// The probes are to be placed.
    Watch,
    /// The probes are to be taken away.
    Rest,
}

/// What was watched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// The share that was asked for, from 0 to 1.
    pub share: f64,
    /// How long the probes were in place, in ns.
    pub watched_ns: u64,
    /// How often they were placed.
    pub rounds: u64,
}

impl Sampling {
    /// The probes are in place.
    pub(super) fn new(share: f64, now: Instant) -> Self {
        let until = now + ROUND.mul_f64(share);
        Self {
            share,
            watching: true,
            rests_anew: false,
            since: now,
            until,
            watched: Duration::ZERO,
            rounds: 1,
        }
    }

    /// What is due now; [`Sampling::done`] is to be called when it has been done.
    pub(super) fn due(&self, now: Instant) -> Option<Turn> {
        (now >= self.until).then_some(if self.watching { Turn::Rest } else { Turn::Watch })
    }

    /// Whether the probes have been taken away since this was asked last.
    pub(super) fn rests_anew(&mut self) -> bool {
        std::mem::take(&mut self.rests_anew)
    }

    /// The turn could not be taken: it is tried again a round later.
    pub(super) fn missed(&mut self, now: Instant) {
        self.until = now + ROUND;
    }

    /// The turn was taken.
    pub(super) fn done(&mut self, turn: Turn, now: Instant) {
        match turn {
            Turn::Rest => {
                self.watched += now.saturating_duration_since(self.since);
                self.watching = false;
                self.rests_anew = true;
                // What it took longer to watch, it rests longer.
                let watched = now.saturating_duration_since(self.since).as_secs_f64();
                let rest = (watched / self.share - watched).max(0.0);
                self.until = now + Duration::from_secs_f64(rest);
            }
            Turn::Watch => {
                self.watching = true;
                self.rounds += 1;
                self.until = now + ROUND.mul_f64(self.share);
            }
        }
        self.since = now;
    }

    /// At the end.
    pub(super) fn finish(&self, now: Instant) -> Sampled {
        let open = if self.watching { now.saturating_duration_since(self.since) } else { Duration::ZERO };
        let watched_ns = u64::try_from((self.watched + open).as_nanos()).unwrap_or(u64::MAX);
        Sampled { share: self.share, watched_ns, rounds: self.rounds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_taken_and_the_share_is_kept_also_when_they_are_late() {
        let start = Instant::now();
        let mut now = start;
        let mut sampling = Sampling::new(0.1, start);
        for _ in 0..2_000 {
            // A clock that ticks every 20 ms, and a kernel that takes 15 ms for a turn.
            now += Duration::from_millis(20);
            if let Some(turn) = sampling.due(now) {
                now += Duration::from_millis(15);
                sampling.done(turn, now);
            }
        }
        let sampled = sampling.finish(now);
        let share = sampled.watched_ns as f64 / now.duration_since(start).as_nanos() as f64;
        assert!((0.08..0.12).contains(&share), "{share}");
        assert!(sampled.rounds > 20, "{sampled:?}");
    }
}
