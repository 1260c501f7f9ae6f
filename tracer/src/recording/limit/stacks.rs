//! Stacks, which are written when something that is written refers to them.

use std::collections::HashMap;

use super::survey::Survey;

/// A process's number, and a stack's within it.
pub(super) type StackKey = (u32, u32);

/// The stacks of a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct StackStore(HashMap<StackKey, Known>);

#[derive(Clone, Debug, Default)]
struct Known {
    /// Its line, unless that is in the file.
    line: Option<Box<[u8]>>,
    is_written: bool,
    /// Bytes of its lines in the file.
    bytes: u64,
    /// The group of the longest pause that has a fault with it, that refers to it in its own line.
    of_faults: Option<u64>,
    of_lines: Option<u64>,
}

/// What refers to a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Fault,
    Line,
}

impl StackStore {
    /// A stack that nothing refers to yet. One that is there stays.
    pub(super) fn hold(&mut self, key: StackKey, line: &[u8]) {
        let known = self.0.entry(key).or_default();
        if !known.is_written {
            known.line = Some(line.into());
        }
    }

    /// Something that is written refers to the stack: its line, if it is to be written before that. `group`: of the pause.
    pub(super) fn refer(
        &mut self,
        key: StackKey,
        from: From,
        group: Option<u64>,
        survey: &mut Survey,
    ) -> Option<Box<[u8]>> {
        let known = self.0.get_mut(&key)?;
        let line = known.line.take();
        if let Some(line) = &line {
            known.is_written = true;
            known.bytes = line.len() as u64 + 1;
            survey.stack_bytes += known.bytes;
        }
        if let Some(group) = group {
            let of = if from == From::Fault { &mut known.of_faults } else { &mut known.of_lines };
            if of.is_none_or(|before| group > before) {
                let before = of.replace(group);
                if let Some(before) = before {
                    let bytes = bytes_of(from, survey, before);
                    *bytes = bytes.saturating_sub(known.bytes);
                }
                *bytes_of(from, survey, group) += known.bytes;
            }
        }
        line
    }

    /// Whether its names are wanted, of so many bytes: those of a stack that is in no line are not.
    pub(super) fn is_named(&mut self, key: StackKey, bytes: u64, survey: &mut Survey) -> bool {
        let Some(known) = self.0.get_mut(&key).filter(|known| known.is_written) else { return false };
        known.bytes += bytes;
        survey.stack_bytes += bytes;
        for (from, group) in [(From::Fault, known.of_faults), (From::Line, known.of_lines)] {
            if let Some(group) = group {
                *bytes_of(from, survey, group) += bytes;
            }
        }
        true
    }

    /// Those that are not in the file.
    pub(super) fn unwritten(&self) -> Self {
        let held = self.0.iter().filter_map(|(key, known)| {
            let line = known.line.clone()?;
            Some((*key, Known { line: Some(line), ..Known::default() }))
        });
        Self(held.collect())
    }
}

fn bytes_of(from: From, survey: &mut Survey, group: u64) -> &mut u64 {
    let sizes = survey.sizes(group);
    match from {
        From::Fault => &mut sizes.fault_stack_bytes,
        From::Line => &mut sizes.line_stack_bytes,
    }
}
