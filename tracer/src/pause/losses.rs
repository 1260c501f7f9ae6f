//! What the kernel side dropped, by cause.

use std::collections::BTreeMap;

use tracer_common::loss::Loss;

/// Counts by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    counts: BTreeMap<&'static str, u64>,
}

impl Losses {
    /// From the counters, in the order of [`Loss::ALL`].
    #[must_use]
    pub fn from_counters(counters: &[u64]) -> Self {
        let counts =
            Loss::ALL.iter().map(|loss| (loss.name(), counters.get(*loss as usize).copied().unwrap_or(0)));
        Self { counts: counts.collect() }
    }

    /// How often this happened.
    #[must_use]
    pub fn of(&self, loss: Loss) -> u64 {
        self.counts.get(loss.name()).copied().unwrap_or(0)
    }

    /// Every cause by name.
    #[must_use]
    pub fn by_name(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Records that found a ring or a table full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        Loss::ALL.into_iter().filter(|loss| loss.is_for_want_of_room()).map(|loss| self.of(loss)).sum()
    }
}
