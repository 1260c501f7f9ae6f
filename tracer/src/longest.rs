//! The longest of many, in bounded memory.

use std::cmp::Reverse;

/// Keeps the longest ones.
#[derive(Debug)]
pub(crate) struct Longest<T> {
    most: usize,
    /// Shorter ones than this are not among the longest; 0 until that is known.
    least_ns: u64,
    kept: Vec<(u64, u64, T)>,
}

impl<T> Longest<T> {
    /// Keeps so many.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, least_ns: 0, kept: Vec::new() }
    }

    /// Offers one: its length, and its place in the order of equals. What is not kept is dropped at some time.
    pub(crate) fn offer(&mut self, ns: u64, id: u64, what: T) {
        self.kept.push((ns, id, what));
        if self.kept.len() >= self.most.saturating_mul(2).max(1) {
            self.cut();
        }
    }

    /// Whether so long a one can still be among them: makes building it worth while.
    pub(crate) fn wants(&self, ns: u64) -> bool {
        ns >= self.least_ns
    }

    fn cut(&mut self) {
        self.kept.sort_by_key(|&(ns, id, _)| (Reverse(ns), id));
        self.kept.truncate(self.most);
        if self.kept.len() == self.most {
            self.least_ns = self.kept.last().map_or(0, |&(ns, ..)| ns);
        }
    }

    /// The longest ones, longest first.
    pub(crate) fn into_sorted(mut self) -> Vec<T> {
        self.take().into_iter().map(|(.., what)| what).collect()
    }

    /// Takes the longest ones out, longest first: their lengths, their places among equals, and they.
    pub(crate) fn take(&mut self) -> Vec<(u64, u64, T)> {
        self.cut();
        self.least_ns = 0;
        std::mem::take(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stay_in_order() {
        let mut longest = Longest::new(3);
        for n in [5_u64, 1, 9, 9, 2, 7, 3, 8, 0] {
            if longest.wants(n) {
                longest.offer(n, n, n);
            }
        }
        assert_eq!(longest.into_sorted(), [9, 9, 8]);
    }
}
