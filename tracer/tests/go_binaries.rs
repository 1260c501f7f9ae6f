//! Reads real Go programs: every supported way of building one, with each toolchain that `cargo xtask setup
//! --tests` installs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/go.rs"]
mod go;

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
};

use tracer::{
    elf::{
        ElfAddress, FileOffset, Function, GoFunctions, Image, Machine, SymbolSource, exits, find_functions,
        functions_where, go_version, holds_go_code,
    },
    runtime::{Lookup, Marks, PauseSites, RecogniseError, Recognised, Registers, RuntimeKind, recognise},
};
use tracer_common::pause::REGISTERS;

const PAUSE_FUNCTIONS: [&str; 2] = ["runtime.stopTheWorldWithSema", "runtime.startTheWorldWithSema"];

const PLAIN: &str = r#"package main

import "runtime"

func main() {
	runtime.GC()
	println(runtime.Version())
}
"#;

const WITH_C: &str = r#"package main

// static int twice(int x) { return 2 * x; }
import "C"
import "runtime"

func main() {
	runtime.GC()
	println(runtime.Version(), C.twice(21))
}
"#;

/// A way of building a program: its name, the flags, and whether the system's linker links it.
const LAYOUTS: [(&str, &[&str], bool); 4] = [
    ("plain", &[], false),
    ("pie", &["-buildmode=pie"], false),
    ("external", &["-ldflags=-linkmode=external"], true),
    ("external-pie", &["-buildmode=pie", "-ldflags=-linkmode=external"], true),
];

fn open(path: &Path) -> Image {
    Image::open(File::open(path).unwrap(), path.to_owned()).unwrap()
}

fn built(version: &str, folder: &Path, (name, flags, external): (&str, &[&str], bool)) -> PathBuf {
    let (source, program) = (folder.join(format!("{name}.go")), folder.join(name));
    fs::write(&source, if external { WITH_C } else { PLAIN }).unwrap();
    go::build_in(version, &source, &program, flags, &[("CGO_ENABLED", if external { "1" } else { "0" })]);
    program
}

fn stripped(program: &Path) -> PathBuf {
    let out = program.with_extension("stripped");
    let status = Command::new("strip").arg("-o").arg(&out).arg(program).status().unwrap();
    assert!(status.success());
    out
}

/// The sites without the table that named them: stripped and unstripped twins must agree on the rest.
fn places(sites: &PauseSites) -> Vec<ElfAddress> {
    let ends = sites.stopped.iter().chain(&sites.resumed);
    sites.requested.iter().chain(&sites.restarting).chain(ends).map(|site| site.elf_address).collect()
}

fn recognised(path: &Path, version: &str) -> Recognised {
    let image = Arc::new(open(path));
    assert!(holds_go_code(&image), "{}", path.display());
    let recognised = recognise(&image).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (recognised.kind, recognised.name.as_str(), recognised.version.as_str()),
        (RuntimeKind::Go, "go", version)
    );
    assert!(recognised.go_functions.is_some() && recognised.notes.is_empty(), "{:?}", recognised.notes);
    recognised
}

/// Each table names every function that the other one has: same name, same begin.
fn tables_agree(image: &Image) {
    let by_go = GoFunctions::read(image).unwrap();
    let mut compared = 0;
    for symbol in functions_where(image, |_| true) {
        // Functions of C and of the system's start code are in the ELF table only.
        let Some((name, start)) = by_go.name_at(symbol.address).filter(|_| symbol.size_bytes > 0) else {
            continue;
        };
        assert_eq!(start, symbol.address, "{name} and {}", symbol.name);
        // The ELF table alone marks assembly functions, and writes dots and type arguments of its own in some
        // names.
        let plain = |name: &str| name.split('[').next().unwrap_or_default().replace('·', ".");
        assert_eq!(plain(name), plain(symbol.name.trim_end_matches(".abi0")));
        // Markers such as go:textfipsend are no code, and assembly may hold words that are none.
        if !name.starts_with("go:") && !symbol.name.ends_with(".abi0") {
            exits(image, &symbol).unwrap_or_else(|error| panic!("{error}"));
        }
        compared += 1;
    }
    assert!(compared > 1000, "{compared} functions compared");
}

fn every_layout(version: &str) {
    let folder = tempfile::tempdir().unwrap();
    for layout in LAYOUTS {
        let program = built(version, folder.path(), layout);
        let whole = recognised(&program, version);
        assert_eq!(whole.sites.requested[0].source, SymbolSource::Symtab);
        tables_agree(&open(&program));

        let bare = recognised(&stripped(&program), version);
        assert_eq!(bare.sites.requested[0].source, SymbolSource::Pclntab, "{version} {}", layout.0);
        assert_eq!(places(&bare.sites), places(&whole.sites), "{version} {}", layout.0);

        let functions = bare.go_functions.unwrap();
        let site = &bare.sites.stopped[0];
        let named = functions.name_at(site.elf_address);
        let (name, start) = named.unwrap();
        assert_eq!(name, "runtime.stopTheWorldWithSema");
        // Behind Go's check for stack space: the first `push`.
        let entry = bare.sites.requested[0].elf_address;
        assert!((start.0..start.0 + 32).contains(&entry.0), "{entry} is not at the begin of {start}");
        // Go 1.20 and earlier save the frame pointer without a push: there it is the first instruction.
        let pushes = open(&program).bytes(entry, 1) == Some(&[0x55][..]);
        assert!(pushes || (entry == start && version == "1.19.8"), "{version}: {entry} is no push %rbp");
        let text = functions.text_range();
        assert_eq!(functions.name_at(text.end), None);
        assert_eq!(functions.name_at(ElfAddress(text.start.0 - 1)), None);
    }
    // What Go's own linker strips is not quite what `strip` strips.
    for flags in [&["-ldflags=-s -w"][..], &["-buildmode=pie", "-ldflags=-s -w"]] {
        let bare = recognised(&built(version, folder.path(), ("bare", flags, false)), version);
        assert_eq!(bare.sites.requested[0].source, SymbolSource::Pclntab, "{version} {flags:?}");
    }
}

#[test]
fn finds_the_pauses_however_built() {
    // Two at a time: the build of each one takes two threads.
    for pair in go::VERSIONS.chunks(2) {
        thread::scope(|scope| pair.iter().for_each(|version| drop(scope.spawn(|| every_layout(version)))));
    }
}

/// Go 1.19 has the older table and passes no reason.
#[test]
fn finds_the_pauses_of_go_1_19() {
    let version = "1.19.8";
    every_layout(version);
    let folder = tempfile::tempdir().unwrap();
    let recognised = recognised(&built(version, folder.path(), LAYOUTS[0]), version);
    let registers = Some(Registers([2; REGISTERS]));
    let marks = Marks { requested: registers, restarting: registers, ..Marks::default() };
    let reason = recognised.reason(&marks, &Lookup::default());
    assert_eq!((reason.name.as_str(), reason.is_gc), ("unknown (Go 1.19 does not say)", None));
}

/// The other machine, and what Go calls it.
const OTHER: (Machine, &str) = match Machine::HOST {
    Machine::X86_64 => (Machine::Aarch64, "arm64"),
    Machine::Aarch64 => (Machine::X86_64, "amd64"),
};

/// GNU objdump sees the same return instructions in every function.
#[test]
fn returns_are_those_that_objdump_shows() {
    let folder = tempfile::tempdir().unwrap();
    let program = built("1.27.3", folder.path(), LAYOUTS[0]);
    let listing = Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(&program).output().unwrap();
    let shown: BTreeSet<u64> = String::from_utf8_lossy(&listing.stdout)
        .lines()
        .filter_map(|line| line.trim().split_once(":\t"))
        .filter(|(_, instruction)| instruction.split_whitespace().any(|word| word == "ret"))
        .map(|(address, _)| u64::from_str_radix(address, 16).unwrap())
        .collect();
    let image = open(&program);
    let functions: Vec<Function> =
        functions_where(&image, |_| true).into_iter().filter(|function| function.size_bytes > 0).collect();
    let found = functions.iter().flat_map(|function| exits(&image, function).unwrap().returns);
    assert_eq!(found.map(|address| address.0).collect::<BTreeSet<u64>>(), shown);
}

/// Go's own disassembler sees the same return instructions in every function for the other machine.
#[test]
fn returns_for_the_other_machine_are_those_that_go_shows() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("other.go"), folder.path().join("other"));
    fs::write(&source, PLAIN).unwrap();
    let (other, goarch) = OTHER;
    go::build_in("1.27.3", &source, &program, &[], &[("CGO_ENABLED", "0"), ("GOARCH", goarch)]);
    let listing = go::objdump("1.27.3", &program);
    // `  file.go:12   0x11070   d65f03c0   RET`, with tabs between.
    let shown: BTreeSet<u64> = listing
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.get(3) == Some(&"RET"))
        .map(|words| u64::from_str_radix(words[1].trim_start_matches("0x"), 16).unwrap())
        .collect();
    assert!(shown.len() > 1000, "{}", shown.len());
    let image = Image::open_for(other, File::open(&program).unwrap(), program.clone()).unwrap();
    // The linker's marks between parts of the text have a size, and are no code.
    let is_code = |function: &Function| function.size_bytes > 0 && !function.name.starts_with("go:");
    let functions: Vec<Function> = functions_where(&image, |_| true).into_iter().filter(is_code).collect();
    let (mut found, mut refused) = (BTreeSet::new(), Vec::new());
    for function in &functions {
        match exits(&image, function) {
            Ok(exits) => found.extend(exits.returns.iter().map(|address| address.0)),
            Err(error) => refused.push((function, error.to_string())),
        }
    }
    // Written by hand, with words in them that are no instructions.
    let by_hand = |name: &str| matches!(name, "runtime.rt0_go.abi0" | "runtime.systemstack_switch.abi0");
    assert!(refused.iter().all(|(function, _)| by_hand(&function.name)), "{refused:?}");
    let in_refused = |address: &u64| {
        let holds = |function: &Function| (0..function.size_bytes).contains(&(address - function.address.0));
        refused.iter().any(|(function, _)| *address >= function.address.0 && holds(function))
    };
    assert_eq!(found, shown.into_iter().filter(|address| !in_refused(address)).collect());
}

/// A stripped program that C code was linked into keeps some dynamic symbols: they must not hide Go's own
/// table.
#[test]
fn dynamic_symbols_do_not_hide_go_functions() {
    let folder = tempfile::tempdir().unwrap();
    let image = open(&stripped(&built("1.27.3", folder.path(), LAYOUTS[3])));
    assert!(!functions_where(&image, |_| true).is_empty());
    assert_eq!(find_functions(&image, &PAUSE_FUNCTIONS), []);
    assert_eq!(GoFunctions::read(&image).unwrap().find(&PAUSE_FUNCTIONS).len(), 2);
}

/// Section headers are for linkers and debuggers; a program runs, and is traced, without them.
#[test]
fn section_headers_are_not_needed() {
    let folder = tempfile::tempdir().unwrap();
    for (version, layout) in
        [("1.21.13", LAYOUTS[3]), ("1.25.5", LAYOUTS[1]), ("1.27.3", LAYOUTS[0]), ("1.27.3", LAYOUTS[3])]
    {
        let program = built(version, folder.path(), layout);
        let whole = recognised(&program, version);
        let file = OpenOptions::new().write(true).open(&program).unwrap();
        // e_shoff, then e_shentsize, e_shnum and e_shstrndx.
        file.write_all_at(&[0; 8], 40).unwrap();
        file.write_all_at(&[0; 6], 58).unwrap();
        let bare = recognised(&program, version);
        assert_eq!(
            (bare.sites.requested[0].source, places(&bare.sites)),
            (SymbolSource::Pclntab, places(&whole.sites))
        );
    }
}

/// `-buildmode=c-shared` puts the runtime into a library.
#[test]
fn a_library_that_holds_go_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["1.21.13", "1.27.3"] {
        let library = built(version, folder.path(), ("library", &["-buildmode=c-shared"], true));
        let whole = recognised(&library, version);
        let bare = recognised(&stripped(&library), version);
        assert_eq!(places(&bare.sites), places(&whole.sites));
    }
}

#[test]
fn a_program_for_the_other_machine_is_read_but_not_opened_for_probes() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("other.go"), folder.path().join("other"));
    fs::write(&source, PLAIN).unwrap();
    let (other, goarch) = OTHER;
    go::build_in("1.27.3", &source, &program, &[], &[("CGO_ENABLED", "0"), ("GOARCH", goarch)]);
    let error = Image::open(File::open(&program).unwrap(), program.clone()).unwrap_err();
    assert!(error.to_string().contains("is for ELF machine"), "{error}");
    let image = Arc::new(Image::open_for(other, File::open(&program).unwrap(), program.clone()).unwrap());
    tables_agree(&image);
    assert_eq!(recognise(&image).unwrap().sites.stopped.len(), 1);
}

/// A version that the tables of symbols contradict must not be traced: one byte of the symbol's address is
/// changed.
#[test]
fn tables_that_disagree_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let program = built("1.27.3", folder.path(), LAYOUTS[0]);
    let stop = find_functions(&open(&program), &PAUSE_FUNCTIONS).remove(0);
    let bytes = fs::read(&program).unwrap();
    let symbol = [stop.address.0.to_le_bytes(), stop.size_bytes.to_le_bytes()].concat();
    let at = bytes.windows(symbol.len()).rposition(|window| window == symbol).unwrap();
    let file = OpenOptions::new().write(true).open(&program).unwrap();
    file.write_all_at(&[bytes[at].wrapping_add(0x10)], at as u64).unwrap();
    let error = recognise(&Arc::new(open(&program))).unwrap_err();
    assert!(matches!(error, RecogniseError::TablesDisagree { .. }), "{error}");
}

/// Thousands of damaged copies: nothing panics, and damage to the tables of a stripped program never moves a
/// probe.
#[test]
fn damage_is_an_error_and_never_another_place() {
    let folder = tempfile::tempdir().unwrap();
    for (version, layout, rounds) in
        [("1.27.3", LAYOUTS[0], 1500), ("1.27.3", LAYOUTS[3], 1500), ("1.25.5", LAYOUTS[3], 1500)]
    {
        let program = stripped(&built(version, folder.path(), layout));
        let right = places(&recognised(&program, version).sites);
        let image = open(&program);
        let text = GoFunctions::read(&image).unwrap().text_range();
        let code =
            image.file_offset(text.start).unwrap()..=image.file_offset(ElfAddress(text.end.0 - 1)).unwrap();
        drop(image);
        let original = fs::read(&program).unwrap();
        let begin = [0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8];
        let table = original.windows(8).position(|bytes| bytes == begin).unwrap();
        let file = OpenOptions::new().write(true).open(&program).unwrap();
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut refused = 0;
        for round in 0..rounds {
            let at = random.place(round, original.len(), table);
            let width = 1 + random.below(8);
            let damage: Vec<u8> = (0..width).map(|_| random.next().to_le_bytes()[0]).collect();
            file.write_all_at(&damage, at as u64).unwrap();
            match Image::open(File::open(&program).unwrap(), program.clone()) {
                Err(_) => refused += 1,
                Ok(image) => {
                    let image = Arc::new(image);
                    let _ = (image.build_id(), go_version(&image), holds_go_code(&image));
                    let _ = functions_where(&image, |_| true);
                    match recognise(&image) {
                        Err(error) => {
                            assert!(!error.to_string().is_empty());
                            refused += 1;
                        }
                        // Damaged code and load segments may be consistent in themselves; tables may not.
                        Ok(found) if !code.contains(&FileOffset(at as u64)) && at > 0x400 => {
                            assert_eq!(
                                places(&found.sites),
                                right,
                                "round {round}: {damage:02x?} at {at:#x}"
                            );
                        }
                        Ok(_) => {}
                    }
                }
            }
            let end = (at + width).min(original.len());
            file.write_all_at(&original[at..end], at as u64).unwrap();
            file.set_len(original.len() as u64).unwrap();
        }
        assert!(refused > rounds / 20, "only {refused} of {rounds} damaged copies were refused");
    }
}

/// A small generator of numbers (SplitMix64), so that every run damages the same bytes.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// A place to damage: in turn the headers, the section table, the begin of the function table, and
    /// anywhere.
    fn place(&mut self, round: usize, file_bytes: usize, table: usize) -> usize {
        match round % 4 {
            0 => self.below(0x400),
            1 => file_bytes - 1 - self.below(0x900),
            2 => table + self.below(72),
            _ => self.below(file_bytes),
        }
    }
}
