//! Names and stacks by number: each stands once in the data.

use std::collections::HashMap;

use crate::report::text::shorten;

/// From so many bytes of names on, long ones are cut: a page of hostile names stays a page.
const MOST_BYTES: usize = 1_500_000;

/// How long a name is then, in characters.
const CUT_LENGTH: usize = 160;

/// No name is longer than this, in characters.
const LONGEST: usize = 20_000;

/// All names of the page.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<String, u32>,
    list: Vec<String>,
    bytes: usize,
    stack_numbers: HashMap<Vec<u32>, u32>,
    stacks: Vec<Vec<u32>>,
}

impl Names {
    /// The name's number.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let most = if self.bytes > MOST_BYTES { CUT_LENGTH } else { LONGEST };
        // As it is, control bytes and all: the page shows those by their codes.
        let kept = if name.chars().count() > most { shorten(name, most) } else { name.to_owned() };
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.bytes += kept.len();
        self.list.push(kept);
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The stack's number; frames as they come.
    pub(super) fn stack<'a>(&mut self, frames: impl IntoIterator<Item = &'a str>) -> u32 {
        let frames: Vec<u32> = frames.into_iter().map(|frame| self.number(frame)).collect();
        if let Some(&number) = self.stack_numbers.get(&frames) {
            return number;
        }
        let number = u32::try_from(self.stacks.len()).unwrap_or(u32::MAX);
        self.stacks.push(frames.clone());
        self.stack_numbers.insert(frames, number);
        number
    }

    /// The names by number, and the stacks by number.
    pub(super) fn into_tables(self) -> (Vec<String>, Vec<Vec<u32>>) {
        (self.list, self.stacks)
    }
}
