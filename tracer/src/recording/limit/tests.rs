//! Files with a limit: what they hold, and that they never exceed it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::{self, File, OpenOptions},
    io::Read as _,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::rewrite::Limited;
use crate::{
    recording::line::{self, Host, Length, Line, Rest, Role},
    report::{
        fixtures,
        model::{ByKind, Kind, KindTotal, Pause, Region, State, Summary, Tool},
    },
};

/// Pseudo-random numbers, the same ones each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Makes lines of a trace as the recorder does, and keeps account of it.
struct Made {
    numbers: Numbers,
    template: Pause,
    stacks: HashSet<u32>,
    /// So many different ones are met.
    most_stacks: u64,
    summary: Summary,
    lengths: Vec<u64>,
    /// How many lines the faults of each pause have.
    faults: HashMap<u64, u64>,
    pauses: u64,
    lines: Vec<u8>,
    at_ns: i64,
}

const KINDS: [Kind; 3] = [Kind::SwapIn, Kind::FileMap, Kind::FirstTouch];

impl Made {
    fn new() -> Self {
        let story = fixtures::story();
        Self {
            numbers: Numbers(3),
            template: story.pauses[0].clone(),
            stacks: HashSet::new(),
            most_stacks: 300,
            summary: Summary::default(),
            lengths: Vec::new(),
            faults: HashMap::new(),
            pauses: 0,
            lines: Vec::new(),
            at_ns: 0,
        }
    }

    fn begin(&mut self) {
        let report = fixtures::story();
        self.line(&Line::Header(line::Header {
            schema: line::SCHEMA.to_owned(),
            tool: Tool { name: "pauselens".to_owned(), version: "0.1.0".to_owned() },
            host: Host::default(),
            started_unix_ms: 1,
            clock: "CLOCK_MONOTONIC".to_owned(),
            asked: "process 4242".to_owned(),
            max_size_bytes: None,
        }));
        self.line(&Line::Process(Box::new(line::Process {
            process: 1,
            target: report.target.clone(),
            windows: report.windows.clone(),
            covered_from_ns: 0,
            plan: report.trace.plan.clone(),
            unavailable: report.trace.unavailable.clone(),
        })));
    }

    fn line(&mut self, line: &Line) {
        serde_json::to_writer(&mut self.lines, line).unwrap();
        self.lines.push(b'\n');
    }

    fn stack(&mut self) -> u32 {
        // Few of them are met often.
        let within = 1 + self.numbers.next(self.most_stacks);
        let stack = u32::try_from(self.numbers.next(within)).unwrap() + 1;
        if self.stacks.insert(stack) {
            let addresses =
                (0..20).map(|_| format!("{:#x}", 0x40_0000 + self.numbers.next(1 << 22))).collect();
            self.line(&Line::Stack(line::Stack {
                process: 1,
                stack,
                addresses,
                cut: false,
                at_entry: false,
            }));
        }
        stack
    }

    /// A pause of this length with so many faults.
    fn pause(&mut self, duration_ns: u64, faults: u64) {
        self.pauses += 1;
        let id = self.pauses;
        let begin_ns = self.at_ns;
        self.at_ns += i64::try_from(duration_ns).unwrap() + 1_000_000;
        let mut by_kind = ByKind::new();
        for number in 0..faults {
            let stack = self.stack();
            let kind = KINDS[usize::try_from(self.numbers.next(3)).unwrap()];
            let ns = duration_ns / (faults + 1);
            let total = by_kind.entry(kind).or_default();
            total.count += 1;
            total.ns += ns;
            let address = 0x7f00_0000_0000 + (self.numbers.next(1 << 30) << 12);
            self.line(&Line::Fault(line::Fault {
                process: 1,
                pause: id,
                tid: 4243,
                role: Role::Driver,
                kind,
                inferred: false,
                major: kind == Kind::SwapIn,
                begin_ns: begin_ns + i64::try_from(ns * number).unwrap(),
                ns,
                full_ns: None,
                blocked_ns: (kind == Kind::SwapIn).then_some(ns / 2),
                reclaim_ns: None,
                address: format!("{address:#x}"),
                region: Region::RuntimeMetadata,
                what: "span sets".to_owned(),
                place_inferred: false,
                stack,
            }));
        }
        let stack = self.stack();
        let all: u64 = by_kind.values().map(|total| total.ns).sum();
        let by_region = [(Region::RuntimeMetadata, KindTotal { count: faults, ns: all, inferred: 0 })];
        let pause = Pause {
            id,
            reason: ["GC sweep termination", "GC mark termination"][id as usize % 2].to_owned(),
            requested_ns: Some(begin_ns),
            stopped_ns: Some(begin_ns + 100),
            restarting_ns: None,
            resumed_ns: Some(begin_ns + i64::try_from(duration_ns).unwrap()),
            duration_ns: Some(duration_ns),
            state: State::Complete,
            requested_by: Some(vec![format!("@{stack}")]),
            faults,
            major: by_kind.get(&Kind::SwapIn).map_or(0, |total| total.count),
            in_faults_ns: all,
            by_region: if faults > 0 { by_region.into() } else { BTreeMap::new() },
            by_kind,
            stacks: Vec::new(),
            ..self.template.clone()
        };
        self.summary.add(&pause);
        self.lengths.push(duration_ns);
        self.faults.insert(id, faults);
        self.line(&Line::Pause(Box::new(line::Pause { process: 1, pause })));
    }

    fn memory(&mut self) {
        let (resident, swapped) = (self.numbers.next(1 << 30), self.numbers.next(1 << 30));
        self.line(&Line::Memory(Box::new(line::Memory {
            process: 1,
            at_ns: self.at_ns,
            at_end_of: None,
            resident_bytes: Some(resident),
            swapped_bytes: Some(swapped),
            cgroup: None,
            system: None,
        })));
    }

    fn end(&mut self) {
        let mut stacks: Vec<u32> = self.stacks.iter().copied().collect();
        stacks.sort_unstable();
        for stack in stacks {
            let frame = |number: u32| line::Frame { name: format!("main.function{number}"), address: None };
            let frames = (0..20).map(|number| frame(stack * 31 + number)).collect();
            self.line(&Line::Names(line::Names { process: 1, stack, frames }));
        }
        let report = fixtures::story();
        self.line(&Line::ProcessEnd(Box::new(line::ProcessEnd { process: 1, report })));
        let faults = self.faults.values().sum();
        self.line(&Line::End(line::End {
            trace: None,
            unrecognised: Vec::new(),
            pauses: self.pauses,
            faults,
        }));
    }
}

/// A file with a limit that is given what is made.
struct File1 {
    _folder: TempDir,
    path: PathBuf,
    limited: Limited,
    most_bytes: u64,
    largest_bytes: u64,
}

impl File1 {
    fn new(most_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl.zst");
        let file = OpenOptions::new().write(true).create_new(true).open(&path).unwrap();
        let limited = Limited::begin(&path, file, most_bytes).unwrap();
        Self { _folder: folder, path, limited, most_bytes, largest_bytes: 0 }
    }

    fn take(&mut self, made: &mut Made) {
        self.limited.lines(&std::mem::take(&mut made.lines)).unwrap();
        self.look();
    }

    fn flush(&mut self) {
        self.limited.flush().unwrap();
        self.look();
    }

    /// Gives it lines in pieces, as the recorder does.
    fn pieces(&mut self, lines: &[u8]) {
        const PIECE_BYTES: usize = 64 << 10;
        let mut rest = lines;
        while !rest.is_empty() {
            let end = rest.iter().skip(PIECE_BYTES).position(|byte| *byte == b'\n');
            let (piece, behind) = rest.split_at(end.map_or(rest.len(), |end| PIECE_BYTES + end + 1));
            self.limited.lines(piece).unwrap();
            self.look();
            rest = behind;
        }
    }

    fn look(&mut self) {
        let bytes = fs::metadata(&self.path).unwrap().len();
        assert_eq!(bytes, self.limited.bytes());
        assert!(bytes <= self.most_bytes, "{bytes} of {} bytes", self.most_bytes);
        self.largest_bytes = self.largest_bytes.max(bytes);
        assert!(!self.path.with_extension("zst.shrinking").exists());
    }
}

/// What is in a file.
#[derive(Default)]
struct Read {
    summary: Summary,
    rest: Rest,
    /// The pauses that have lines, with their lengths.
    pauses: BTreeMap<u64, Pause>,
    faults: HashMap<u64, u64>,
    stacks: HashSet<u32>,
    names: HashSet<u32>,
    referred: HashSet<u32>,
    memory_at: Vec<i64>,
    end: Option<line::End>,
    process_ends: usize,
}

fn read(path: &Path) -> Read {
    let mut text = String::new();
    zstd::Decoder::new(File::open(path).unwrap()).unwrap().read_to_string(&mut text).unwrap();
    let mut read = Read::default();
    for (number, line) in text.lines().enumerate() {
        let line: Line = serde_json::from_str(line).unwrap();
        assert!(read.end.is_none(), "the end is the last line");
        match line {
            Line::Header(_) => assert_eq!(number, 0),
            Line::Fault(fault) => {
                assert!(!read.pauses.contains_key(&fault.pause), "faults come first");
                assert!(read.stacks.contains(&fault.stack), "stacks come before what refers to them");
                *read.faults.entry(fault.pause).or_default() += 1;
            }
            Line::Pause(line) => {
                let text = serde_json::to_string(&line).unwrap();
                let references: Vec<u32> = super::fields::references(text.as_bytes()).collect();
                assert!(references.iter().all(|stack| read.stacks.contains(stack)));
                read.referred.extend(references);
                read.summary.add(&line.pause);
                assert!(read.pauses.insert(line.pause.id, line.pause).is_none());
            }
            Line::Rest(rest) => {
                read.summary.merge(&rest.summary);
                read.rest.merge(&rest);
            }
            Line::Stack(stack) => assert!(read.stacks.insert(stack.stack), "once"),
            Line::Names(names) => assert!(read.names.insert(names.stack), "once"),
            Line::Memory(memory) => read.memory_at.push(memory.at_ns),
            Line::End(end) => read.end = Some(end),
            Line::ProcessEnd(_) => read.process_ends += 1,
            Line::Process(_) | Line::Mapping(_) | Line::Losses(_) => {}
        }
    }
    read
}

/// What every file has to hold, whatever it is small for.
fn check(made: &Made, read: &Read) {
    assert_eq!(read.summary, made.summary);
    assert_eq!(read.rest.pauses() + read.pauses.len() as u64, made.pauses);
    let added_up: u64 = read.rest.lengths.iter().map(|length| length.count).sum();
    assert_eq!(added_up, read.rest.summary.pauses);
    // Those that are kept whole are the longest ones; then those with their line in full, then those with totals.
    let level = |pause: &Pause| {
        let slim = pause.requested_by.is_none();
        let lines = read.faults.get(&pause.id).copied().unwrap_or(0);
        let whole = !slim && lines == made.faults[&pause.id];
        assert!(whole || lines == 0, "all of a pause's faults, or none");
        (whole, !slim, pause.duration_ns.unwrap())
    };
    let levels: Vec<(bool, bool, u64)> = read.pauses.values().map(level).collect();
    let least = |of: fn(&(bool, bool, u64)) -> bool| {
        levels.iter().filter(|one| of(one)).map(|one| one.2).min().unwrap_or(u64::MAX)
    };
    let most = |of: fn(&(bool, bool, u64)) -> bool| {
        levels.iter().filter(|one| of(one)).map(|one| one.2).max().unwrap_or(0)
    };
    // A pause without faults looks whole when its line is full.
    assert!(most(|one| !one.1) <= least(|one| one.1));
    let longest_added_up = read.rest.lengths.last().map_or(0, |length| length.ns);
    let shortest_listed = least(|_| true);
    assert!(
        longest_added_up as f64 * 0.999 <= shortest_listed as f64,
        "{longest_added_up} {shortest_listed}"
    );
    let mut longest: Vec<u64> = made.lengths.clone();
    longest.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
    let mut kept: Vec<u64> = read.pauses.values().filter_map(|pause| pause.duration_ns).collect();
    kept.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
    assert_eq!(kept[..], longest[..kept.len()]);
}

#[test]
fn a_file_that_has_room_is_what_it_would_be_without_a_limit() {
    let mut made = Made::new();
    let mut file = File1::new(10 << 20);
    made.begin();
    for number in 0..200 {
        made.pause(10_000 + number * 7_919 % 1_000, number % 40);
        file.take(&mut made);
        if number % 20 == 0 {
            made.memory();
            file.flush();
        }
    }
    made.end();
    file.take(&mut made);
    file.flush();
    let read = read(&file.path);
    check(&made, &read);
    assert_eq!(file.limited.whole_from_ns(), 0);
    assert_eq!(read.rest, Rest::default());
    assert_eq!(read.faults.values().sum::<u64>(), made.faults.values().sum::<u64>());
    assert_eq!((read.stacks.len(), read.names.len()), (made.stacks.len(), made.stacks.len()));
    assert_eq!(read.memory_at.len(), 10);
    assert_eq!(read.end.unwrap().pauses, 200);
}

#[test]
fn the_worst_pauses_stay_whole_and_every_sum_exact_whatever_the_limit() {
    for most_bytes in [120_000, 400_000] {
        let mut made = Made::new();
        let mut file = File1::new(most_bytes);
        made.begin();
        for number in 0..1_500_u64 {
            let noise = made.numbers.next(20_000);
            let long = if number % 333 == 77 { 5_000_000 + number * 10 } else { 20_000 };
            let faults = made.numbers.next(30);
            made.pause(long + noise, faults + long / 20_000);
            file.take(&mut made);
            if number % 50 == 0 {
                made.memory();
                file.flush();
            }
            if number % 600 == 0 {
                // A crash now: everything flushed is there.
                file.flush();
                check(&made, &read(&file.path));
            }
        }
        made.end();
        file.take(&mut made);
        file.flush();
        let read = read(&file.path);
        check(&made, &read);
        let worst: Vec<&Pause> =
            read.pauses.values().filter(|pause| pause.duration_ns > Some(5_000_000)).collect();
        assert_eq!(worst.len(), 5, "{most_bytes}");
        let whole = worst.iter().filter(|pause| read.faults.get(&pause.id) == made.faults.get(&pause.id));
        let whole = whole.count();
        assert!(whole >= if most_bytes > 200_000 { 5 } else { 1 }, "{whole} with {most_bytes}");
        assert!(read.rest.summary.pauses > 0 && file.limited.whole_from_ns() > 0);
        assert!(file.largest_bytes > most_bytes / 3, "the room is used");
        assert!(!read.memory_at.is_empty() && read.memory_at.is_sorted());
        assert_eq!(read.process_ends, 1);
        // Names are there of every stack that is, and of no other.
        assert_eq!(read.names, read.stacks);
        assert!(read.referred.is_subset(&read.stacks));
        let end = read.end.unwrap();
        assert_eq!(end.pauses, read.pauses.len() as u64);
        assert_eq!(end.faults, read.faults.values().sum::<u64>());
    }
}

/// The longest pauses, the longest first: which, and whether all their faults have lines.
fn worst(made: &Made, read: &Read) -> Vec<(u64, bool)> {
    let mut worst: Vec<&Pause> = read.pauses.values().collect();
    worst.sort_unstable_by_key(|pause| std::cmp::Reverse(pause.duration_ns));
    let is_whole = |pause: &Pause| {
        pause.requested_by.is_some() && read.faults.get(&pause.id) == Some(&made.faults[&pause.id])
    };
    worst.iter().map(|pause| (pause.id, is_whole(pause))).collect()
}

/// Pauses of these lengths, each with very many faults, through files of several sizes, with others of few between them.
/// Gives back how often each was written anew.
fn giants(
    mut made: Made,
    lengths: &[u64],
    faults: u64,
    limits: &[u64],
    whole: impl Fn(usize, &[(u64, bool)]),
) -> Vec<u64> {
    let mut files: Vec<File1> = limits.iter().map(|limit| File1::new(*limit)).collect();
    made.begin();
    for (number, length) in lengths.iter().enumerate() {
        made.pause(40_000, 20);
        made.pause(*length, faults);
        made.memory();
        let lines = std::mem::take(&mut made.lines);
        for (limit, file) in files.iter_mut().enumerate() {
            file.pieces(&lines);
            file.flush();
            // A crash now.
            if number % 13 == 5 {
                let read = read(&file.path);
                check(&made, &read);
                whole(limit, &worst(&made, &read));
            }
        }
    }
    made.end();
    for (limit, file) in files.iter_mut().enumerate() {
        file.pieces(&made.lines);
        file.flush();
        let read = read(&file.path);
        check(&made, &read);
        assert!(read.end.is_some() && read.process_ends == 1);
        whole(limit, &worst(&made, &read));
    }
    files.iter().map(|file| file.limited.rewrites()).collect()
}

/// Different lengths in no order.
fn shuffled(pauses: u64) -> Vec<u64> {
    let mut numbers = Numbers(11);
    let mut lengths: Vec<u64> = (0..pauses).map(|number| 90_000_000 + number * 1_000_003).collect();
    for last in (1..lengths.len()).rev() {
        lengths.swap(last, usize::try_from(numbers.next(last as u64 + 1)).unwrap());
    }
    lengths
}

/// Room for one pause of 12,800 faults, for two, and for some.
const FOR_FEW: [u64; 3] = [300 << 10, 512 << 10, 1 << 20];

fn worst_is_whole(limit: usize, worst: &[(u64, bool)]) {
    assert!(worst[0].1, "limit {limit}: {worst:?}");
}

#[test]
fn the_worst_pause_is_whole_when_its_faults_are_most_of_the_file() {
    let rewrites = giants(Made::new(), &shuffled(20), 12_800, &FOR_FEW, worst_is_whole);
    assert!(rewrites.iter().all(|rewrites| (1..=8).contains(rewrites)), "{rewrites:?}");
}

#[test]
fn the_worst_pause_is_whole_when_each_is_worse_than_those_before() {
    let mut lengths = shuffled(20);
    lengths.sort_unstable();
    let rewrites = giants(Made::new(), &lengths, 12_800, &FOR_FEW, worst_is_whole);
    // Each of them has to take the place of the one before; where two have room, every other one.
    assert!(rewrites[0] <= 20 && rewrites[1] <= 10 && rewrites[2] <= 5, "{rewrites:?}");
}

#[test]
fn the_worst_pause_is_whole_when_it_comes_first() {
    let mut lengths = shuffled(20);
    lengths.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
    let rewrites = giants(Made::new(), &lengths, 12_800, &FOR_FEW, worst_is_whole);
    assert!(rewrites.iter().all(|rewrites| (1..=4).contains(rewrites)), "{rewrites:?}");
}

/// One pause takes most of the smallest of these, when it has 1,500 faults.
const FOR_FEW_SMALL: [u64; 3] = [46_000, 60_000, 150_000];

/// For files of these sizes, which 480 pauses, half of them with 1,500 faults, and a flush after every other one go through.
fn check_seldom(rewrites: &[u64]) {
    let most = [40, 20, 8];
    assert!(rewrites.iter().zip(most).all(|(rewrites, most)| (1..=most).contains(rewrites)), "{rewrites:?}");
}

#[test]
fn in_the_long_run_the_file_is_seldom_written_anew() {
    let made = Made { most_stacks: 30, ..Made::new() };
    check_seldom(&giants(made, &shuffled(240), 1_500, &FOR_FEW_SMALL, worst_is_whole));
}

#[test]
fn of_pauses_that_are_equally_long_one_stays_whole() {
    let made = Made { most_stacks: 30, ..Made::new() };
    let any_is_whole = |limit: usize, worst: &[(u64, bool)]| {
        assert!(worst.iter().any(|one| one.0 % 2 == 0 && one.1), "limit {limit}: {worst:?}");
    };
    check_seldom(&giants(made, &[100_000_000; 240], 1_500, &FOR_FEW_SMALL, any_is_whole));
}

#[test]
fn faults_of_pauses_that_never_end_make_way_for_those_of_a_large_one() {
    let mut made = Made::new();
    let mut file = File1::new(1 << 20);
    made.begin();
    made.pause(900_000_000, 12_800);
    let without_end =
        |lines: &[u8]| lines[..lines.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let lines = std::mem::take(&mut made.lines);
    let (faults, pause) = lines.split_at(without_end(&lines));
    file.pieces(faults);
    // More than may wait, in pauses that have no line.
    let mut others = Made { pauses: 1_000, ..Made::new() };
    for _ in 0..32 {
        others.pause(1_000, 850);
        let lines = std::mem::take(&mut others.lines);
        file.pieces(&lines[..without_end(&lines)]);
    }
    file.pieces(pause);
    made.end();
    file.take(&mut made);
    file.flush();
    let read = read(&file.path);
    check(&made, &read);
    assert_eq!(worst(&made, &read), [(1, true)]);
    assert_eq!(read.faults.len(), 1);
}

#[test]
fn a_file_that_is_too_small_for_any_pause_has_all_sums() {
    let none_is_whole = |limit: usize, worst: &[(u64, bool)]| {
        // The others have 20 faults.
        assert!(worst.iter().all(|one| one.0 % 2 == 1 || !one.1), "limit {limit}: {worst:?}");
    };
    let rewrites = giants(Made::new(), &shuffled(12), 12_800, &[40 << 10, 150 << 10], none_is_whole);
    assert!(rewrites.iter().all(|rewrites| *rewrites <= 6), "{rewrites:?}");
}

#[test]
fn a_pause_that_is_too_large_leaves_the_next_one_whole() {
    let mut made = Made::new();
    let mut files = [File1::new(512 << 10), File1::new(5 << 20)];
    made.begin();
    for (length, faults) in [(50, 12_800), (60, 12_800), (900, 200_000), (70, 12_800), (80, 12_800), (40, 50)]
    {
        made.pause(length * 1_000_000, faults);
        let lines = std::mem::take(&mut made.lines);
        files.iter_mut().for_each(|file| file.pieces(&lines));
    }
    made.pause(10_000_000_000, 0);
    made.end();
    let [small, large] = files.map(|mut file| {
        file.pieces(&made.lines);
        file.flush();
        let read = read(&file.path);
        check(&made, &read);
        worst(&made, &read)
    });
    assert!(!small[1].1 && small[2] == (5, true), "{small:?}");
    assert!(large[1] == (3, true) && large[2] == (5, true), "{large:?}");
}

#[test]
fn a_pause_with_more_faults_than_wait_in_memory_is_whole_where_there_is_room() {
    let mut made = Made::new();
    let mut files = [File1::new(3 << 20), File1::new(7 << 20), File1::new(20 << 20)];
    made.begin();
    for (length, faults) in [(50, 60_000), (60, 60_000), (900, 350_000), (70, 12_800)] {
        made.pause(length * 1_000_000, faults);
        let lines = std::mem::take(&mut made.lines);
        files.iter_mut().for_each(|file| file.pieces(&lines));
    }
    made.end();
    let worst = files.map(|mut file| {
        file.pieces(&made.lines);
        file.flush();
        let read = read(&file.path);
        check(&made, &read);
        worst(&made, &read)
    });
    assert_eq!(worst.map(|worst| worst[0]), [(3, false), (3, true), (3, true)]);
}

#[test]
fn one_pause_that_is_larger_than_the_file_keeps_its_totals() {
    let mut made = Made::new();
    let mut file = File1::new(100_000);
    made.begin();
    made.pause(7_000, 3);
    // Its faults come long before it ends.
    made.pause(90_000_000, 12_000);
    let lines = std::mem::take(&mut made.lines);
    for line in lines.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>().chunks(1000) {
        file.limited.lines(&line.concat()).unwrap();
        file.flush();
    }
    made.pause(8_000, 3);
    made.end();
    file.take(&mut made);
    file.flush();
    let read = read(&file.path);
    check(&made, &read);
    assert_eq!(read.faults.get(&2), None);
    assert!(read.end.is_some());
}

#[test]
fn lengths_that_were_added_up_tell_quantiles_closely() {
    let mut rest = Rest::of(1);
    let mut pause = fixtures::story().pauses[0].clone();
    pause.state = State::Complete;
    for ns in 1_000_000..1_002_000 {
        pause.duration_ns = Some(ns);
        rest.add(&pause);
    }
    let mut twice = Rest::of(1);
    twice.merge(&rest);
    twice.merge(&rest);
    assert_eq!(twice.pauses(), 4000);
    assert_eq!(twice.summary.faults, pause.faults * 4000);
    assert!(twice.lengths.len() < 10);
    let mut seen = 0;
    let median = twice.lengths.iter().find(|Length { count, .. }| {
        seen += count;
        seen >= 2000
    });
    assert!(median.unwrap().ns.abs_diff(1_001_000) < 600);
}

#[test]
fn a_limit_that_is_too_small_for_what_must_be_kept_is_an_error_and_the_file_stays_whole() {
    let mut made = Made::new();
    let mut file = File1::new(4_000);
    made.begin();
    file.take(&mut made);
    file.flush();
    let before = fs::read(&file.path).unwrap();
    made.end();
    file.limited.lines(&made.lines).unwrap();
    let error = file.limited.flush().unwrap_err().to_string();
    assert!(error.contains("4000 bytes") && error.contains("--max-size"), "{error}");
    assert_eq!(fs::read(&file.path).unwrap(), before);
    file.look();
}

#[test]
fn what_an_interrupted_one_left_behind_is_removed_and_owner_and_mode_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl.zst");
    let left = folder.path().join("run.jsonl.zst.shrinking");
    fs::write(&left, "left").unwrap();
    let link = folder.path().join("link");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let file = OpenOptions::new().write(true).open(&link).unwrap();
    let mut limited = Limited::begin(&link, file, 40_000).unwrap();
    assert!(!left.exists());
    let mut made = Made::new();
    made.begin();
    for _ in 0..500 {
        made.pause(1_000, 20);
    }
    limited.lines(&made.lines).unwrap();
    limited.flush().unwrap();
    assert!(limited.whole_from_ns() > 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
    check(&made, &read(&path));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let pipe = File::open("/dev/null").unwrap();
    assert!(Limited::begin(Path::new("/dev/null"), pipe, 40_000).is_err());
}
