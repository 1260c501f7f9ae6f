//! How many bytes of the file are of pauses of which length.

use std::collections::BTreeMap;

use super::fields::PauseKey;

/// Bits of a length that tell one group from the next.
const BITS: u32 = 6;

/// So many of the longest pauses are known one by one.
const WORST: usize = 64;

/// Bytes of lines, by the length of the pauses that they are of. It stays small however many there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    /// By the least length of each group.
    pub(super) groups: BTreeMap<u64, Sizes>,
    /// The longest pauses, the longest first; of equally long ones the first that came.
    pub(super) worst: Vec<Worst>,
    /// Lines of stacks, which are also counted for the pauses that need them.
    pub(super) stack_bytes: u64,
    /// Other lines that are of no pause.
    pub(super) other_bytes: u64,
    /// Of them, states of memory.
    pub(super) memory_bytes: u64,
    /// How many those are.
    pub(super) memory_lines: u64,
    /// Of the other lines those of which one takes the place of several when the file is written anew: how many bytes, and
    /// the largest one. By process, when they are of one.
    renewed: BTreeMap<Option<u32>, (u64, u64)>,
}

/// One of the longest pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Worst {
    pub(super) key: PauseKey,
    pub(super) ns: u64,
    pub(super) line_bytes: u64,
    /// Lines of faults that are in the file.
    pub(super) fault_bytes: u64,
    /// What these take there, when they are many.
    pub(super) file_bytes: Option<u64>,
}

/// Bytes of the lines of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    /// How many pauses.
    pub(super) pauses: u64,
    /// Their own lines.
    pub(super) line_bytes: u64,
    /// The lines of their faults.
    pub(super) fault_bytes: u64,
    /// Stacks that no longer pause's line refers to.
    pub(super) line_stack_bytes: u64,
    /// Stacks that no fault of a longer pause has.
    pub(super) fault_stack_bytes: u64,
}

impl Survey {
    /// The group of a length: the least one in it.
    pub(super) fn group(duration_ns: Option<u64>) -> u64 {
        let ns = duration_ns.unwrap_or(0);
        let dropped = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS);
        ns >> dropped << dropped
    }

    /// A pause has its line.
    pub(super) fn pause(&mut self, pause: Worst) {
        let place = self.worst.partition_point(|other| other.ns >= pause.ns);
        if place < WORST {
            self.worst.truncate(WORST - 1);
            self.worst.insert(place, pause);
        }
    }

    /// One of the other lines will take the place of all of its kind.
    pub(super) fn renewed(&mut self, process: Option<u32>, bytes: u64) {
        let (all, largest) = self.renewed.entry(process).or_default();
        *all += bytes;
        *largest = bytes.max(*largest);
    }

    /// What stays when the file is written anew, besides pauses, stacks and states of memory.
    pub(super) fn fixed_bytes(&self) -> u64 {
        let renewed: u64 = self.renewed.values().map(|(all, largest)| all - largest).sum();
        self.other_bytes.saturating_sub(self.memory_bytes + renewed)
    }

    pub(super) fn sizes(&mut self, group: u64) -> &mut Sizes {
        self.groups.entry(group).or_default()
    }
}
