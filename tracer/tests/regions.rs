//! Which memory a Go program's addresses belong to: as its own structures tell, as rules about its layout tell, and as
//! the runtime itself counts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;
#[path = "support/swap.rs"]
mod swap;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    os::{fd::AsFd as _, fd::AsRawFd as _, unix::fs::FileExt as _},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use attached::{Running, as_root, pauselens};
use serde_json::Value;
use swap::Swap;
use tracer::{
    clock::monotonic_ns,
    elf::Image,
    memory::{AddressSpace, Layout, Placed, Program, Region},
    report::model::{Pause, Report},
    runtime::{Loaded, Recognised, recognise},
    target::Target,
};

/// One toolchain for each way in which the runtime keeps its memory: a list of arenas by its old name, by its new one,
/// and a heap at a random place (since 1.26).
const VERSIONS: [&str; 4] = ["1.21.13", "1.25.5", "1.26.6", "1.27.3"];
const PAGE_BYTES: u64 = 4096;
/// What structures call bookkeeping lies where rules see heap.
const AMONG_OBJECTS: [&str; 2] = ["goroutine stacks", "work buffers"];

/// The Go program that tells of its own memory.
struct Told {
    running: Running,
    target: Target,
    image: Arc<Image>,
    recognised: Recognised,
}

impl Told {
    fn start(program: &Path) -> Self {
        let mut command = Command::new(program);
        command.env_remove("GODEBUG").env("GOMAXPROCS", "2");
        let mut running = Running::start(command);
        running.tell("first");
        running.line();
        let target = Target::open(running.pid()).unwrap();
        let image =
            Arc::new(Image::open(target.open_executable().unwrap(), target.exe().to_owned()).unwrap());
        let recognised = recognise(&image).unwrap();
        Self { running, target, image, recognised }
    }

    fn answer(&mut self, command: &str) -> Value {
        self.running.tell(command);
        serde_json::from_str(&self.running.line()).unwrap()
    }

    /// The process's memory, with its structures or by rules alone.
    fn space(&self, structures: bool) -> AddressSpace {
        let path = self.target.exe().as_os_str().to_owned();
        let program = Program { path: path.clone(), layout: Layout::Go, zeroed: Vec::new() };
        let mut space = AddressSpace::of(self.target.pid(), program);
        let loaded = Loaded::find(&self.image, &path, space.mappings());
        space.set_zeroed(loaded.unwrap().ranges(&self.image.zeroed()));
        if structures {
            let mappings = space.mappings().to_vec();
            space.set_runtime(
                self.recognised.memory(self.target.pid(), &self.image, loaded, &mappings).unwrap(),
            );
        }
        space
    }

    /// What the page belongs to, between two readings of the map.
    fn places(&self, space: &mut AddressSpace, pages: &[u64]) -> Vec<Placed> {
        space.reread();
        let now = monotonic_ns();
        space.reread();
        pages.iter().map(|page| space.place(*page, (now, now))).collect()
    }

    /// Has its writable memory moved out to swap; what nobody can write is left.
    fn page_out(&self, space: &AddressSpace) {
        for mapping in space.mappings().iter().filter(|mapping| mapping.writable) {
            let piece = libc::iovec {
                iov_base: mapping.start as *mut libc::c_void,
                iov_len: usize::try_from(mapping.end - mapping.start).unwrap(),
            };
            let pidfd = self.target.as_fd().as_raw_fd();
            let (call, advice) = (libc::SYS_process_madvise, libc::MADV_PAGEOUT);
            // SAFETY: the piece describes memory of the other process; it is only advice, and changes no contents.
            unsafe { libc::syscall(call, pidfd, &raw const piece, 1, advice, 0) };
        }
    }

    /// Every page that has one of these bits in its entry.
    fn pages(&self, space: &AddressSpace, bits: u64) -> Vec<u64> {
        let pagemap = File::open(format!("/proc/{}/pagemap", self.target.pid())).unwrap();
        let mut pages = Vec::new();
        for mapping in space.mappings().iter().filter(|mapping| mapping.start >> 63 == 0) {
            let count = (mapping.end - mapping.start) / PAGE_BYTES;
            let mut entries = vec![0; usize::try_from(count * 8).unwrap()];
            pagemap.read_exact_at(&mut entries, mapping.start / PAGE_BYTES * 8).unwrap();
            let entries = entries.as_chunks::<8>().0.iter().map(|entry| u64::from_le_bytes(*entry));
            let used = (0..).zip(entries).filter(|(_, entry)| entry & bits != 0);
            pages.extend(used.map(|(page, _)| mapping.start + page * PAGE_BYTES));
        }
        pages
    }
}

const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;

fn build(version: &str, folder: &Path, flags: &[&str]) -> PathBuf {
    let (source, program) = (folder.join("regions.go"), folder.join("regions"));
    fs::write(&source, include_str!("support/regions.go")).unwrap();
    go::build(version, &source, &program, flags);
    program
}

fn share(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64
}

/// Page by page, on a living process: what its structures say, what rules say, and what the runtime counts.
#[test]
fn structures_rules_and_the_runtime_s_own_numbers_agree() {
    as_root();
    for version in VERSIONS {
        for flags in [&[][..], &["-buildmode=pie"]] {
            let folder = tempfile::tempdir().unwrap();
            let mut told = Told::start(&build(version, folder.path(), flags));
            // At first, and when the heap has more arenas.
            for command in ["stay", "grow"] {
                let name = format!("Go {version} {flags:?} {command}");
                let answer = told.answer(command);
                let mut space = told.space(true);
                assert_eq!(space.unavailable(), [], "{name}");
                let pages = told.pages(&space, PRESENT | SWAPPED);
                let by_structures = told.places(&mut space, &pages);
                let by_rules = told.places(&mut told.space(false), &pages);
                compare(&name, &by_structures, &by_rules);
                against_the_runtime(&name, &told, &mut space, &by_structures, &answer);
            }
        }
    }
}

fn compare(name: &str, by_structures: &[Placed], by_rules: &[Placed]) {
    let both = || by_structures.iter().zip(by_rules);
    let differ = both().filter(|(exact, rule)| exact.region != rule.region).count();
    println!("{name}: {differ} of {} pages differ", by_rules.len());
    assert!(share(differ, by_rules.len()) <= 0.05, "{name}: {differ} of {}", by_rules.len());
    assert!(by_structures.iter().all(|placed| placed.region != Region::Unknown), "{name}");
    // What lies outside of the heap differs nowhere: it has few pages, and most faults.
    let outside = both().filter(|(exact, _)| {
        exact.region == Region::RuntimeMetadata && !AMONG_OBJECTS.contains(&&*exact.what)
    });
    for (exact, rule) in outside {
        assert_eq!((rule.region, rule.inferred), (Region::RuntimeMetadata, true), "{name}: {exact:?}");
    }
    let of = |region| by_structures.iter().filter(move |placed| placed.region == region);
    assert!(of(Region::RuntimeHeap).all(|placed| !placed.inferred), "{name}");
    let inferred = of(Region::RuntimeMetadata).filter(|placed| placed.inferred).count();
    assert!(share(inferred, of(Region::RuntimeMetadata).count()) <= 0.05, "{name}: {inferred}");
    assert!(of(Region::Binary).all(|placed| !placed.inferred), "{name}");
    let what: BTreeSet<&str> = by_structures.iter().map(|placed| &*placed.what).collect();
    for expected in [
        "heap arenas",
        "goroutine stacks",
        "arena index",
        "arena metadata",
        "page summaries",
        "page bitmaps",
        "mark bits",
        "span sets",
        "span list",
        "span structures",
        "small permanent bookkeeping",
        "text",
        "data",
        "zeroed data",
        "read-only data",
        "[stack]",
    ] {
        assert!(what.contains(expected), "{name}: no {expected} in {what:?}");
    }
}

fn against_the_runtime(name: &str, told: &Told, space: &mut AddressSpace, placed: &[Placed], answer: &Value) {
    let number = |field: &str| answer[field].as_u64().unwrap();
    // An arena is mapped from its begin as far as the heap has grown; stacks are taken from it.
    let starts: Vec<_> = space
        .mappings()
        .iter()
        .filter(|mapping| mapping.writable)
        .map(|mapping| (mapping.start, mapping.end))
        .collect();
    let first_pages: Vec<u64> = starts.iter().map(|(start, _)| *start).collect();
    let first = told.places(space, &first_pages);
    let in_heap =
        |placed: &Placed| placed.region == Region::RuntimeHeap || AMONG_OBJECTS.contains(&&*placed.what);
    let mapped: u64 = starts
        .iter()
        .zip(&first)
        .filter(|(_, placed)| in_heap(placed))
        .map(|((start, end), _)| end - start)
        .sum();
    let counted = number("HeapSys") + number("StackSys");
    assert!(
        mapped >= counted && mapped - counted <= 1 << 20,
        "{name}: {mapped} bytes mapped, {counted} counted"
    );
    // Structures of spans are taken from the kernel in larger pieces.
    let spans = placed.iter().filter(|placed| &*placed.what == "span structures").count() as u64 * PAGE_BYTES;
    let counted = number("MSpanSys");
    assert!(
        spans <= counted && spans * 10 >= counted * 8,
        "{name}: {spans} bytes in spans, {counted} counted"
    );
    let known = [number("Stack"), number("Object")];
    // With a budget of its own: only so many pages of the heap are looked up in a while.
    let known = told.places(&mut told.space(true), &known);
    assert_eq!((known[0].region, &*known[0].what), (Region::RuntimeMetadata, "goroutine stacks"), "{name}");
    assert_eq!((known[1].region, &*known[1].what), (Region::RuntimeHeap, "heap arenas"), "{name}");
}

/// A heap that grows while it is watched: new arenas are known soon after an address in them comes.
#[test]
fn what_is_new_is_read_when_it_is_met() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let mut told = Told::start(&build("1.27.3", folder.path(), &[]));
    let mut space = told.space(true);
    let before = told.answer("stay")["HeapSys"].as_u64().unwrap();
    let answer = told.answer("grow");
    assert!(answer["HeapSys"].as_u64().unwrap() > before + (64 << 20), "another arena");
    let newest = last_of_the_heap(&told);
    // A page that was taken for the heap can be found to be a stack or a work buffer in it: only who knows the arena can
    // tell that.
    attached::until_it_is(
        "the new arena",
        || told.places(&mut space, &[newest]).swap_remove(0),
        |placed| {
            let in_heap = placed.region == Region::RuntimeHeap || AMONG_OBJECTS.contains(&&*placed.what);
            in_heap && !placed.inferred
        },
    );
}

/// An address in the last arena.
fn last_of_the_heap(told: &Told) -> u64 {
    let mut fresh = told.space(true);
    let pages = told.pages(&fresh, PRESENT | SWAPPED);
    let placed = told.places(&mut fresh, &pages);
    let heap = pages.iter().zip(&placed).filter(|(_, placed)| placed.region == Region::RuntimeHeap);
    *heap.map(|(page, _)| page).max().unwrap()
}

/// Memory that is swapped out stays there: reading it would change what is measured.
#[test]
fn reading_brings_nothing_back_from_swap() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let told = Told::start(&build("1.27.3", folder.path(), &[]));
    let space = told.space(false);
    // Somebody else may switch the swap off that is on: that brings everything back.
    let come = (0..5).map(|_| {
        let _swap = Swap::on().unwrap_or_else(|error| panic!("{error}"));
        told.page_out(&space);
        let before: BTreeSet<u64> = told.pages(&space, PRESENT).into_iter().collect();
        let swapped = told.pages(&space, SWAPPED);
        let mut exact = told.space(true);
        let placed = told.places(&mut exact, &swapped);
        let after: BTreeSet<u64> = told.pages(&space, PRESENT).into_iter().collect();
        if swapped.len() > 5000 {
            // What could not be read is said to be missing, and rules remain.
            let missing = exact.unavailable();
            assert!(missing.iter().any(|missing| missing.why.contains("is not in memory")), "{missing:?}");
            assert!(placed.iter().all(|placed| placed.region != Region::Unknown));
        }
        (after.difference(&before).count(), swapped.len())
    });
    let tries: Vec<(usize, usize)> = come.collect();
    println!("pages that have come back, of those in swap: {tries:?}");
    // The program sleeps; a thread of its runtime may wake up.
    assert!(tries.iter().any(|(come, swapped)| *come <= 8 && *swapped > 5000), "{tries:?}");
}

/// Without debug information the rules remain, and the report says why.
#[test]
fn without_debug_information_rules_remain() {
    as_root();
    for flags in ["-ldflags=-w", "-ldflags=-s"] {
        let folder = tempfile::tempdir().unwrap();
        let told = Told::start(&build("1.25.5", folder.path(), &[flags]));
        let mut space = told.space(true);
        let missing = space.unavailable();
        assert_eq!(missing.len(), 1, "{missing:?}");
        assert!(missing[0].why.contains("no debug information"), "{missing:?}");
        let pages = told.pages(&space, PRESENT | SWAPPED);
        let placed = told.places(&mut space, &pages);
        for placed in &placed {
            let by_rule = matches!(placed.region, Region::RuntimeHeap | Region::RuntimeMetadata);
            assert_eq!(placed.inferred, by_rule, "{flags}: {placed:?}");
        }
        for region in [Region::RuntimeHeap, Region::RuntimeMetadata] {
            assert!(placed.iter().any(|placed| placed.region == region), "{flags}: no {region:?}");
        }
    }
}

/// A program with C code, linked by the system's linker: its threads have stacks of the C library's, and its data is
/// where that linker puts it.
#[test]
fn a_program_with_c_code() {
    as_root();
    for flags in [&[][..], &["-buildmode=pie"]] {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("regions.go"), folder.path().join("regions"));
        let text = include_str!("support/regions.go").replace("import (", "import \"C\"\n\nimport (");
        fs::write(&source, text).unwrap();
        go::build_in("1.27.3", &source, &program, flags, &[("CGO_ENABLED", "1")]);
        let mut told = Told::start(&program);
        let answer = told.answer("stay");
        let mut space = told.space(true);
        assert_eq!(space.unavailable(), [], "{flags:?}");
        let pages = told.pages(&space, PRESENT | SWAPPED);
        let placed = told.places(&mut space, &pages);
        let name = format!("with C code {flags:?}");
        against_the_runtime(&name, &told, &mut space, &placed, &answer);
        let count = |region, inferred| {
            placed.iter().filter(|placed| (placed.region, placed.inferred) == (region, inferred)).count()
        };
        assert!(count(Region::Library, false) > 10 && count(Region::Binary, false) > 10, "{name}");
        assert_eq!((count(Region::Binary, true), count(Region::RuntimeHeap, true)), (0, 0), "{name}");
        let (exact, rest) = (count(Region::RuntimeMetadata, false), count(Region::RuntimeMetadata, true));
        assert!(exact > 200 && rest < 100, "{name}: {exact} {rest}");
        // More than the first thread's.
        let stacks = placed.iter().filter(|placed| &*placed.what == "thread stack").count();
        assert!(stacks > 2, "{name}: {stacks} pages of threads' stacks");
    }
}

/// A run of the swap workload.
fn swapped(version: &str, flags: &str, folder: &Path) -> Report {
    let report = folder.join("report.json");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/workloads/swap-pause/run");
    let mut command = Command::new(script);
    command.args(["--go", version, "--go-flags", flags, "--graph-mb", "60", "--rounds", "6"]);
    command.arg("--pauselens").arg(pauselens());
    command.args(["--", "--all", "--format", "json", "--output"]).arg(&report);
    let ended = Running::start_tidy(command).ended_within(Duration::from_secs(180));
    assert_eq!(ended.code(), 0, "Go {version} {flags}: {}", ended.told());
    serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap()
}

/// Time in faults of the summary's regions for which `chosen` is true.
fn time_in(report: &Report, chosen: impl Fn(Region) -> bool) -> u64 {
    report.summary.by_region.iter().filter(|(region, _)| chosen(**region)).map(|(_, total)| total.ns).sum()
}

/// Time in faults and number of inferred ones, of the places for which `chosen` is true.
fn time_at(report: &Report, chosen: impl Fn(Region, &str, u64) -> bool) -> u64 {
    let places = report.pauses.iter().flat_map(|pause| &pause.places);
    let chosen = places.filter(|place| chosen(place.region, &place.what, place.total.inferred));
    chosen.map(|place| place.total.ns).sum()
}

/// The places of each pause add up to its regions.
fn places_add_up(name: &str, pause: &Pause) {
    for (region, total) in &pause.by_region {
        let places = pause.places.iter().filter(|place| place.region == *region);
        let sums = places.fold((0, 0, 0), |(count, ns, inferred), place| {
            (count + place.total.count, ns + place.total.ns, inferred + place.total.inferred)
        });
        assert_eq!(sums, (total.count, total.ns, total.inferred), "{name}: {region:?} of {pause:?}");
    }
    let faults: u64 = pause.places.iter().map(|place| place.total.count).sum();
    assert_eq!(faults, pause.faults, "{name}: {pause:?}");
}

#[test]
fn the_swap_workload_s_faults_are_placed() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    // One slow read of the disk can be a good part of one run: these are of all runs.
    let (mut all_ns, mut inferred_ns, mut elsewhere_ns) = (0, 0, 0);
    let is_runtime = |region| matches!(region, Region::RuntimeHeap | Region::RuntimeMetadata);
    for version in ["1.21.13", "1.25.5", "1.27.3"] {
        let report = swapped(version, "", folder.path());
        let all = time_in(&report, |_| true);
        assert_eq!(all, report.summary.in_faults_ns, "Go {version}");
        report.pauses.iter().for_each(|pause| places_add_up(version, pause));
        let percent = |ns: u64| ns as f64 * 100.0 / all as f64;
        let known = percent(time_in(&report, |region| region != Region::Unknown));
        let metadata = percent(time_in(&report, |region| region == Region::RuntimeMetadata));
        // The time of places at which nothing is told by a rule.
        let told = percent(time_at(&report, |region, _, inferred| is_runtime(region) && inferred == 0));
        let runtime = percent(time_in(&report, is_runtime));
        // Rules would put these elsewhere.
        let differ = percent(time_at(&report, |_, what, _| AMONG_OBJECTS.contains(&what)));
        let span_sets = percent(time_at(&report, |_, what, _| what == "span sets"));
        println!(
            "Go {version}: {known:.1} % placed, {runtime:.1} % the runtime's ({told:.1} % not inferred), {metadata:.1} % \
             bookkeeping, {span_sets:.1} % span sets, {differ:.1} % elsewhere by rules"
        );
        assert!(known >= 95.0 && differ <= 10.0 && runtime - told <= 10.0, "Go {version}");
        all_ns += all;
        inferred_ns += time_at(&report, |region, _, inferred| is_runtime(region) && inferred > 0);
        elsewhere_ns += time_at(&report, |_, what, _| AMONG_OBJECTS.contains(&what));
        assert!(metadata > 50.0 && span_sets > 25.0, "Go {version}");
        // Of the next pause nothing can be said: the program has ended.
        let missing = report.trace.unavailable.iter().find(|part| !part.part.starts_with("exposure "));
        assert_eq!(missing, None, "Go {version}");

        let stripped = swapped(version, "-ldflags=-s", folder.path());
        stripped.pauses.iter().for_each(|pause| places_add_up(version, pause));
        let all = time_in(&stripped, |_| true);
        let percent = |ns: u64| ns as f64 * 100.0 / all as f64;
        let known = percent(time_in(&stripped, |region| region != Region::Unknown));
        let metadata = percent(time_in(&stripped, |region| region == Region::RuntimeMetadata));
        println!("Go {version}, stripped: {known:.1} % placed, {metadata:.1} % bookkeeping");
        assert!(known >= 95.0 && metadata > 50.0, "Go {version}, stripped");
        for (region, total) in stripped.summary.by_region.iter().filter(|(region, _)| is_runtime(**region)) {
            assert_eq!(total.inferred, total.count, "Go {version}, stripped: {region:?}");
        }
        let unavailable = &stripped.trace.unavailable;
        assert!(unavailable.iter().any(|part| part.why.contains("no debug information")), "{unavailable:?}");
    }
    let percent = |ns: u64| ns as f64 * 100.0 / all_ns as f64;
    let (inferred, elsewhere) = (percent(inferred_ns), percent(elsewhere_ns));
    println!("all: {inferred:.1} % inferred, {elsewhere:.1} % elsewhere by rules");
    assert!(inferred <= 5.0 && elsewhere <= 5.0, "{inferred} {elsewhere}");
}
