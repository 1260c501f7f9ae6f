//! For tests: memory made of words, of which some pages are missing.

use std::collections::{BTreeMap, BTreeSet};

use crate::target::{ReadMemory, Unread};

const PAGE_BYTES: u64 = 4096;

/// Words by address. A page without any, or one that is swapped out, can't be read.
#[derive(Debug, Default)]
pub(super) struct Words {
    words: BTreeMap<u64, u64>,
    swapped_out: BTreeSet<u64>,
}

impl Words {
    pub(super) fn set(&mut self, address: u64, words: &[u64]) {
        self.words.extend((address..).step_by(8).zip(words.iter().copied()));
    }

    pub(super) fn swap_out(&mut self, address: u64) {
        self.swapped_out.insert(address / PAGE_BYTES);
    }

    pub(super) fn bring_back(&mut self) {
        self.swapped_out.clear();
    }
}

impl ReadMemory for Words {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unread> {
        let end = address + bytes.len() as u64;
        for page in address / PAGE_BYTES..=(end - 1) / PAGE_BYTES {
            let start = page * PAGE_BYTES;
            if self.swapped_out.contains(&page)
                || self.words.range(start..start + PAGE_BYTES).next().is_none()
            {
                return Err(Unread::NotPresent { address: start });
            }
        }
        for (at, byte) in (address..).zip(bytes) {
            let word = self.words.get(&(at - at % 8)).copied().unwrap_or(0);
            *byte = word.to_le_bytes()[usize::try_from(at % 8).unwrap()];
        }
        Ok(())
    }
}
