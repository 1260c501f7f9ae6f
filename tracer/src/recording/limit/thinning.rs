//! States of memory: fewer of them, evenly over the time.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

/// Pauses that are kept whole whose state of memory has not come yet: it comes at once, or not at all.
const AWAITED: usize = 1024;

/// Lets one state of each process through in so much time, and those at the ends of pauses that are kept whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Thinning {
    /// 0: all are let through.
    every_ns: i64,
    next_ns: HashMap<u32, i64>,
    awaited: HashSet<(u32, u64)>,
}

#[derive(Deserialize)]
struct MemoryFields {
    process: u32,
    at_ns: i64,
    at_end_of: Option<u64>,
}

impl Thinning {
    /// One in this time.
    pub(super) fn one_in(every_ns: i64) -> Self {
        Self { every_ns, ..Self::default() }
    }

    /// A pause is kept whole.
    pub(super) fn keeps(&mut self, process: u32, pause: u64) {
        if self.awaited.len() >= AWAITED {
            self.awaited.clear();
        }
        self.awaited.insert((process, pause));
    }

    /// Whether this line is let through.
    pub(super) fn lets_through(&mut self, line: &[u8]) -> bool {
        let Ok(MemoryFields { process, at_ns, at_end_of }) = serde_json::from_slice(line) else {
            return true;
        };
        if at_end_of.is_some_and(|pause| self.awaited.remove(&(process, pause))) || self.every_ns == 0 {
            return true;
        }
        let next_ns = self.next_ns.entry(process).or_insert(i64::MIN);
        if at_ns < *next_ns {
            return false;
        }
        // On a grid, so that thinning again takes every other one away, or none.
        *next_ns = (at_ns.div_euclid(self.every_ns) + 1).saturating_mul(self.every_ns);
        true
    }
}
