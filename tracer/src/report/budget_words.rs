//! Numbers of the anatomy in words, for the text and the diagnosis alike.

use super::model::{BudgetPart, DeviceReads, StoppingBudget, Worker};
use super::units;

impl BudgetPart {
    /// Whether it is inside page faults.
    #[must_use]
    pub fn is_in_faults(&self) -> bool {
        self.name.starts_with("fault_")
    }

    /// Its words without where it was: `blocked on I/O` for `in faults, blocked on I/O`.
    #[must_use]
    pub fn short_words(&self) -> &'static str {
        self.words.strip_prefix("in faults, ").unwrap_or(self.words)
    }
}

impl Worker {
    /// Whether it did anything in the pause: one that was blocked all the time, or of which only that is known, did not.
    #[must_use]
    pub fn worked(&self) -> bool {
        self.faults > 0 || self.in_faults_ns > 0 || self.busy_ns() > 0
    }

    /// Its time other than blocked outside faults, as far as it was seen.
    #[must_use]
    pub fn busy_ns(&self) -> u64 {
        let idle = ["blocked_futex", "blocked_io", "blocked_other", "blocked_unknown", "parked", "unknown"];
        let parts = self.budget.parts().into_iter().filter(|part| !idle.contains(&part.name));
        parts.fold(0, |sum, part| sum.saturating_add(part.ns))
    }
}

impl StoppingBudget {
    /// All parts.
    #[must_use]
    pub fn parts(&self) -> [BudgetPart; 5] {
        let part = |name, words, ns| BudgetPart { name, words, ns };
        [
            part("fault", "in page faults", self.fault_ns),
            part("on_cpu", "on CPU", self.on_cpu_ns),
            part("waiting_for_cpu", "waiting for a CPU", self.waiting_for_cpu_ns),
            part("blocked", "blocked in a system call", self.blocked_ns),
            part("unknown", "not seen", self.unknown_ns),
        ]
    }

    /// `8.00 ms on CPU, 4.00 ms in page faults`: longest first, without those that are 0.
    #[must_use]
    pub fn in_words(&self) -> String {
        let mut parts: Vec<BudgetPart> = self.parts().into_iter().filter(|part| part.ns > 0).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.ns));
        let words = parts.iter().map(|part| format!("{} {}", units::duration(part.ns), part.words));
        let words = words.collect::<Vec<_>>().join(", ");
        if words.is_empty() { "no time".to_owned() } else { words }
    }
}

impl DeviceReads {
    /// `read from` a device, `waited for` another thread's read.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        if self.requests == 0 && self.serves.is_none() { "waited for" } else { "read from" }
    }

    /// `205 requests, 6.41 MiB, 1,435 pages of it read ahead`; `None` without a request.
    #[must_use]
    pub fn requests_in_words(&self) -> Option<String> {
        let ahead = match self.read_ahead_pages {
            0 => "nothing".to_owned(),
            n => units::counted(n, "page", "pages"),
        };
        let requests = units::counted(self.requests, "request", "requests");
        (self.requests > 0)
            .then(|| format!("{requests}, {}, {ahead} of it read ahead", units::bytes(self.bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::Budget;

    #[test]
    fn parts_are_named_without_their_place() {
        for part in Budget::default().parts() {
            assert_eq!(part.is_in_faults(), part.words != part.short_words(), "{part:?}");
        }
    }

    #[test]
    fn the_longest_comes_first_and_nothing_is_left_out() {
        let budget = StoppingBudget { fault_ns: 1, on_cpu_ns: 2_000, ..StoppingBudget::default() };
        assert_eq!(budget.in_words(), "2.00 µs on CPU, 1 ns in page faults");
        assert_eq!(StoppingBudget::default().in_words(), "no time");
        let all = StoppingBudget {
            fault_ns: 1,
            on_cpu_ns: 10,
            waiting_for_cpu_ns: 100,
            blocked_ns: 1_000,
            unknown_ns: 10_000,
        };
        assert_eq!(all.parts().iter().map(|part| part.ns).sum::<u64>(), all.sum_ns());
    }
}
