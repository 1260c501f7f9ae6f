//! Attaching to a running Go program, in every way in which a program can run: what is seen is what the program itself
//! counts, and nothing is left behind in it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Read as _,
    os::unix::{fs::FileExt as _, process::ExitStatusExt as _},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use attached::{
    ALL_AS_JSON, Busy, Counted, Running, as_root, attach, attached, build_busy, busy_command,
    last_descendant, pauselens, report_of, send_to_descendant, until,
};
use tracer::{
    elf::{Image, find_functions},
    pause::{Keep, State},
    probe::Sizes,
    report::model::{self, Report},
    runtime::recognise,
    session::{Observer, Options, Progress, Subject, trace},
    target::Target,
};

const VERSION: &str = "1.27.3";

// ---- nothing is left behind

/// The code that probes are placed in: addresses and what the file holds there.
struct Code {
    functions: Vec<(u64, Vec<u8>)>,
}

impl Code {
    /// Of a program that is not position independent, so that its addresses are those in the file.
    fn of(program: &Path) -> Self {
        let image = Image::open(File::open(program).unwrap(), program.to_owned()).unwrap();
        let names = ["runtime.stopTheWorldWithSema", "runtime.startTheWorldWithSema"];
        let functions = find_functions(&image, &names);
        assert_eq!(functions.len(), 2);
        let bytes = |function: &tracer::elf::Function| {
            let size = usize::try_from(function.size_bytes).unwrap();
            (function.address.0, image.bytes(function.address, size).unwrap().to_vec())
        };
        Self { functions: functions.iter().map(bytes).collect() }
    }

    /// How many bytes of it are different in the process.
    fn changed_in(&self, pid: u32) -> usize {
        let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
        let changed = |(address, file): &(u64, Vec<u8>)| {
            let mut found = vec![0; file.len()];
            memory.read_exact_at(&mut found, *address).unwrap();
            found.iter().zip(file).filter(|(memory, file)| memory != file).count()
        };
        self.functions.iter().map(changed).sum()
    }
}

/// What this process holds of the kernel's things.
#[derive(Debug, PartialEq)]
struct Own {
    descriptors: usize,
    threads: usize,
}

impl Own {
    fn now() -> Self {
        let count = |folder: &str| fs::read_dir(folder).unwrap().count();
        Self { descriptors: count("/proc/self/fd"), threads: count("/proc/self/task") }
    }
}

fn resident_bytes() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size()
}

/// The BPF programs that descriptors of this process stand for, by the kernel's ids.
fn own_programs() -> BTreeSet<u32> {
    let infos = fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    infos
        .filter_map(|info| fs::read_to_string(info.path()).ok())
        .filter_map(|info| info.lines().find_map(|line| line.strip_prefix("prog_id:")?.trim().parse().ok()))
        .collect()
}

fn loaded_programs() -> BTreeSet<u32> {
    aya::programs::loaded_programs().flatten().map(|info| info.id()).collect()
}

/// Notes what is there while the probes are in place.
struct Watch<'a> {
    pid: u32,
    code: &'a Code,
    programs: BTreeSet<u32>,
}

impl Observer for Watch<'_> {
    fn attached(&mut self, _threads: usize) {
        self.programs = own_programs();
        assert!(self.programs.len() >= 10, "{} programs", self.programs.len());
        assert!(self.code.changed_in(self.pid) >= 3, "the probes' breakpoints are not there");
    }
    fn progress(&mut self, _progress: &Progress) {}
}

/// One trace inside this process, from reading the target to the last probe's end. Returns the programs that were
/// loaded for it, and the pauses that it saw.
fn round(events: &tokio::runtime::Runtime, pid: u32, code: &Code) -> (BTreeSet<u32>, u64) {
    let target = Target::open(pid).unwrap();
    let image = Image::open(target.open_executable().unwrap(), target.exe().to_owned()).unwrap();
    let recognised = recognise(&image).unwrap();
    let options = Options {
        duration: Some(Duration::from_millis(5)),
        keep: Keep::Worst(5),
        sizes: Sizes::default(),
        cross_check: false,
        measure_programs: false,
    };
    let subject = Subject { target: &target, image: &image, recognised: &recognised };
    let mut watch = Watch { pid, code, programs: BTreeSet::new() };
    let outcome = events.block_on(trace(subject, &options, Instant::now(), &mut watch)).unwrap();
    (watch.programs, outcome.totals.completed)
}

/// Attaches and detaches again and again, which must leave the program as it was and this process no larger.
///
/// A round takes about … of a second: the kernel waits at each probe's end until no CPU can be inside it any more.
/// PAUSELENS_ROUNDS sets another number of rounds.
#[test]
fn a_hundred_rounds_leave_nothing_behind() {
    as_root();
    let rounds = std::env::var("PAUSELENS_ROUNDS").map_or(100, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let code = Code::of(&program);
    let mut busy = Busy::start(&program);
    busy.is_busy();
    let events = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let began = Instant::now();
    let mut before = None;
    let mut programs = BTreeSet::new();
    let mut pauses = 0;
    for number in 0..rounds {
        let (loaded, seen) = round(&events, busy.pid(), &code);
        programs.extend(loaded);
        pauses += seen;
        // The first rounds fill what is made once.
        if number == 4 {
            before = Some((Own::now(), resident_bytes()));
        }
        if number % 10 == 0 {
            println!("{number} {:?} {}", began.elapsed(), resident_bytes());
        }
        if number % 100 == 99 {
            busy.goes_on();
        }
        assert_eq!(code.changed_in(busy.pid()), 0, "after round {number}");
    }
    println!("{rounds} rounds in {:?}, {pauses} pauses", began.elapsed());
    busy.goes_on();
    let (own, resident) = before.unwrap();
    assert_eq!(Own::now(), own);
    let grown = resident_bytes().saturating_sub(resident);
    assert!(grown < 8 << 20, "resident memory grew by {grown} bytes in {rounds} rounds");
    assert!(pauses > 0);
    // Programs are freed a little later than their descriptors.
    until("the programs are gone", || loaded_programs().is_disjoint(&programs));
}
