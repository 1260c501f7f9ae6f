//! What the guest reported (`scripts/vm/init`): lines, each of a step.

use std::collections::BTreeMap;

/// All lines, in order.
#[derive(Debug)]
pub(super) struct Results {
    lines: Vec<(String, String)>,
}

/// How many there were, by the target's own account and in the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) made: u64,
    pub(super) seen: u64,
}

impl Results {
    pub(super) fn parse(text: &str) -> Self {
        let split = |line: &str| {
            let (step, rest) = line.split_once(' ').unwrap_or((line, ""));
            (step.to_owned(), rest.trim_end().to_owned())
        };
        Self { lines: text.lines().map(split).collect() }
    }

    pub(super) fn of(&self, step: &str) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(move |(of, _)| of == step).map(|(_, line)| line.as_str())
    }

    /// A step's exit status. `None`: it did not come to its end.
    pub(super) fn status(&self, step: &str) -> Option<i32> {
        self.of(step).find_map(|line| line.strip_prefix("status "))?.parse().ok()
    }

    /// What the step printed as one line: its report is wrapped.
    pub(super) fn text(&self, step: &str) -> String {
        self.of(step).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }

    /// How many faults of the whole process the kernel counted and pauselens did not see. `None`: the report says nothing
    /// of it, or it is the other way round.
    pub(super) fn left_over(&self, step: &str) -> Option<u64> {
        let text = self.text(step);
        if text.contains("nothing is left over") {
            return Some(0);
        }
        let (before, _) = text.split_once(" left over, which the kernel counted")?;
        before.rsplit(' ').next()?.replace(',', "").parse().ok()
    }

    /// The table in which the demo compares, by kind of fault; pauses are the row `pauses`.
    pub(super) fn comparison(&self, step: &str) -> BTreeMap<&str, Counts> {
        let row = |line| {
            let words: Vec<&str> = str::split_whitespace(line).collect();
            let [kind, made, seen] = words.as_slice() else { return None };
            Some((*kind, Counts { made: made.parse().ok()?, seen: seen.parse().ok()? }))
        };
        self.of(step)
            .skip_while(|line| !line.contains("own account against the trace"))
            .filter_map(row)
            .collect()
    }
}
