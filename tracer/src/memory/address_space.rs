//! The target's mappings over time: looked up often, read again when an address is in none of them.

use std::{
    ffi::OsString,
    time::{Duration, Instant},
};

use super::region::{Layout, Placed, Region, place};
use crate::{
    clock::monotonic_ns,
    target::{Backing, FileId, Mapping, holds_userfaultfd, read_maps},
};

/// The map is not read more often than this, however many unknown addresses come.
const REREAD_INTERVAL: Duration = Duration::from_millis(200);
/// To see whether a mapping is still there the map is read more often, for at most this part of the time.
const REREAD_SHARE: u32 = 20;
/// The first address that is the kernel's, on every processor.
const KERNEL_HALF: u64 = 1 << 63;
const PAGE_BYTES: u64 = 4096;

/// The mappings of one process.
#[derive(Debug, Default)]
pub struct AddressSpace {
    pid: u32,
    program: OsString,
    layout: Layout,
    mappings: Vec<Mapping>,
    /// When they were read, `CLOCK_MONOTONIC` in ns.
    read_ns: u64,
    /// As they were read the time before.
    before: Vec<Mapping>,
    read_took: Duration,
    read_at: Option<Instant>,
    generation: u64,
    userfaultfd: bool,
    userfaultfd_asked: Option<Instant>,
}

impl AddressSpace {
    /// Reads the map of a process that runs `program`. A map that can't be read leaves it empty: the process has ended.
    #[must_use]
    pub fn of(pid: u32, program: OsString, layout: Layout) -> Self {
        let mut space = Self { pid, program, layout, ..Self::default() };
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
        if holder(&self.mappings, address).is_none()
            && self.pid != 0
            && self.read_at.is_none_or(|at| at.elapsed() >= REREAD_INTERVAL)
        {
            self.reread();
        }
        if holder(&self.mappings, address).is_none() {
            self.note_page_of_probes(address);
        }
        holder(&self.mappings, address)
    }

    /// Whether the mapping that holds the address now held it at that time too (`CLOCK_MONOTONIC`, in ns), as far as
    /// can be told: it was there when the map was read before and after. A map that is older than a fault can be that
    /// of memory which is long gone.
    pub fn held(&mut self, address: u64, at_ns: u64) -> bool {
        if self.pid == 0 {
            return true;
        }
        if self.read_ns < at_ns && self.read_at.is_none_or(|at| at.elapsed() >= self.read_took * REREAD_SHARE)
        {
            self.reread();
        }
        self.read_ns >= at_ns && same(holder(&self.before, address), holder(&self.mappings, address))
    }

    /// What the address belongs to.
    pub fn place(&mut self, address: u64) -> Placed {
        const NOWHERE: Placed = Placed { region: Region::Unknown, inferred: false };
        let Some(start) = self.find(address).map(|mapping| mapping.start) else { return NOWHERE };
        let Some(mapping) = holder(&self.mappings, address) else { return NOWHERE };
        let before = start.checked_sub(1).and_then(|before| holder(&self.mappings, before));
        place(mapping, before, &self.program, self.layout)
    }

    /// Reads the map again. A process that has ended keeps its last map.
    pub fn reread(&mut self) {
        let begin = Instant::now();
        let begin_ns = monotonic_ns();
        if let Ok(mappings) = read_maps(self.pid) {
            self.take(mappings, begin_ns);
        }
        self.read_at = Some(Instant::now());
        self.read_took = begin.elapsed();
    }

    /// The map as it was read, unless the process ended meanwhile: then there is none, or its last part is missing, to
    /// which the stack belongs.
    fn take(&mut self, mappings: Vec<Mapping>, read_ns: u64) {
        let cut = stack(&mappings).is_none() && stack(&self.mappings).is_some();
        if !mappings.is_empty() && !cut {
            self.before = std::mem::replace(&mut self.mappings, mappings);
            self.read_ns = read_ns;
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

    /// Above the stack the kernel puts nothing later on but the page in which it steps probed instructions (Linux
    /// `xol_add_vma`). So that page is known even if the target ends before its map is read again.
    fn note_page_of_probes(&mut self, address: u64) {
        if stack(&self.mappings).is_some_and(|stack| (stack.end..KERNEL_HALF).contains(&address)) {
            let start = address - address % PAGE_BYTES;
            let index = self.mappings.partition_point(|mapping| mapping.end <= start);
            self.mappings.insert(index, page_of_probes(start));
        }
    }
}

fn page_of_probes(start: u64) -> Mapping {
    Mapping {
        start,
        end: start + PAGE_BYTES,
        offset_bytes: 0,
        executable: true,
        accessible: true,
        file: FileId { device: "00:00".to_owned(), inode: 0 },
        backing: Backing::ProbeSteps,
        name: "[uprobes]".into(),
    }
}

/// The first thread's stack.
fn stack(mappings: &[Mapping]) -> Option<&Mapping> {
    mappings.iter().find(|mapping| mapping.name == "[stack]")
}

/// The mapping that holds the address, of mappings in order.
fn holder(mappings: &[Mapping], address: u64) -> Option<&Mapping> {
    let index = mappings.partition_point(|mapping| mapping.end <= address);
    mappings.get(index).filter(|mapping| mapping.contains(address))
}

/// Whether it is still the same memory; it may have grown.
fn same(before: Option<&Mapping>, now: Option<&Mapping>) -> bool {
    match (before, now) {
        (Some(before), Some(now)) => {
            (before.start, before.backing, &before.file) == (now.start, now.backing, &now.file)
        }
        _ => false,
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

    #[test]
    fn what_has_changed_is_not_trusted() {
        let then =
            parse_maps(b"1000-2000 rw-p 0 fe:0 7 /a\n3000-4000 rw-p 0 0:0 0\n5000-6000 rw-p 0 fe:0 8 /b\n");
        let now = parse_maps(b"1000-2000 rw-p 0 0:0 0\n3000-8000 rw-p 0 0:0 0\n9000-a000 rw-p 0 fe:0 9 /c\n");
        let table = [(0x1000, false), (0x2000, false), (0x3000, true), (0x5000, false), (0x9000, false)];
        for (address, expected) in table {
            assert_eq!(same(holder(&then, address), holder(&now, address)), expected, "{address:#x}");
        }
    }

    #[test]
    fn a_map_without_time_of_its_own_is_trusted() {
        let mut space = AddressSpace::from_mappings(parse_maps(b"1000-2000 rw-p 0 fe:0 7 /a\n"));
        assert!(space.held(0x1000, u64::MAX));
    }

    #[test]
    fn above_the_stack_is_the_page_of_the_probes() {
        let text = b"1000-2000 r-xp 0 fe:0 7 /a\n\
            7ffd00000000-7ffd00021000 rw-p 0 0:0 0 [stack]\n\
            7ffd00030000-7ffd00032000 r-xp 0 0:0 0 [vdso]\n\
            ffffffffff600000-ffffffffff601000 --xp 0 0:0 0 [vsyscall]\n";
        let mut space = AddressSpace::from_mappings(parse_maps(text));
        let mut backing = |address| space.find(address).map(|mapping| mapping.backing);
        assert_eq!(backing(0x7fff_ffff_e010), Some(Backing::ProbeSteps));
        assert_eq!(backing(0x7ffd_0003_0000), Some(Backing::Anonymous));
        assert_eq!(backing(0x3000), None);
        assert_eq!(backing(0x8000_0000_0000_0000), None);
        assert_eq!(backing(0x7fff_ffff_e020), Some(Backing::ProbeSteps));
    }

    #[test]
    fn a_map_that_was_cut_short_is_not_taken() {
        let whole = b"1000-2000 r-xp 0 fe:0 7 /a\n7ffd0000-7ffe0000 rw-p 0 0:0 0 [stack]\n";
        let grown = b"1000-3000 r-xp 0 fe:0 7 /a\n7ffd0000-7ffe0000 rw-p 0 0:0 0 [stack]\n";
        let mut space = AddressSpace::from_mappings(parse_maps(whole));
        for (text, taken) in [(&b""[..], 0), (&whole[..28], 0), (grown, 1)] {
            space.take(parse_maps(text), 1);
            assert_eq!(space.generation(), taken, "{}", String::from_utf8_lossy(text));
        }
        assert!(space.find(0x2000).is_some());
    }
}
