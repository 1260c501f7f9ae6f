//! The target's mappings over time, and its runtime's structures: looked up often, read again when they may have
//! changed.

use std::time::{Duration, Instant};

use super::{
    history::{Found, History, Span, position},
    region::{Placed, Region},
    rules::{KERNEL_CHOSEN, Layout, Program, place},
    thread_stacks::ThreadStacks,
};
use crate::{
    clock::monotonic_ns,
    runtime::RuntimeMemory,
    target::{Backing, FileId, Mapping, holds_userfaultfd, read_maps},
};

/// The map is not read more often than this, however many unknown addresses come.
const REREAD_INTERVAL: Duration = Duration::from_millis(200);
/// To see whether a mapping is still there the map is read more often, for at most this part of the time.
const REREAD_SHARE: u32 = 20;
/// The first address that is the kernel's, on every processor.
const KERNEL_HALF: u64 = 1 << 63;
const PAGE_BYTES: u64 = 4096;

/// In place of what the rules say when the runtime's heap is known and the address is not in it.
const OTHER_BOOKKEEPING: &str = "other bookkeeping";

/// A part of the regions that can't be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// The part, such as `mark bits`.
    pub part: String,
    /// Why, and what is done instead.
    pub why: String,
}

/// The mappings of one process.
#[derive(Debug, Default)]
pub struct AddressSpace {
    pid: u32,
    program: Program,
    history: History,
    runtime: Option<Box<dyn RuntimeMemory>>,
    thread_stacks: ThreadStacks,
    unavailable: Vec<Unavailable>,
    read_took: Duration,
    read_at: Option<Instant>,
    generation: u64,
    userfaultfd: bool,
    userfaultfd_asked: Option<Instant>,
}

impl AddressSpace {
    /// Reads the map of a process that runs `program`. A map that can't be read leaves it empty: the process has ended.
    #[must_use]
    pub fn of(pid: u32, program: Program) -> Self {
        let mut space = Self { pid, program, ..Self::default() };
        space.reread();
        // What is mapped right after the start, such as the page for probed instructions, is looked for at once.
        space.read_at = None;
        space
    }

    /// An address space for tests and recordings.
    #[must_use]
    pub fn from_mappings(mappings: Vec<Mapping>) -> Self {
        Self { history: History::of(mappings), ..Self::default() }
    }

    /// What its runtime's own structures say, or why they can't be read.
    pub fn set_runtime(&mut self, runtime: Result<Box<dyn RuntimeMemory>, String>) {
        match runtime {
            Ok(runtime) => self.runtime = Some(runtime),
            Err(why) => self.unavailable.push(Unavailable {
                part: "regions: the runtime's own structures".to_owned(),
                why: format!(
                    "{why}; heap and bookkeeping are told apart by where they lie, and marked as inferred"
                ),
            }),
        }
    }

    /// The program's addresses that its file has loaded as zeros.
    pub fn set_zeroed(&mut self, zeroed: Vec<std::ops::Range<u64>>) {
        self.program.zeroed = zeroed;
    }

    /// What could not be had, and why.
    #[must_use]
    pub fn unavailable(&self) -> Vec<Unavailable> {
        let missing = self.runtime.iter().flat_map(|runtime| runtime.missing());
        let parts = missing.map(|missing| Unavailable {
            part: format!("regions: {}", missing.part),
            why: format!("{}; what lies there has the region that the rest gives it", missing.why),
        });
        self.unavailable.iter().cloned().chain(parts).collect()
    }

    /// All mappings as they were last read.
    #[must_use]
    pub fn mappings(&self) -> &[Mapping] {
        self.history.latest()
    }

    /// Grows each time the map has changed.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The mapping that held the address at that time (from, to; `CLOCK_MONOTONIC` in ns), as far as can be told.
    /// `None`: it was in none, or the map could not be read again in time.
    pub fn find(&mut self, address: u64, span: Span) -> Option<&Mapping> {
        let found = self.look_up(address, span, false)?;
        self.history.mapping(found)
    }

    /// Whether the mapping that [`find`](Self::find) gives is known to be that of the time: the maps that were read before
    /// and after agree on it. A map that is older than a fault can be that of memory which is long gone.
    pub fn held(&mut self, address: u64, span: Span) -> bool {
        self.look_up(address, span, true).is_some_and(|found| found.certain && found.mapping.is_some())
    }

    /// What the address belonged to at that time.
    pub fn place(&mut self, address: u64, span: Span) -> Placed {
        let found = self.look_up(address, span, true);
        self.place_found(address, found)
    }

    /// What the address belongs to in the map as it was last read.
    pub fn place_now(&mut self, address: u64) -> Placed {
        let found = self.history.now(address);
        self.place_found(address, found)
    }

    fn place_found(&mut self, address: u64, found: Option<Found>) -> Placed {
        let mut placed = found.and_then(|found| self.by_mapping(found)).unwrap_or_else(Placed::nowhere);
        let mapping = found.and_then(|found| self.history.mapping(found));
        if mapping.is_none_or(|mapping| mapping.backing == Backing::Anonymous) {
            // The runtime's structures never move, so they need no map of the time.
            if let Some(by_runtime) = self.by_runtime(address, &placed) {
                return by_runtime;
            }
            if found.is_some_and(|found| self.is_thread_stack(found, &placed)) {
                placed = Placed::seen(Region::ThreadStack, "thread stack");
            } else if self.is_outside_of_the_heap(&placed) {
                placed = Placed::inferred(Region::RuntimeMetadata, OTHER_BOOKKEEPING);
            }
        } else if let Some(mapping) = mapping.filter(|mapping| mapping.is_file()) {
            placed.offset_bytes = Some(address - mapping.start + mapping.offset_bytes);
        }
        placed.inferred |= found.is_some_and(|found| !found.certain) && placed.region != Region::Unknown;
        placed
    }

    /// Reads the map again. A process that has ended keeps its last map.
    pub fn reread(&mut self) {
        let (begin, begin_ns) = (Instant::now(), monotonic_ns());
        match read_maps(self.pid) {
            Ok(mappings) => self.take(mappings, (begin_ns, monotonic_ns())),
            Err(error) if self.history.latest().is_empty() && self.unavailable.is_empty() => {
                let why = format!("/proc/{}/maps can't be read ({error})", self.pid);
                self.unavailable.push(Unavailable { part: "regions".to_owned(), why });
            }
            Err(_) => {}
        }
        self.read_at = Some(Instant::now());
        self.read_took = begin.elapsed();
    }

    /// The map as it was read, unless the process ended meanwhile: then there is none, or its last part is missing, to
    /// which the stack belongs.
    fn take(&mut self, mappings: Vec<Mapping>, read: Span) {
        let cut = stack(&mappings).is_none() && stack(self.history.latest()).is_some();
        if !mappings.is_empty() && !cut && self.history.take(mappings, read) {
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

    /// Looks the address up. `certain`: in a map that was read after that time, if that can be had.
    fn look_up(&mut self, address: u64, span: Span, certain: bool) -> Option<Found> {
        let waited = |least: Duration| self.read_at.is_none_or(|at| at.elapsed() >= least);
        let old = certain && self.history.read_ns() < span.1 && waited(self.read_took * REREAD_SHARE);
        let unknown = position(self.history.latest(), address).is_none() && waited(REREAD_INTERVAL);
        if self.pid != 0 && (old || unknown) {
            self.reread();
        }
        let found = self.history.at(address, span)?;
        if found.mapping.is_none() && self.note_page_of_probes(address) {
            return self.history.at(address, span);
        }
        Some(found)
    }

    /// What the mapping tells; worked out once for each.
    fn by_mapping(&mut self, found: Found) -> Option<Placed> {
        let (program, index) = (&self.program, found.mapping?);
        let version = self.history.version_mut(found.version)?;
        if version.placed.get(index)?.is_none() {
            let mapping = version.mappings.get(index)?;
            let before = index.checked_sub(1).and_then(|before| version.mappings.get(before));
            let before = before.filter(|before| before.end == mapping.start);
            version.placed[index] = Some(place(mapping, before, program));
        }
        version.placed[index].clone()
    }

    /// What the runtime's structures tell of anonymous memory. Without an answer rules remain.
    fn by_runtime(&mut self, address: u64, by_mapping: &Placed) -> Option<Placed> {
        let runtime = self.runtime.as_mut()?;
        // HotSpot's memory has nothing that a rule could go by.
        let told_by_nothing =
            self.program.layout == Layout::HotSpot && by_mapping.region == Region::OtherAnonymous;
        let open = of_runtime(by_mapping) || by_mapping.inferred || told_by_nothing;
        if !open && by_mapping.region != Region::Unknown {
            return None;
        }
        runtime.look_again_for(address);
        let found = runtime.find(address)?;
        let region = if found.heap { Region::RuntimeHeap } else { Region::RuntimeMetadata };
        Some(Placed::seen(region, found.what))
    }

    /// Whether a rule says that it is the runtime's, while the runtime knows its whole heap, and this is not in it.
    fn is_outside_of_the_heap(&self, by_mapping: &Placed) -> bool {
        let heap_is_known = self.runtime.as_ref().is_some_and(|runtime| runtime.heap_is_known());
        by_mapping.inferred && of_runtime(by_mapping) && heap_is_known
    }

    /// Whether the mapping, of which nothing but a rule tells, is the stack of a thread. Go's heap holds stacks as well:
    /// that is no mapping of the kernel's choice.
    fn is_thread_stack(&mut self, found: Found, placed: &Placed) -> bool {
        let by_rule = matches!(placed.region, Region::RuntimeMetadata | Region::OtherAnonymous);
        let Some(version) = self.history.version_mut(found.version).filter(|_| by_rule && self.pid != 0)
        else {
            return false;
        };
        let Some(mapping) = found.mapping.and_then(|index| version.mappings.get(index)) else { return false };
        let below = mapping.start.checked_sub(1).and_then(|below| position(&version.mappings, below));
        let before = below.and_then(|index| version.mappings.get(index));
        let possible = mapping.start >= KERNEL_CHOSEN && mapping.name.is_empty();
        possible && self.thread_stacks.hold(self.pid, mapping, before)
    }

    /// Above the stack the kernel puts nothing later on but the page in which it steps probed instructions (Linux
    /// `xol_add_vma`). So that page is known even if the target ends before its map is read again.
    fn note_page_of_probes(&mut self, address: u64) -> bool {
        let above =
            stack(self.history.latest()).is_some_and(|stack| (stack.end..KERNEL_HALF).contains(&address));
        let Some(version) = self.history.latest_mut().filter(|_| above) else { return false };
        if position(&version.mappings, address).is_some() {
            return false;
        }
        let start = address - address % PAGE_BYTES;
        let index = version.mappings.partition_point(|mapping| mapping.end <= start);
        version.mappings.insert(index, page_of_probes(start));
        version.placed.insert(index, None);
        true
    }
}

fn of_runtime(placed: &Placed) -> bool {
    matches!(placed.region, Region::RuntimeHeap | Region::RuntimeMetadata)
}

fn page_of_probes(start: u64) -> Mapping {
    Mapping {
        start,
        end: start + PAGE_BYTES,
        offset_bytes: 0,
        executable: true,
        readable: true,
        writable: false,
        file: FileId { device: "00:00".to_owned(), inode: 0 },
        backing: Backing::ProbeSteps,
        name: "[uprobes]".into(),
    }
}

/// The first thread's stack.
fn stack(mappings: &[Mapping]) -> Option<&Mapping> {
    mappings.iter().find(|mapping| mapping.name == "[stack]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        runtime::{Belongs, Missing},
        target::parse_maps,
    };

    const NOW: Span = (5, 6);

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
            let found = space.find(address, NOW).map(|mapping| mapping.name.to_string_lossy().into_owned());
            assert_eq!(found.as_deref(), name, "{address:#x}");
        }
    }

    #[test]
    fn a_map_without_time_of_its_own_is_trusted() {
        let mut space = AddressSpace::from_mappings(parse_maps(b"1000-2000 rw-p 0 fe:0 7 /a\n"));
        assert!(space.held(0x1000, (u64::MAX, u64::MAX)));
    }

    #[test]
    fn above_the_stack_is_the_page_of_the_probes() {
        let text = b"1000-2000 r-xp 0 fe:0 7 /a\n\
            7ffd00000000-7ffd00021000 rw-p 0 0:0 0 [stack]\n\
            7ffd00030000-7ffd00032000 r-xp 0 0:0 0 [vdso]\n\
            ffffffffff600000-ffffffffff601000 --xp 0 0:0 0 [vsyscall]\n";
        let mut space = AddressSpace::from_mappings(parse_maps(text));
        let mut backing = |address| space.find(address, NOW).map(|mapping| mapping.backing);
        assert_eq!(backing(0x7fff_ffff_e010), Some(Backing::ProbeSteps));
        assert_eq!(backing(0x7ffd_0003_0000), Some(Backing::Anonymous));
        assert_eq!(backing(0x3000), None);
        assert_eq!(backing(0x8000_0000_0000_0000), None);
        assert_eq!(backing(0x7fff_ffff_e020), Some(Backing::ProbeSteps));
        assert_eq!(space.place(0x7fff_ffff_e020, NOW).region, Region::Unknown);
    }

    #[test]
    fn a_map_that_was_cut_short_is_not_taken() {
        let whole = b"1000-2000 r-xp 0 fe:0 7 /a\n7ffd0000-7ffe0000 rw-p 0 0:0 0 [stack]\n";
        let grown = b"1000-3000 r-xp 0 fe:0 7 /a\n7ffd0000-7ffe0000 rw-p 0 0:0 0 [stack]\n";
        let mut space = AddressSpace::from_mappings(parse_maps(whole));
        for (text, taken) in [(&b""[..], 0), (&whole[..28], 0), (grown, 1)] {
            space.take(parse_maps(text), (1, 2));
            assert_eq!(space.generation(), taken, "{}", String::from_utf8_lossy(text));
        }
        assert!(space.mappings()[0].contains(0x2000));
    }

    #[test]
    fn files_have_offsets_and_a_process_that_is_gone_says_so() {
        let text = b"1000-3000 r--p 7000 fe:0 7 /lib/libx.so.1\n4000-5000 rw-p 0 0:0 0 \n";
        let mut space = AddressSpace::from_mappings(parse_maps(text));
        let placed = space.place(0x2010, NOW);
        assert_eq!((placed.region, &*placed.what), (Region::Library, "/lib/libx.so.1"));
        assert_eq!((placed.offset_bytes, placed.inferred), (Some(0x8010), false));
        assert_eq!(space.place(0x4000, NOW).offset_bytes, None);
        assert_eq!(space.place(0x9000, NOW), Placed::nowhere());
        // Larger than any pid_max (2^22).
        let mut gone = AddressSpace::of(1 << 23, Program { path: "/a".into(), ..Program::default() });
        assert_eq!(gone.place(0x2010, NOW), Placed::nowhere());
        assert!(gone.unavailable()[0].why.contains("/proc/8388608/maps"), "{:?}", gone.unavailable());
    }

    /// A runtime with one arena and one other structure.
    #[derive(Debug)]
    struct OneArena {
        known: bool,
    }

    impl RuntimeMemory for OneArena {
        fn find(&mut self, address: u64) -> Option<Belongs> {
            let belongs = |heap, what: &str| Some(Belongs { heap, what: what.into() });
            match address {
                0x7f00_0000_0000..0x7f00_0400_0000 => belongs(true, "heap arenas"),
                0x7f10_0000_0000..0x7f10_0000_1000 => belongs(false, "mark bits"),
                _ => None,
            }
        }

        fn look_again_for(&mut self, _address: u64) -> bool {
            false
        }

        fn heap_is_known(&self) -> bool {
            self.known
        }

        fn missing(&self) -> Vec<Missing> {
            vec![Missing { part: "span sets", why: "it is elsewhere".to_owned() }]
        }
    }

    #[test]
    fn the_runtime_s_own_word_goes_before_rules() {
        let text = b"c000000000-c000400000 rw-p 0 0:0 0\n\
            7f0000000000-7f0004000000 rw-p 0 0:0 0\n\
            7f1000000000-7f1000010000 rw-p 0 0:0 0\n\
            7f2000000000-7f2000010000 rw-p 0 fe:0 3 /lib/libc.so.6\n\
            7f2000010000-7f2000020000 rw-p 0 0:0 0\n";
        let heap = |inferred| (Region::RuntimeHeap, "heap arenas", inferred);
        let metadata = |what, inferred| (Region::RuntimeMetadata, what, inferred);
        let tables = [
            (
                None,
                [
                    heap(true),
                    metadata("bookkeeping", true),
                    metadata("bookkeeping", true),
                    metadata("bookkeeping", true),
                ],
            ),
            (
                Some(false),
                [heap(true), heap(false), metadata("mark bits", false), metadata("bookkeeping", true)],
            ),
            (
                Some(true),
                [
                    metadata(OTHER_BOOKKEEPING, true),
                    heap(false),
                    metadata("mark bits", false),
                    metadata(OTHER_BOOKKEEPING, true),
                ],
            ),
        ];
        for (runtime, expected) in tables {
            let mut space = AddressSpace::from_mappings(parse_maps(text));
            space.program.layout = Layout::Go;
            if let Some(known) = runtime {
                space.set_runtime(Ok(Box::new(OneArena { known })));
                assert_eq!(space.unavailable()[0].part, "regions: span sets");
            }
            let addresses = [0xc0_0000_0000, 0x7f00_0000_1000, 0x7f10_0000_0008, 0x7f10_0000_8000];
            for (address, expected) in addresses.into_iter().zip(expected) {
                let placed = space.place(address, NOW);
                assert_eq!(
                    (placed.region, &*placed.what, placed.inferred),
                    expected,
                    "{address:#x} {runtime:?}"
                );
            }
            assert_eq!(space.place(0x7f20_0001_0000, NOW).region, Region::Library);
        }
    }

    #[test]
    fn what_has_changed_is_marked() {
        let mut space = AddressSpace::default();
        space.take(parse_maps(b"1000-2000 rw-p 0 fe:0 7 /a\n3000-4000 rw-p 0 fe:0 8 /b\n"), (10, 11));
        space.take(parse_maps(b"1000-2000 rw-p 0 fe:0 7 /a\n"), (30, 31));
        let placed = |space: &mut AddressSpace, address| {
            let placed = space.place(address, (15, 16));
            (placed.what.to_string(), placed.inferred)
        };
        assert_eq!(placed(&mut space, 0x1000), ("/a".to_owned(), false));
        assert_eq!(placed(&mut space, 0x3000), ("/b".to_owned(), true));
    }
}
