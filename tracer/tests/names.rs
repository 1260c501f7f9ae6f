//! Names: of generated code, from what the target itself has written down; of stripped files, from their debug files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;
#[path = "support/pausing.rs"]
mod pausing;

use std::{
    fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::Command,
};

use attached::{Running, as_root, until};
use pausing::{MANY, PAGES, Pausing, build, frames, frames_of, frames_with};
use tempfile::TempDir;
use tracer::{
    elf::{Image, functions_where},
    report::model::{Pause, Report},
    symbols::{Modules, Namer},
    target::read_maps,
};

const FRAMES: &[&str] = &["-O1", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer"];
const MAP_NAME: &str = "LazyCompile:*make<T>; with blanks /a b.js:1:2";

/// A file that is gone after the test.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn map_of(pid: u32) -> Removed {
    Removed(PathBuf::from(format!("/tmp/perf-{pid}.map")))
}

#[test]
fn generated_code_has_the_names_of_the_target_s_own_map() {
    let folder = TempDir::new().unwrap();
    let mut program = Pausing::start(&build(folder.path(), FRAMES));
    let _map = map_of(program.pid());
    let tracer = program.attach(&["--all"]);
    program.does("generated");
    // Written after the pause, and before the trace's end.
    program.does("write-map");
    let report = tracer.interrupted();
    let (innermost, faults) = frames(&report, 0);
    assert_eq!((innermost[0].as_str(), faults), (MAP_NAME, PAGES), "{innermost:?}");
    assert_eq!(innermost[1..3], ["in_pause", "main"]);
    let notes = &report.trace.notes;
    assert!(notes.iter().any(|note| note.contains("1 line is not of the form START SIZE NAME")), "{notes:?}");
    assert!(!notes.iter().any(|note| note.contains("generated code has no name")), "{notes:?}");
}

#[test]
fn generated_code_has_the_names_of_a_mapped_jitdump_file() {
    let folder = TempDir::new().unwrap();
    let mut program = Pausing::start(&build(folder.path(), FRAMES));
    let _dump = Removed(PathBuf::from(format!("/tmp/jit-{}.dump", program.pid())));
    let tracer = program.attach(&["--all"]);
    program.does("write-dump");
    program.does("generated");
    let report = tracer.interrupted();
    assert_eq!(frames(&report, 0).0[..2], ["compiled by the dumper", "in_pause"], "{:?}", report.trace.notes);
}

#[test]
fn somebody_else_s_map_is_not_used_and_that_is_said() {
    let folder = TempDir::new().unwrap();
    let mut program = Pausing::start(&build(folder.path(), FRAMES));
    let map = map_of(program.pid());
    program.does("write-map");
    chown(&map.0, Some(12_345), None).unwrap();
    let tracer = program.attach(&["--all"]);
    program.does("generated");
    let report = tracer.interrupted();
    assert_eq!(frames(&report, 0).0[..2], ["[generated code]", "in_pause"]);
    let notes = &report.trace.notes;
    let expected =
        format!("{} was not used to name generated code: it belongs to user id 12345", map.0.display());
    assert!(notes.iter().any(|note| note.starts_with(&expected)), "{notes:?}");
}

#[test]
fn without_a_map_a_note_says_how_to_get_one() {
    let folder = TempDir::new().unwrap();
    let mut program = Pausing::start(&build(folder.path(), FRAMES));
    let tracer = program.attach(&["--all"]);
    program.does("generated");
    let report = tracer.interrupted();
    assert_eq!(frames(&report, 0).0[0], "[generated code]");
    let notes = &report.trace.notes;
    let hint = notes.iter().find(|note| note.contains("in generated code has no name")).unwrap();
    assert!(hint.contains("/tmp/perf-PID.map"), "{hint}");
}

/// A process that is 1 to itself, whose `/tmp` is its own, and which has ended with all of its namespaces before its stacks
/// are named.
#[test]
fn a_map_in_a_container_is_read_after_the_container_is_gone() {
    let folder = TempDir::new_in("/var/tmp").unwrap();
    let path = build(folder.path(), FRAMES);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"]);
    command.arg("mount -t tmpfs tmpfs /tmp && exec \"$0\"").arg(&path);
    let mut program = Pausing::start_below(command, &path);
    program.does("write-map");
    let tracer = program.attach(&["--all"]);
    program.does("generated");
    program.ends();
    let report = tracer.ended_report();
    assert_eq!(frames(&report, 0).0[..2], [MAP_NAME, "in_pause"], "{:?}", report.trace.notes);
    assert!(!fs::exists("/tmp/perf-1.map").unwrap());
}

/// Without its own table, and with one in which there is little.
#[test]
fn a_stripped_program_has_the_names_of_its_debug_file() {
    let run = |tool: &str, arguments: &[&str]| {
        let output = Command::new(tool).args(arguments).output().unwrap();
        assert!(output.status.success(), "{tool} {arguments:?} {output:?}");
    };
    let keep = ["-K", "pauselens_demo_stop_world", "-K", "pauselens_demo_start_world"];
    for (strip, exported) in [(&[][..], "-rdynamic"), (&keep[..], "-g0")] {
        let folder = TempDir::new().unwrap();
        let path = build(folder.path(), &[FRAMES, &[exported]].concat());
        let debug = folder.path().join(".debug/pausing.debug");
        fs::create_dir(debug.parent().unwrap()).unwrap();
        let (program_path, debug_path) = (path.to_str().unwrap(), debug.to_str().unwrap());
        run("objcopy", &["--only-keep-debug", program_path, debug_path]);
        // The two pause functions stay: the program could not be traced without.
        run("strip", &[strip, &["--strip-all", program_path]].concat());
        run("objcopy", &[&format!("--add-gnu-debuglink={debug_path}"), program_path]);
        let mut program = Pausing::start(&path);
        let tracer = program.attach(&["--all"]);
        program.does("pause");
        let report = tracer.interrupted();
        let expected = ["touch", "level_5", "level_4", "level_3", "level_2", "level_1", "in_pause", "main"];
        assert_eq!(frames_of(&report, 0, "touch")[..8], expected, "{exported}");
    }
}

/// HotSpot: its own functions readable, and compiled code named by the map that `jcmd` makes.
#[test]
fn hotspot_is_named() {
    as_root();
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("Waits.java");
    let text = "class Waits { public static void main(String[] a) throws Exception { System.out.println(\"ready\"); \
                System.in.read(); } }";
    fs::write(&source, text).unwrap();
    let mut command = Command::new("java");
    command.args(["-Xmx64m", "-XX:+UseSerialGC"]).arg(&source);
    let mut java = Running::start(command);
    assert_eq!(java.line(), "ready");
    let map = map_of(java.pid());
    let status = Command::new("jcmd").args([&java.pid().to_string(), "Compiler.perfmap"]).output().unwrap();
    assert!(status.status.success(), "{status:?}");
    let mappings = read_maps(java.pid()).unwrap();
    let mut modules = Modules::new(java.pid());
    modules.observe(&mappings);
    let libjvm = mappings
        .iter()
        .find(|mapping| mapping.executable && mapping.name.as_encoded_bytes().ends_with(b"/libjvm.so"))
        .unwrap();
    let image = Image::open(fs::File::open(&libjvm.name).unwrap(), PathBuf::from(&libjvm.name)).unwrap();
    let begin = functions_where(&image, |name| name == b"_ZN20SafepointSynchronize5beginEv").remove(0);
    let offset = image.file_offset(begin.address).unwrap();
    let middle = libjvm.start + offset.0 - libjvm.offset_bytes + begin.size_bytes / 2;
    let (interpreter, name) = entry_of(&map.0, |name| name == "Interpreter");
    let mut namer = Namer::new(modules, None);
    let stack = [middle, interpreter + 2];
    namer.read_generated([&stack[..]].into_iter());
    assert_eq!(namer.stack(Some(&stack), false), ["SafepointSynchronize::begin()", &name]);
    assert_eq!(namer.notes(), Vec::<String>::new());
}

#[test]
fn node_is_named_by_the_map_that_it_writes() {
    as_root();
    let script = "function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s; } \
                  for (let i = 0; i < 1000; i++) hot(10000); console.log('ready'); process.stdin.resume();";
    let mut command = Command::new("node");
    command.args(["--perf-basic-prof", "-e", script]);
    let mut node = Running::start(command);
    assert_eq!(node.line(), "ready");
    let map = map_of(node.pid());
    until("the function in the map", || {
        fs::read_to_string(&map.0).is_ok_and(|text| text.lines().any(|line| line.contains("hot ")))
    });
    let mut modules = Modules::new(node.pid());
    modules.observe(&read_maps(node.pid()).unwrap());
    // Bytecode has entries too, which are no code: an address of one is never in a stack.
    let in_code = |address: u64| modules.find(address).is_some_and(|module| module.is_memory());
    let text = fs::read_to_string(&map.0).unwrap();
    let line = text.lines().rfind(|line| line.contains(" JS:") && in_code(start_of(line))).unwrap();
    let (start, name) = (start_of(line), line.splitn(3, ' ').nth(2).unwrap());
    let mut namer = Namer::new(modules, None);
    namer.read_generated([&[start][..], &[start + 1][..]].into_iter());
    assert_eq!(namer.name(start), name);
}

/// The chain of calls of `pause`, from the innermost function on.
const CHAIN: [&str; 8] = ["touch", "level_5", "level_4", "level_3", "level_2", "level_1", "in_pause", "main"];
const NO_FRAMES: &[&str] = &["-O2", "-fomit-frame-pointer", "-DNO_FRAMES"];
const NO_FRAME_POINTER: &str = "[callers not recorded: no frame pointer]";

/// A trace in which the program does these things, one pause for each.
fn traced(build_options: &[&str], options: &[&str], commands: &[&str]) -> Report {
    let folder = TempDir::new().unwrap();
    let mut program = Pausing::start(&build(folder.path(), build_options));
    let tracer = program.attach(&[&["--all"], options].concat());
    for command in commands {
        program.does(command);
    }
    tracer.interrupted()
}

#[test]
fn without_frame_pointers_the_whole_chain_is_unwound() {
    for how in ["dwarf", "auto"] {
        let report = traced(NO_FRAMES, &["--unwind", how], &["pause", "fill"]);
        let (frames, faults) = frames(&report, 0);
        assert_eq!((&frames[..8], faults), (&CHAIN.map(str::to_owned)[..], PAGES), "{how}");
        // To the very end: the program's first function has no caller.
        assert_eq!(frames.last().unwrap(), "_start", "{how}: {frames:?}");
        // Through a library that has none either.
        let fill = frames_with(&report, 1, "fill_page");
        assert!(fill[0].contains("memset"), "{how}: {fill:?}");
        assert_eq!(fill[1..4], ["fill_page", "in_pause", "main"], "{how}: {fill:?}");
        assert_eq!(fill.last().unwrap(), "_start", "{how}: {fill:?}");
        assert_eq!(report.trace.dropped["stack_copy_ring_full"], 0);
    }
}

/// In a system call the registers are not those of the fault.
#[test]
fn what_the_kernel_touches_for_the_program_is_unwound_too() {
    let report = traced(NO_FRAMES, &["--unwind", "dwarf"], &["read"]);
    let frames = frames_with(&report, 0, "read_into");
    let at = frames.iter().position(|frame| frame == "read_into").unwrap();
    assert!(frames[0].contains("read"), "the C library's function: {frames:?}");
    assert_eq!(frames[at..at + 3], ["read_into", "in_pause", "main"], "{frames:?}");
    assert_eq!(frames.last().unwrap(), "_start");
}

#[test]
fn without_frame_pointers_a_walk_by_them_is_marked() {
    let report = traced(NO_FRAMES, &[], &["pause"]);
    let (frames, faults) = frames(&report, 0);
    assert_eq!((frames, faults), (vec!["touch".to_owned(), NO_FRAME_POINTER.to_owned()], PAGES));
}

/// A library's function without a frame between two that have one: its caller is not where the frame pointer leads, and
/// what is there is not its caller.
#[test]
fn a_function_without_a_frame_is_marked_between_those_with_one() {
    let report = traced(FRAMES, &[], &["fill"]);
    let (frames, _) = frames(&report, 0);
    assert!(frames[0].contains("memset"), "{frames:?}");
    assert_eq!(frames[1..4], [NO_FRAME_POINTER, "in_pause", "main"], "{frames:?}");
}

#[test]
fn with_frame_pointers_both_ways_tell_the_same() {
    let chain = |options: &[&str]| frames(&traced(FRAMES, options, &["pause"]), 0).0;
    let (by_frame_pointers, unwound) = (chain(&[]), chain(&["--unwind", "dwarf"]));
    assert_eq!(by_frame_pointers[..8], CHAIN);
    assert_eq!(unwound[..8], CHAIN);
    assert_eq!(by_frame_pointers[8], unwound[8], "the C library's first function");
    // The program has frame pointers, so nothing is copied.
    assert_eq!(chain(&["--unwind", "auto"]), by_frame_pointers);
    assert_ne!(unwound.last(), by_frame_pointers.last(), "only a copy leads to the very first function");
}

/// A copy that is too small for the stack.
#[test]
fn a_stack_that_is_deeper_than_its_copy_is_marked() {
    let report = traced(NO_FRAMES, &["--unwind", "dwarf", "--stack-bytes", "1KiB"], &["deep"]);
    let (frames, _) = frames(&report, 0);
    assert_eq!(frames[0], "dig", "{frames:?}");
    assert_eq!(frames.last().unwrap(), "[deeper frames not recorded]", "{frames:?}");
    assert!(frames[..frames.len() - 1].iter().all(|frame| frame == "dig"), "{frames:?}");
}

/// Copies that find the ring full are counted as such; counts stay exact, and stacks are then as frame pointers tell.
#[test]
fn copies_that_find_no_room_are_counted() {
    let folder = TempDir::new().unwrap();
    let mut program = Pausing::start(&build(folder.path(), FRAMES));
    let tracer = program.attach(&["--all", "--unwind", "dwarf", "--ring-size", "8KiB"]);
    program.does("many");
    let (code, report) = tracer.interrupted_with_status();
    let dropped = &report.trace.dropped;
    assert!(dropped["stack_copy_ring_full"] > 0, "{dropped:?}");
    assert_eq!((code, report.trace.complete), (3, false));
    assert!(report.trace.incomplete.iter().any(|why| why.contains("could not be unwound")));
    assert!(report.pauses[0].faults >= MANY, "{}", report.pauses[0].faults);
}

/// What a copy costs the faulting thread: said, and bounded loosely. On a busy machine only the quickest pause is undisturbed.
#[test]
fn the_cost_of_a_copy() {
    let per_fault_ns = |how: &str| {
        // Room for all copies of stacks, should a loaded machine leave pauselens no time to read any.
        let report = traced(FRAMES, &["--ring-size", "512MiB", "--unwind", how], &["many"; 8]);
        assert!(report.pauses.iter().all(|pause| pause.faults >= MANY));
        let least = |of: fn(&Pause) -> u64| report.pauses.iter().map(|pause| of(pause) / pause.faults).min();
        (least(|pause| pause.duration_ns.unwrap()).unwrap(), least(|pause| pause.tracing_ns).unwrap())
    };
    let (walked, copied) = (per_fault_ns("fp"), per_fault_ns("dwarf"));
    println!(
        "a fault in a pause, in ns, and of that tracing after its end: walked {walked:?}, copied {copied:?}"
    );
    assert!(copied.0 < 20 * walked.0, "{copied:?} {walked:?}");
}

fn start_of(line: &str) -> u64 {
    u64::from_str_radix(line.split(' ').next().unwrap().trim_start_matches("0x"), 16).unwrap()
}

/// The start and the name of a map's entry.
fn entry_of(map: &Path, wanted: impl Fn(&str) -> bool) -> (u64, String) {
    let text = fs::read_to_string(map).unwrap();
    let mut entries = text.lines().filter_map(|line| {
        let name = line.splitn(3, ' ').nth(2)?;
        Some((start_of(line), name.to_owned()))
    });
    entries.find(|(_, name)| wanted(name)).unwrap_or_else(|| panic!("no such entry in {text}"))
}
