//! HotSpot, 11 to 25, with each of its collectors: what pauselens reports of its safepoints against the virtual machine's
//! own log of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/cgroup.rs"]
mod cgroup;
#[path = "support/go.rs"]
mod go;
#[path = "support/jdk.rs"]
mod jdk;
#[path = "support/swap.rs"]
mod swap;

use std::{path::Path, process::Command, sync::Arc};

use attached::{ALL_AS_JSON, Running, as_root, attach, pauselens, report_of};
use cgroup::Cgroup;
use jdk::{Jvm, Logged, Program, java, jcmd, libjvm, with_in_place};
use swap::Swap;
use tracer::{
    clock::monotonic_ns,
    elf::Image,
    memory::Region,
    pause::Kind,
    report::model::{Pause, Report},
    runtime::{MappedFiles, recognise_process},
    target::{Target, read_maps, thread_ids, thread_name},
};

const VERSIONS: [&str; 4] = ["11", "17", "21", "25"];

/// The log's stamps are taken inside of what the probes enclose, next to them.
const NEAR_NS: u64 = 20_000;
/// 11 writes lines of its log within the pause, between its own stamps and the probes.
const NEAR_WITH_LOGGING_NS: u64 = 60_000;

/// What the collectors are called on the command line, each with what is special about it.
struct Collector {
    name: &'static str,
    options: &'static [&'static str],
    versions: &'static [&'static str],
}

const COLLECTORS: [Collector; 7] = [
    Collector { name: "Serial", options: &["-XX:+UseSerialGC"], versions: &VERSIONS },
    Collector { name: "Parallel", options: &["-XX:+UseParallelGC"], versions: &VERSIONS },
    Collector { name: "G1", options: &["-XX:+UseG1GC"], versions: &VERSIONS },
    Collector { name: "ZGC", options: &["-XX:+UseZGC"], versions: &VERSIONS },
    Collector {
        name: "generational ZGC",
        options: &["-XX:+UseZGC", "-XX:+ZGenerational"],
        versions: &["21"],
    },
    Collector { name: "Shenandoah", options: &["-XX:+UseShenandoahGC"], versions: &VERSIONS },
    Collector { name: "Epsilon", options: &["-XX:+UseEpsilonGC"], versions: &["17", "25"] },
];

/// What both sides say of the same time.
struct Run {
    name: String,
    report: Report,
    log: Vec<Logged>,
    near_ns: u64,
}

impl Run {
    /// The pauses that were seen whole, in the order of time.
    fn pauses(&self) -> Vec<&Pause> {
        let mut pauses: Vec<_> =
            self.report.pauses.iter().filter(|pause| pause.duration_ns.is_some()).collect();
        pauses.sort_by_key(|pause| pause.id);
        pauses
    }
}

/// Traces a virtual machine while it does this, from a moment in which nothing goes on in it to another one.
fn traced(name: &str, version: &str, mut jvm: Jvm, commands: &[&str]) -> Run {
    let tracer = attach(jvm.pid(), &ALL_AS_JSON);
    let from_ns = monotonic_ns();
    for command in commands {
        jvm.does(command);
    }
    let to_ns = monotonic_ns();
    let report = report_of(tracer);
    // A safepoint at either edge may be on one side only.
    let mut log = jvm.ends();
    log.retain(|logged| (from_ns..to_ns).contains(&(logged.at_ns - logged.total_ns)));
    let near_ns = if version == "11" { NEAR_WITH_LOGGING_NS } else { NEAR_NS };
    Run { name: format!("JDK {version}, {name}"), report, log, near_ns }
}

/// Names that operations have themselves, and not in the log: Shenandoah's since 17.
fn in_the_log(reason: &str) -> &str {
    match reason {
        "Shenandoah Init Marking" => "ShenandoahInitMark",
        "Shenandoah Final Mark and Start Evacuation" => "ShenandoahFinalMarkStartEvac",
        "Shenandoah Init Update References" => "ShenandoahInitUpdateRefs",
        "Shenandoah Final Update References" => "ShenandoahFinalUpdateRefs",
        "Shenandoah Final Roots" => "ShenandoahFinalRoots",
        "Shenandoah Full GC" => "ShenandoahFullGC",
        "Shenandoah Degenerated GC" => "ShenandoahDegeneratedGC",
        reason => reason,
    }
}

/// Operations that are no collections, of those that happen here.
const OTHERS: [&str; 11] = [
    "CleanClassLoaderDataMetaspaces",
    "ThreadDump",
    "FindDeadlocks",
    "Cleanup",
    "ICBufferFull",
    "Deoptimize",
    "ForceSafepoint",
    "BulkRevokeBias",
    "RevokeBias",
    "EnableBiasedLocking",
    "HandshakeFallback",
];

/// As many safepoints, for the same operations in the same order, collections and others apart.
fn counts(run: &Run) {
    let (name, pauses) = (&run.name, run.pauses());
    assert!(run.report.trace.complete, "{name}: {:?}", run.report.trace.incomplete);
    assert_eq!(run.report.target.runtime.name, "hotspot", "{name}");
    let ours: Vec<_> = pauses.iter().map(|pause| in_the_log(&pause.reason)).collect();
    let theirs: Vec<_> = run
        .log
        .iter()
        .map(|logged| logged.operation.as_deref().unwrap_or("unknown (it was not told)"))
        .collect();
    assert_eq!(ours, theirs, "{name}");
    for pause in &pauses {
        let other = OTHERS.contains(&pause.reason.as_str());
        let expected = if pause.reason.starts_with("unknown") { None } else { Some(!other) };
        assert_eq!(pause.is_gc, expected, "{name}: {}", pause.reason);
    }
    let summary = &run.report.summary;
    assert_eq!(summary.pauses, pauses.len() as u64, "{name}");
    let collections = pauses.iter().filter(|pause| pause.is_gc == Some(true)).count() as u64;
    assert_eq!(summary.collections, collections, "{name}: {:?}", summary.by_reason);
}

/// Each safepoint's length and stopping phase is that of the log. Returns how many are farther from it than is explained by
/// where its stamps are: on a loaded machine a thread loses its CPU there now and then.
fn lengths(run: &Run) -> Vec<String> {
    let mut far = Vec::new();
    for (pause, logged) in run.pauses().iter().zip(&run.log) {
        let name = format!("{}, {}", run.name, pause.reason);
        let moments = [pause.requested_ns, pause.stopped_ns, pause.restarting_ns, pause.resumed_ns];
        assert!(moments.iter().all(Option::is_some) && moments.is_sorted(), "{name}: {pause:?}");
        for (what, ours_ns, theirs_ns) in [
            ("length", pause.duration_ns.unwrap(), logged.total_ns),
            ("stopping", pause.stopping_ns.unwrap(), logged.reaching_ns),
        ] {
            let near_ns = run.near_ns.max(theirs_ns / 100);
            if ours_ns.abs_diff(theirs_ns) > near_ns {
                far.push(format!("{name}: {what} {ours_ns} ns, the log's {theirs_ns}"));
            }
        }
    }
    far
}

/// Everything adds up, and nothing was lost.
fn sums(run: &Run) {
    let name = &run.name;
    for pause in &run.report.pauses {
        let of_kinds: u64 = pause.by_kind.values().map(|kind| kind.count).sum();
        let of_stacks: u64 = pause.stacks.iter().map(|stack| stack.faults).sum();
        assert_eq!((of_kinds, of_stacks), (pause.faults, pause.faults), "{name}: {pause:?}");
        assert_eq!(pause.fault_details.have, pause.fault_details.of, "{name}");
        if let Some(budget) = &pause.budget {
            assert_eq!(budget.sum_ns(), pause.duration_ns.unwrap(), "{name}: {budget:?}");
        }
        for worker in &pause.workers {
            assert_eq!(worker.budget.sum_ns(), pause.duration_ns.unwrap(), "{name}: {worker:?}");
            assert!(worker.in_faults_ns <= pause.duration_ns.unwrap(), "{name}: {worker:?}");
        }
        let Some(faults) = &pause.worker_faults else { continue };
        assert_eq!(faults.faults, pause.workers.iter().map(|worker| worker.faults).sum::<u64>(), "{name}");
        let sum = |counts: &mut dyn Iterator<Item = u64>| counts.sum::<u64>();
        for of_part in [
            sum(&mut faults.by_kind.values().map(|kind| kind.count)),
            sum(&mut faults.by_region.values().map(|region| region.count)),
            sum(&mut faults.places.iter().map(|place| place.total.count)),
            sum(&mut faults.stacks.iter().map(|stack| stack.faults)),
            faults.fault_details.have,
        ] {
            assert_eq!(of_part, faults.faults, "{name}: {faults:?}");
        }
        // They are among those of all other threads.
        assert!(faults.faults <= pause.bystanders.faults, "{name}: {faults:?}");
    }
    assert_eq!(run.report.trace.reconciliation.left_over, Some(0), "{name}");
}

#[test]
fn safepoints_are_those_of_the_log() {
    as_root();
    let program = Program::compile();
    let (mut far, mut all, mut polled) = (Vec::new(), 0, 0);
    for version in VERSIONS {
        for collector in COLLECTORS.iter().filter(|collector| collector.versions.contains(&version)) {
            let options = [collector.options, &["-Xmx256m", "-XX:ParallelGCThreads=2"]].concat();
            let mut jvm = Jvm::start(version, &program, &options);
            jvm.does("fill 10");
            let before = jvm.does("count");
            let commands = ["gc 3", "dump 4", "deadlocks 2", "churn 120", "busy 2", "dump 3", "gc 1"];
            let run = traced(collector.name, version, jvm, &commands);
            assert!(before.nodes > 200_000, "{before:?}");
            counts(&run);
            sums(&run);
            assert_eq!(run.report.target.runtime.version.split('.').next(), Some(version));
            let by_reason = &run.report.summary.by_reason;
            let asked_for = by_reason["ThreadDump"] + by_reason["FindDeadlocks"];
            assert!(by_reason["ThreadDump"] <= 7 && by_reason["FindDeadlocks"] <= 2, "{}", run.name);
            // 11 does what was asked for meanwhile in the safepoint of a collector that works on by itself: its log, with which
            // the names were compared, has one safepoint less for each.
            let shared = if version == "11" { 2 } else { 0 };
            assert!((9 - shared..=9).contains(&asked_for), "{}: {by_reason:?}", run.name);
            // Four are asked for; the name of their operation, or of a first one, is the collector's own.
            let collections = run.report.summary.collections;
            assert_eq!(collections >= 4, collector.name != "Epsilon", "{}: {by_reason:?}", run.name);
            all += 2 * run.log.len();
            far.extend(lengths(&run));
            polled += polls(&run);
        }
    }
    println!(
        "{} of {all} lengths and stopping phases are far from the log's:\n{}",
        far.len(),
        far.join("\n")
    );
    // Nearly every run has some.
    assert!(polled > 40, "{polled} polls of safepoints were seen");
    assert!(far.len() * 10 <= all, "{} of {all}:\n{}", far.len(), far.join("\n"));
}

/// Threads that compute run into the page that safepoints make inaccessible: faults of a kind of their own.
fn polls(run: &Run) -> u64 {
    let polled: u64 = run
        .pauses()
        .iter()
        .filter_map(|pause| pause.bystanders.by_kind.get(&Kind::Signal))
        .map(|kind| kind.count)
        .sum();
    println!("{}: {} safepoints, {polled} polls", run.name, run.log.len());
    polled
}

/// One full collection, all of whose heap is in swap: by the thread that drives the pause (Serial), or by several others.
#[test]
fn a_collection_that_reads_its_heap_back_loses_no_fault() {
    as_root();
    let program = Program::compile();
    for (version, collector, options) in [
        ("17", "Serial", &["-XX:+UseSerialGC"][..]),
        ("17", "G1", &["-XX:+UseG1GC", "-XX:ParallelGCThreads=2"]),
        ("25", "Parallel", &["-XX:+UseParallelGC", "-XX:ParallelGCThreads=2"]),
        ("11", "G1", &["-XX:+UseG1GC", "-XX:ParallelGCThreads=2"]),
    ] {
        let name = format!("JDK {version}, {collector}");
        let group = Cgroup::with("memory").unwrap();
        let swap = if swap::kernel_has_zram() { Swap::own_zram() } else { Swap::own_file() };
        let swap = swap.unwrap();
        let options = [options, &["-Xmx400m", "-XX:-UseCompressedOops"]].concat();
        let mut jvm = Jvm::start_by(group.command(&java(version)), version, &program, &options);
        jvm.does("fill 70");
        jvm.does("gc 1");
        group.reclaim();
        let run = traced(collector, version, jvm, &["gc 1"]);
        drop((group, swap));
        sums(&run);
        counts(&run);
        let pauses = run.pauses();
        let full = *pauses.iter().max_by_key(|pause| pause.duration_ns).unwrap();
        assert_eq!(full.is_gc, Some(true), "{name}: {full:?}");
        let workers = full.worker_faults.as_ref();
        let by_workers = workers.map_or(0, |faults| faults.faults);
        let faults = full.faults + by_workers;
        println!(
            "{name}: {} ms, {} faults by the driver, {by_workers} by {} workers",
            full.duration_ns.unwrap() / 1_000_000,
            full.faults,
            full.workers.len()
        );
        assert!(faults >= 20_000, "{name}: {faults} faults");
        // Serial has no workers, the others' driver only waits for them.
        assert_eq!(full.faults > by_workers, collector == "Serial", "{name}");
        let (by_kind, by_region, stacks) = match workers {
            Some(faults) if collector != "Serial" => (&faults.by_kind, &faults.by_region, &faults.stacks),
            _ => (&full.by_kind, &full.by_region, &full.stacks),
        };
        let swapped: u64 = [Kind::SwapIn, Kind::SwapCache]
            .iter()
            .filter_map(|kind| by_kind.get(kind))
            .map(|kind| kind.count)
            .sum();
        assert!(swapped * 10 >= faults * 8, "{name}: {by_kind:?}");
        let in_heap = by_region.get(&Region::RuntimeHeap).map_or(0, |region| region.count);
        assert!(in_heap * 10 >= faults * 8, "{name}: {by_region:?} {:?}", run.report.trace.unavailable);
        // A thread of the virtual machine begins here; below it is what the C library does.
        let whole = |frames: &[String]| frames.iter().any(|frame| frame.starts_with("thread_native_entry"));
        let cut: Vec<_> = stacks.iter().filter(|stack| !whole(&stack.frames)).collect();
        let of_cut: u64 = cut.iter().map(|stack| stack.faults).sum();
        println!("{name}: {} code paths, {of_cut} faults in {} that are not whole", stacks.len(), cut.len());
        // The C library has no frame pointers: a stack ends where the collector allocates memory of its own.
        assert!(of_cut * 100 <= faults, "{name}: {cut:?}");
        let rules: Vec<&str> = run.report.diagnosis.iter().map(|found| found.rule.as_str()).collect();
        // On a loaded machine waiting for a CPU can be all there is to tell.
        let in_faults_ns = full.workers.iter().map(|worker| worker.in_faults_ns).max().unwrap_or(0);
        let notable = in_faults_ns * 3 > full.duration_ns.unwrap();
        println!("{name}: {rules:?}");
        assert!(rules.contains(&"waited_for_workers") || !notable, "{name}: {rules:?}");
    }
}

/// A thread that can't stop in the middle of what it does makes the stopping phase long, and is named.
#[test]
fn the_last_thread_to_stop_is_named() {
    as_root();
    let program = Program::compile();
    for version in ["11", "17", "25"] {
        let mut jvm = Jvm::start(version, &program, &["-XX:+UseSerialGC", "-Xmx400m"]);
        // A copy takes some ten milliseconds.
        jvm.does("copy 100");
        let pid = jvm.pid();
        let copier = thread_ids(pid).unwrap().into_iter();
        let copier: Vec<u32> =
            copier.filter(|tid| thread_name(pid, *tid).is_some_and(|name| name == "copier")).collect();
        assert_eq!(copier.len(), 1, "JDK {version}");
        // Between two of them it is in the middle of a copy again.
        let commands = ["wait 20", "dump 1"].repeat(12);
        let run = traced("copies", version, jvm, &commands);
        counts(&run);
        let pauses = run.pauses();
        // By chance a safepoint is asked for when a copy has nearly ended.
        let slow = pauses.iter().filter(|pause| pause.stopping_ns.unwrap() > 1_500_000);
        let slow: Vec<_> = slow.map(|pause| (pause, pause.stopping.as_ref().unwrap())).collect();
        let named = slow.iter().filter(|(_, stopping)| stopping.last_tid == Some(copier[0])).count();
        println!("JDK {version}: {named} of {} slow stops are the copier's", slow.len());
        assert!(slow.len() >= 5, "JDK {version}: {:?}", run.log);
        assert!(named * 4 >= slow.len() * 3, "JDK {version}: {slow:?}");
    }
}

/// The heap and the code cache are where the virtual machine says that they are.
#[test]
fn regions_are_those_of_the_virtual_machine() {
    as_root();
    let program = Program::compile();
    for version in VERSIONS {
        for collector in ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseShenandoahGC"] {
            let name = format!("JDK {version} {collector}");
            let options = [collector, "-Xmx256m", "-Xlog:gc+heap+coops=debug:stderr"];
            let mut jvm = Jvm::start(version, &program, &options);
            jvm.does("fill 1");
            let (start, size_mib) = heap_of(&jvm.said());
            let target = Target::open(jvm.pid()).unwrap();
            let executable = Image::open(target.open_executable().unwrap(), target.exe().to_owned()).unwrap();
            let executable = Arc::new(executable);
            let files = MappedFiles::of(&target, Arc::clone(&executable)).unwrap();
            let recognised = recognise_process(&files).unwrap();
            let mappings = read_maps(jvm.pid()).unwrap();
            let mut memory = recognised.memory(target.pid(), &executable, None, &mappings).unwrap().unwrap();
            assert!(
                memory.heap_is_known()
                    && memory
                        .missing()
                        .iter()
                        .all(|part| version == "11" && part.part == "class data archive"),
                "{name}: {:?}",
                memory.missing()
            );
            let mut found =
                |address: u64| memory.find(address).map(|found| (found.heap, found.what.to_string()));
            let heap = Some((true, "Java heap".to_owned()));
            let end = start + (size_mib << 20);
            for (address, is_heap) in [(start - 1, false), (start, true), (end - 1, true), (end, false)] {
                assert_eq!(found(address) == heap, is_heap, "{name}: {address:#x}");
            }
            let code = Some((false, "code cache".to_owned()));
            let (low, high) = code_cache_of(&jcmd(version, jvm.pid(), "Compiler.codecache"));
            for (address, is_code) in [(low - 1, false), (low, true), (high - 1, true), (high, false)] {
                assert_eq!(found(address) == code, is_code, "{name}: {address:#x}");
            }
        }
    }
}

/// From `Heap address: 0x00000000f0000000, size: 256 MB, Compressed Oops mode: 32-bit`.
fn heap_of(said: &str) -> (u64, u64) {
    let (_, rest) = said.split_once("eap address: 0x").unwrap_or_else(|| panic!("no heap in {said}"));
    let (address, rest) = rest.split_once(", size: ").unwrap();
    (u64::from_str_radix(address, 16).unwrap(), rest.split(' ').next().unwrap().parse().unwrap())
}

/// From lines such as ` bounds [0x00007f3e14cd1000, 0x00007f3e14f41000, 0x00007f3e1c208000]`: begin, end of what is
/// committed, end.
fn code_cache_of(said: &str) -> (u64, u64) {
    let bounds = said.lines().filter_map(|line| {
        let (_, rest) = line.split_once("bounds [")?;
        let numbers = rest.trim_end().trim_end_matches(']').split(", ");
        let numbers: Vec<u64> =
            numbers.map(|number| u64::from_str_radix(number.trim_start_matches("0x"), 16).unwrap()).collect();
        Some((numbers[0], numbers[2]))
    });
    bounds.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1))).unwrap_or_else(|| panic!("{said}"))
}

/// Builds without symbols, without tracepoints, and without either: what is left is enough, or the error says what is
/// missing.
#[test]
fn other_builds_are_traced_by_what_they_have_left() {
    as_root();
    let program = Program::compile();
    let folder = tempfile::tempdir().unwrap();
    let java = java("17");
    let whole = libjvm(&java);
    let built = |name: &str, arguments: &[&str]| {
        let path = folder.path().join(name);
        let mut objcopy = Command::new("objcopy");
        let output = objcopy.args(arguments).arg(&whole).arg(&path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        path
    };
    let without_symbols = built("stripped.so", &["--strip-all", "--keep-section=.note.stapsdt"]);
    let without_tracepoints = built("untraced.so", &["--remove-section=.note.stapsdt"]);
    let without_either = built("bare.so", &["--strip-all", "--remove-section=.note.stapsdt"]);
    let started = |library: &Path| {
        let command = with_in_place(&whole, library, &java);
        Jvm::start_by(command, "17", &program, &["-XX:+UseG1GC", "-Xmx128m"])
    };
    for (what, library) in [("no symbols", &without_symbols), ("no tracepoints", &without_tracepoints)] {
        let run = traced(what, "17", started(library), &["gc 2", "dump 3", "churn 60"]);
        counts(&run);
        for (pause, logged) in run.pauses().iter().zip(&run.log) {
            // Without symbols nothing tells when the world has stopped.
            assert_eq!(pause.stopped_ns.is_some(), library == &without_tracepoints, "{what}: {pause:?}");
            // Without symbols the end is told after the line of the log has been written.
            let far_ns = pause.duration_ns.unwrap().abs_diff(logged.total_ns);
            assert!(far_ns < 5_000_000, "{what}: {pause:?} {logged:?}");
        }
    }
    let jvm = started(&without_either);
    let refused = refused(jvm.pid());
    for words in [
        "record_safepoint_synchronizedE*",
        "SafepointSynchronize5beginEv",
        "usdt:hs_private:safepoint__begin",
    ] {
        assert!(refused.contains(words), "{refused}");
    }
}

/// 8 as Debian builds it has neither symbols nor tracepoints: an error, not an empty report.
#[test]
fn a_build_without_places_is_refused_with_the_way_out() {
    as_root();
    let jvm = Jvm::start("8", &Program::compile(), &["-Xmx64m"]);
    let refused = refused(jvm.pid());
    for words in ["HotSpot (OpenJDK)", "(5) ", "usdt:hs_private:safepoint__begin", "openjdk-N-dbg"] {
        assert!(refused.contains(words), "no {words}: {refused}");
    }
}

/// The same build with its debug symbols where distributions put them, in the target's own root.
#[test]
fn debug_symbols_make_such_a_build_traceable() {
    as_root();
    let java = java("8-debug");
    let symbols = java.ancestors().nth(5).unwrap().join("debug");
    let program = Program::compile();
    // The beans count a young collection of its own within Parallel's full one.
    for (collector, full, counted) in [
        ("-XX:+UseSerialGC", "GenCollectFull", 3),
        ("-XX:+UseParallelGC", "ParallelGCSystemGC", 6),
        ("-XX:+UseG1GC", "G1CollectFull", 3),
    ] {
        let command = with_in_place(Path::new("/usr/lib/debug"), &symbols, &java);
        let mut jvm = Jvm::start_by(command, "8-debug", &program, &[collector, "-Xmx128m"]);
        let before = jvm.does("fill 10");
        let tracer = attach(jvm.pid(), &ALL_AS_JSON);
        for command in ["gc 3", "dump 4", "deadlocks 2"] {
            jvm.does(command);
        }
        let after = jvm.does("count");
        let report = report_of(tracer);
        assert!(report.trace.complete, "{:?}", report.trace.incomplete);
        let by_reason = &report.summary.by_reason;
        let expected = (Some(&3), Some(&4), Some(&2));
        let found = (by_reason.get(full), by_reason.get("ThreadDump"), by_reason.get("FindDeadlocks"));
        assert_eq!(found, expected, "{collector}: {by_reason:?}");
        // No other collection is due.
        assert_eq!(report.summary.collections, 3, "{collector}: {by_reason:?}");
        assert_eq!(after.collections - before.collections, counted, "{collector}");
        assert!(report.target.runtime.version.starts_with("8.0_"), "{}", report.target.runtime.version);
        for pause in &report.pauses {
            let moments = [pause.requested_ns, pause.stopped_ns, pause.restarting_ns, pause.resumed_ns];
            assert!(moments.iter().all(Option::is_some) && moments.is_sorted(), "{collector}: {pause:?}");
        }
    }
}

/// What pauselens says when it can't attach.
fn refused(pid: u32) -> String {
    let mut command = Command::new(pauselens());
    command.args(["attach", "--duration", "1s", "--pid", &pid.to_string()]);
    let ended = Running::start(command).ended();
    assert_eq!((ended.code(), ended.stdout.as_str()), (1, ""), "{}", ended.told());
    ended.stderr
}
