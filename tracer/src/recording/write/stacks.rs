//! Numbers for stacks, while their names are not known yet.

use std::{cell::RefCell, collections::HashMap};

use crate::{
    recording::{line, reference},
    report::described::StackNames,
};

/// The stacks of a process that have been met.
#[derive(Debug, Default)]
pub(super) struct Numbered(RefCell<Known>);

#[derive(Debug, Default)]
struct Known {
    process: u32,
    numbers: HashMap<Key, u32>,
    /// Those whose lines are still to be written.
    new: Vec<line::Stack>,
}

/// A stack, and how it was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Its identity on the kernel side.
    pub(super) identity: u64,
    /// The caller that was read at a function's entry; 0 elsewhere.
    pub(super) caller: u64,
    pub(super) cut: bool,
    /// Its frames were lost.
    pub(super) lost: bool,
}

impl Numbered {
    pub(super) fn of(process: u32) -> Self {
        Self(RefCell::new(Known { process, ..Known::default() }))
    }

    /// The stack's number.
    pub(super) fn number(&self, identity: u64, frames: Option<&[u64]>, cut: bool) -> u32 {
        self.0.borrow_mut().number(Key { identity, caller: 0, cut, lost: frames.is_none() }, frames)
    }

    /// The lines of those that were met since the last time.
    pub(super) fn new_lines(&self) -> Vec<line::Stack> {
        std::mem::take(&mut self.0.borrow_mut().new)
    }

    /// All, with their numbers.
    pub(super) fn all(&self) -> Vec<(Key, u32)> {
        let mut all: Vec<(Key, u32)> =
            self.0.borrow().numbers.iter().map(|(key, number)| (*key, *number)).collect();
        all.sort_by_key(|(_, number)| *number);
        all
    }
}

impl Known {
    fn number(&mut self, key: Key, frames: Option<&[u64]>) -> u32 {
        let next = u32::try_from(self.numbers.len() + 1).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.new.push(line::Stack {
                process: self.process,
                stack: number,
                addresses: frames.unwrap_or_default().iter().map(|frame| format!("{frame:#x}")).collect(),
                cut: key.cut,
                at_entry: key.caller != 0,
            });
        }
        number
    }
}

impl StackNames for Numbered {
    fn stack(&self, identity: u64, frames: Option<&[u64]>, cut: bool) -> Vec<String> {
        reference(self.number(identity, frames, cut))
    }

    fn at_entry(&self, identity: u64, caller: u64, frames: &[u64]) -> Vec<String> {
        let key = Key { identity, caller, cut: false, lost: false };
        reference(self.0.borrow_mut().number(key, Some(frames)))
    }
}
