//! Adding pauses up that have no line any more.

use super::lengths::rounded;
use crate::{
    recording::line::{Length, Rest},
    report::model::{Part, Pause, State},
};

/// Lengths that are kept at most.
const LENGTHS: usize = 1 << 16;

impl Rest {
    /// Nothing of this process yet.
    #[must_use]
    pub fn of(process: u32) -> Self {
        Self { process, ..Self::default() }
    }

    /// Adds a pause.
    pub fn add(&mut self, pause: &Pause) {
        self.summary.add(pause);
        add_part(&mut self.fault_details, pause.fault_details);
        if let (State::Complete, Some(ns)) = (pause.state, pause.duration_ns) {
            self.add_length(Length { ns: rounded(ns), count: 1 });
        }
        let moments = [pause.requested_ns, pause.stopped_ns, pause.restarting_ns, pause.resumed_ns];
        let (from, to) = (moments.into_iter().flatten().min(), moments.into_iter().flatten().max());
        self.add_time(from, to);
    }

    /// Adds what others add up to.
    pub fn merge(&mut self, other: &Self) {
        self.summary.merge(&other.summary);
        add_part(&mut self.fault_details, other.fault_details);
        other.lengths.iter().for_each(|length| self.add_length(*length));
        self.add_time(other.from_ns, other.to_ns);
    }

    /// How many pauses are in it, of all states.
    #[must_use]
    pub fn pauses(&self) -> u64 {
        self.summary.by_state.values().sum()
    }

    fn add_length(&mut self, more: Length) {
        match self.lengths.binary_search_by_key(&more.ns, |length| length.ns) {
            Ok(place) => self.lengths[place].count = self.lengths[place].count.saturating_add(more.count),
            // Lengths that differ enough are fewer; a file that somebody made up can tell as many as it likes.
            Err(place) if self.lengths.len() >= LENGTHS => {
                let nearest = &mut self.lengths[place.min(LENGTHS - 1)];
                nearest.count = nearest.count.saturating_add(more.count);
            }
            Err(place) => self.lengths.insert(place, more),
        }
    }

    fn add_time(&mut self, from: Option<i64>, to: Option<i64>) {
        self.from_ns = [self.from_ns, from].into_iter().flatten().min();
        self.to_ns = [self.to_ns, to].into_iter().flatten().max();
    }
}

fn add_part(to: &mut Part, from: Part) {
    to.of = to.of.saturating_add(from.of);
    to.have = to.have.saturating_add(from.have);
}
