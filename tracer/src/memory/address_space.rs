//! The target's mappings over time: looked up often, read again when an address is in none of them.

use std::time::{Duration, Instant};

use crate::target::{Mapping, holds_userfaultfd, read_maps};

/// The map is not read more often than this, however many unknown addresses come.
const REREAD_INTERVAL: Duration = Duration::from_millis(200);

/// The mappings of one process.
#[derive(Debug, Default)]
pub struct AddressSpace {
    pid: u32,
    mappings: Vec<Mapping>,
    read_at: Option<Instant>,
    generation: u64,
    userfaultfd: bool,
    userfaultfd_asked: Option<Instant>,
}

impl AddressSpace {
    /// Reads the map of a process. A map that can't be read leaves it empty: the process has ended.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        let mut space = Self { pid, ..Self::default() };
        space.reread();
        // What is mapped right after the start, such as the page for probed instructions, is looked for at once.
        space.read_at = None;
        space
    }

    /// An address space for tests and recordings.
    #[must_use]
    pub fn from_mappings(mappings: Vec<Mapping>) -> Self {
        Self { mappings, ..Self::default() }
    }

    /// All mappings as they were last read.
    #[must_use]
    pub fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// Grows each time the map has been read.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The mapping that holds the address. `None`: it is in none, or the map could not be read again in time.
    pub fn find(&mut self, address: u64) -> Option<&Mapping> {
        if self.position(address).is_none()
            && self.pid != 0
            && self.read_at.is_none_or(|at| at.elapsed() >= REREAD_INTERVAL)
        {
            self.reread();
        }
        self.position(address).map(|index| &self.mappings[index])
    }

    /// Reads the map again. A process that has ended keeps its last map.
    pub fn reread(&mut self) {
        self.read_at = Some(Instant::now());
        if let Ok(mappings) = read_maps(self.pid)
            && !mappings.is_empty()
        {
            self.mappings = mappings;
            self.generation += 1;
        }
    }

    /// Whether the target holds a userfaultfd, now or earlier; asked again when it did not a while ago.
    pub fn userfaultfd(&mut self) -> bool {
        let due = self.userfaultfd_asked.is_none_or(|at| at.elapsed() >= REREAD_INTERVAL);
        if !self.userfaultfd && self.pid != 0 && due {
            self.userfaultfd_asked = Some(Instant::now());
            self.userfaultfd = holds_userfaultfd(self.pid);
        }
        self.userfaultfd
    }

    fn position(&self, address: u64) -> Option<usize> {
        let index = self.mappings.partition_point(|mapping| mapping.end <= address);
        self.mappings.get(index).is_some_and(|mapping| mapping.contains(address)).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::parse_maps;

    #[test]
    fn addresses_at_the_edges_are_found() {
        let text = b"1000-2000 r--p 0 0:0 0 a\n3000-4000 r--p 0 0:0 0 b\n";
        let mut space = AddressSpace::from_mappings(parse_maps(text));
        for (address, name) in [
            (0xfff, None),
            (0x1000, Some("a")),
            (0x1fff, Some("a")),
            (0x2000, None),
            (0x3fff, Some("b")),
            (0x4000, None),
        ] {
            let found = space.find(address).map(|mapping| mapping.name.to_string_lossy().into_owned());
            assert_eq!(found.as_deref(), name, "{address:#x}");
        }
    }
}
