//! The profile's strings, each of them once.

use std::collections::HashMap;

use crate::report::inert::inert;

/// The strings so far.
#[derive(Debug)]
pub(super) struct Strings {
    all: Vec<String>,
    place_of: HashMap<String, i64>,
}

impl Default for Strings {
    /// The first one has to be empty.
    fn default() -> Self {
        Self { all: vec![String::new()], place_of: [(String::new(), 0)].into() }
    }
}

impl Strings {
    /// The place of a string, its control characters escaped: pprof prints them on terminals.
    pub(super) fn of(&mut self, string: &str) -> i64 {
        if let Some(&place) = self.place_of.get(string) {
            return place;
        }
        let place = i64::try_from(self.all.len()).unwrap_or_default();
        self.place_of.insert(string.to_owned(), place);
        self.all.push(inert(string, &[]).into_owned());
        place
    }

    pub(super) fn finish(self) -> Vec<String> {
        self.all
    }
}
