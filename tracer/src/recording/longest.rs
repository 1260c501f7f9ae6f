//! The pauses of a recording that a report lists.

use std::cmp::Reverse;

use crate::report::model::Pause;

/// Pauses without a length that are listed beside the longest ones.
const PARTIAL_KEPT: usize = 64;

/// Keeps the longest pauses, and some of those without a length.
#[derive(Debug)]
pub(super) struct Kept {
    how_many: Option<usize>,
    measured: Vec<Pause>,
    partial: Vec<Pause>,
}

impl Kept {
    /// `how_many`: `None` for all.
    pub(super) fn new(how_many: Option<usize>) -> Self {
        Self { how_many, measured: Vec::new(), partial: Vec::new() }
    }

    pub(super) fn add(&mut self, pause: Pause) {
        let (list, most) = if pause.duration_ns.is_some() {
            (&mut self.measured, self.how_many)
        } else {
            (&mut self.partial, self.how_many.map(|_| PARTIAL_KEPT))
        };
        list.push(pause);
        // Sorted rarely, so that many cost little.
        if let Some(most) = most
            && list.len() >= most.saturating_mul(2).max(64)
        {
            shorten(list, most);
        }
    }

    /// With a length, longest first; then the others in the order of time.
    pub(super) fn into_list(mut self) -> Vec<Pause> {
        shorten(&mut self.measured, self.how_many.unwrap_or(usize::MAX));
        shorten(&mut self.partial, self.how_many.map_or(usize::MAX, |_| PARTIAL_KEPT));
        self.measured.append(&mut self.partial);
        self.measured
    }
}

fn shorten(list: &mut Vec<Pause>, most: usize) {
    list.sort_by_key(|pause| (Reverse(pause.duration_ns), pause.id));
    list.truncate(most);
}
