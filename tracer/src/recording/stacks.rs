//! The stacks of a process: from a reference to names.

use std::{borrow::Cow, collections::HashMap};

use super::{
    line::{Frame, Mapping, Names, Stack},
    unnamed::Unnamed,
};

/// Stands for a stack that the recording does not hold.
const MISSING: &str = "[stack missing from the recording]";
/// The frame that stands for a stack that was lost in the kernel.
const LOST: &str = "[stack lost]";

/// A process's stacks.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    walked: HashMap<u32, Stack>,
    named: HashMap<u32, Vec<Frame>>,
}

impl Stacks {
    /// Adds a stack's addresses.
    pub fn add(&mut self, stack: Stack) {
        self.walked.insert(stack.stack, stack);
    }

    /// Adds a stack's names.
    pub fn name(&mut self, names: Names) {
        self.named.insert(names.stack, names.frames);
    }

    /// Names the frames of stacks that have no names, which come at the end of a trace.
    pub(super) fn name_missing(&mut self, mappings: &[Mapping]) {
        let is_missing =
            |number: &u32, stack: &Stack| !stack.addresses.is_empty() && !self.named.contains_key(number);
        let missing: Vec<&Stack> = self
            .walked
            .iter()
            .filter(|(number, stack)| is_missing(number, stack))
            .map(|(_, stack)| stack)
            .collect();
        if missing.is_empty() {
            return;
        }
        let unnamed = Unnamed::of(mappings);
        let named: Vec<(u32, Vec<Frame>)> =
            missing.into_iter().map(|stack| (stack.stack, unnamed.frames(stack))).collect();
        self.named.extend(named);
    }

    /// The stack's frames, innermost first, never empty. Without names they have addresses for names, in square brackets.
    #[must_use]
    pub fn frames(&self, stack: u32) -> Vec<Frame> {
        if let Some(frames) = self.named.get(&stack).filter(|frames| !frames.is_empty()) {
            return frames.clone();
        }
        let marked = |name: &str| vec![Frame { name: name.to_owned(), address: None }];
        match self.walked.get(&stack) {
            None => marked(MISSING),
            Some(walked) if walked.addresses.is_empty() => marked(LOST),
            Some(walked) => walked
                .addresses
                .iter()
                .map(|address| Frame { name: format!("[{address}]"), address: Some(address.clone()) })
                .collect(),
        }
    }

    /// The innermost function's name.
    #[must_use]
    pub fn innermost(&self, stack: u32) -> Cow<'_, str> {
        match self.named.get(&stack).and_then(|frames| frames.first()) {
            Some(frame) => Cow::Borrowed(&frame.name),
            None => Cow::Owned(self.frames(stack).swap_remove(0).name),
        }
    }

    /// The stack's names, innermost first.
    #[must_use]
    pub fn names(&self, stack: u32) -> Vec<String> {
        self.frames(stack).into_iter().map(|frame| frame.name).collect()
    }
}

/// A reference begins with this.
const REFERENCE: char = '@';

/// The reference to a stack, in place of its names.
#[must_use]
pub fn reference(stack: u32) -> Vec<String> {
    vec![format!("{REFERENCE}{stack}")]
}

impl Stacks {
    /// The names that a reference stands for; what is none stays as it is.
    #[must_use]
    pub fn resolve(&self, frames: &[String]) -> Vec<String> {
        match frames {
            [only] => match only.strip_prefix(REFERENCE).and_then(|number| number.parse().ok()) {
                Some(stack) => self.names(stack),
                None => frames.to_vec(),
            },
            _ => frames.to_vec(),
        }
    }
}
