//! The longest of many, in bounded memory.

use std::cmp::Reverse;

/// Keeps the longest ones.
#[derive(Debug)]
pub(super) struct Worst<T> {
    most: usize,
    /// Shorter ones than this are not among the longest; 0 until that is known.
    least_ns: u64,
    kept: Vec<(u64, u64, T)>,
}

impl<T> Worst<T> {
    /// Keeps so many.
    pub(super) fn new(most: usize) -> Self {
        Self { most, least_ns: 0, kept: Vec::new() }
    }

    /// Offers one: its length, and its place in the order of equals. What is not kept is dropped at some time.
    pub(super) fn offer(&mut self, ns: u64, id: u64, what: T) {
        self.kept.push((ns, id, what));
        if self.kept.len() >= self.most * 2 {
            self.cut();
        }
    }

    /// Whether so long a one can still be among them: makes building it worth while.
    pub(super) fn wants(&self, ns: u64) -> bool {
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
    pub(super) fn into_sorted(mut self) -> Vec<T> {
        self.cut();
        self.kept.into_iter().map(|(.., what)| what).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stay_in_order() {
        let mut worst = Worst::new(3);
        for n in [5_u64, 1, 9, 9, 2, 7, 3, 8, 0] {
            if worst.wants(n) {
                worst.offer(n, n, n);
            }
        }
        assert_eq!(worst.into_sorted(), [9, 9, 8]);
    }
}
