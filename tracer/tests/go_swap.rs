//! A Go program whose memory has been swapped out: what pauselens reports of its pauses against what the runtime and
//! the kernel have counted meanwhile, for each way in which Go's runtime behaves and its programs are built.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;

use std::{fs, path::Path, process::Command, time::Duration};

use attached::{Busy, Running, as_root, attach, build_busy, pauselens};
use serde_json::Value;
use tracer::{
    pause::Kind,
    report::model::{Pause, Report},
};

/// One toolchain for each way in which the runtime passes its own clock readings on: none, one, two, and two more
/// structured ones.
const VERSIONS: [&str; 4] = ["1.21.13", "1.22.10", "1.25.5", "1.27.3"];
/// `-s` is what strips (it implies `-w`); the workload splits flags at blanks.
const BUILDS: [&str; 4] = ["", "-ldflags=-s", "-buildmode=pie", "-buildmode=pie -ldflags=-s"];
const ROUNDS: usize = 4;
const SWEEP: &str = "GC sweep termination";
const MARK: &str = "GC mark termination";
/// The frame that stands for the callers of a function whose stack was being made larger.
const STACK_GROWS: &str = "[callers not recorded: the runtime was growing this stack]";

/// Clock readings of runtime and probes may be this far apart where nothing is known to lie between them, or 2 % of
/// the pause.
const NEAR_NS: i64 = 20_000;
/// What it takes to wake one more thread up, which the runtime does after its last reading.
const WAKE_UP_NS: i64 = 50_000;

#[track_caller]
fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap()
}

fn near_ns(pause_ns: i64) -> i64 {
    NEAR_NS.max(pause_ns / 50)
}

/// One run of the workload, with both accounts of it.
struct Swapped {
    name: String,
    version: &'static str,
    report: Report,
    /// What the program has counted.
    stats: Value,
}

impl Swapped {
    fn run(version: &'static str, flags: &str, folder: &Path) -> Self {
        let (report, stats) = (folder.join("report.json"), folder.join("stats.json"));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/workloads/swap-pause/run");
        let mut command = Command::new(script);
        // Larger where nothing is stripped: one way of building gets the long pauses.
        let graph_mb = if flags.is_empty() { "60" } else { "40" };
        command.args(["--go", version, "--go-flags", flags, "--graph-mb", graph_mb]);
        command.args(["--rounds", &ROUNDS.to_string()]).arg("--pauselens").arg(pauselens());
        command.arg("--keep-stats").arg(&stats);
        command.args(["--", "--all", "--cross-check", "--format", "json", "--output"]).arg(&report);
        let ended = Running::start_tidy(command).ended_within(Duration::from_secs(120));
        assert_eq!(ended.code(), 0, "Go {version} {flags}: {}", ended.told());
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        Self {
            name: format!("Go {version} {flags}"),
            version,
            report: serde_json::from_str(&read(&report)).unwrap(),
            stats: serde_json::from_str(&read(&stats)).unwrap(),
        }
    }

    /// The pauses of each collection, in the order of time.
    fn collections(&self) -> Vec<Vec<&Pause>> {
        let mut pauses: Vec<&Pause> = self.report.pauses.iter().collect();
        pauses.sort_by_key(|pause| pause.id);
        let mut collections: Vec<Vec<&Pause>> = Vec::new();
        for pause in pauses {
            match collections.last_mut() {
                Some(last) if pause.reason == MARK => last.push(pause),
                _ => collections.push(vec![pause]),
            }
        }
        collections
    }
}

/// Pauses and reasons are those of the runtime's own count.
fn counts(run: &Swapped) {
    let (name, summary) = (&run.name, &run.report.summary);
    assert!(run.report.trace.complete, "{name}: {:?}", run.report.trace.incomplete);
    assert_eq!(run.report.target.runtime.version, run.version, "{name}");
    assert_eq!(run.stats["go_version"], format!("go{}", run.version), "{name}");
    assert_eq!(run.stats["collections"], ROUNDS, "{name}");
    assert_eq!(run.stats["gc_stops"]["count"], summary.pauses, "{name}: {:?}", summary.by_reason);
    assert_eq!((summary.collections, summary.other_stops), (summary.pauses, 0), "{name}");
    let reasons: Vec<&str> = summary.by_reason.keys().map(String::as_str).collect();
    assert_eq!(reasons, [MARK, SWEEP], "{name}");
    assert_eq!(summary.by_reason[SWEEP], ROUNDS as u64, "{name}");
    // A collection marks anew when work is left over after it had stopped the world: one more pause.
    assert!(summary.by_reason[MARK] >= ROUNDS as u64, "{name}");
    assert_eq!(run.collections().len(), ROUNDS, "{name}");
    for collection in run.collections() {
        assert_eq!(collection[0].reason, SWEEP, "{name}");
        assert!(collection.len() > 1, "{name}");
    }
}

/// Everything adds up: stacks and kinds to pauses, pauses to the summary.
fn sums(run: &Swapped) {
    let (name, summary, pauses) = (&run.name, &run.report.summary, &run.report.pauses);
    let sum = |of: fn(&Pause) -> u64| pauses.iter().map(of).sum::<u64>();
    assert_eq!(summary.faults, sum(|pause| pause.faults), "{name}");
    assert_eq!(
        (summary.major, summary.minor),
        (sum(|pause| pause.major), sum(|pause| pause.minor)),
        "{name}"
    );
    assert_eq!(summary.in_faults_ns, sum(|pause| pause.in_faults_ns), "{name}");
    assert_eq!(summary.paused_ns, sum(|pause| pause.duration_ns.unwrap()), "{name}");
    assert_eq!(summary.worst_ns, pauses.iter().filter_map(|pause| pause.duration_ns).max(), "{name}");
    assert_eq!(summary.bystanders.faults, sum(|pause| pause.bystanders.faults), "{name}");
    for pause in pauses {
        let of_stacks: u64 = pause.stacks.iter().map(|stack| stack.faults).sum();
        let of_kinds: u64 = pause.by_kind.values().map(|kind| kind.count).sum();
        let ns_of_kinds: u64 = pause.by_kind.values().map(|kind| kind.ns).sum();
        assert_eq!((of_stacks, of_kinds), (pause.faults, pause.faults), "{name}: {pause:?}");
        // What the kernel gave up to deliver a signal (Go's preemption) is neither, and of kind `other`.
        let given_up = pause.faults - pause.major - pause.minor;
        let other = pause.by_kind.get(&Kind::Other).map_or(0, |total| total.count);
        assert!(given_up <= other, "{name}: {pause:?}");
        assert_eq!(ns_of_kinds, pause.in_faults_ns, "{name}: {pause:?}");
        assert!(pause.in_faults_ns <= pause.duration_ns.unwrap(), "{name}: {pause:?}");
        let moments = [pause.requested_ns, pause.stopped_ns, pause.restarting_ns, pause.resumed_ns];
        assert!(moments.iter().all(Option::is_some) && moments.is_sorted(), "{name}: {pause:?}");
        assert_eq!(pause.fault_details.have, pause.fault_details.of, "{name}");
    }
    // The kernel's counters of a process that has ended are unknown, or were read in time. Now and then the kernel
    // counts a fault that it has taken by itself (without registers, so that no software event tells of it).
    let left_over = run.report.trace.reconciliation.left_over;
    assert!(matches!(left_over, None | Some(0..=3)), "{name}: {:?}", run.report.trace.reconciliation);
}

/// The pause with the most time in faults. Nearly always it is the longest one: on a loaded machine a pause can be
/// longer because a thread that it waits for has no CPU.
fn worst(run: &Swapped) -> &Pause {
    run.report.pauses.iter().max_by_key(|pause| pause.in_faults_ns).unwrap()
}

/// The story: the worst pause was spent reading back the collector's own memory.
fn story(run: &Swapped) {
    let name = &run.name;
    let worst = worst(run);
    // A swapped-out pause takes milliseconds; without swap it takes some ten microseconds.
    assert!(worst.duration_ns.unwrap() > 500_000 && worst.faults > 10, "{name}: {worst:?}");
    let swap_ns: u64 = [Kind::SwapIn, Kind::SwapCache]
        .iter()
        .filter_map(|kind| worst.by_kind.get(kind))
        .map(|kind| kind.ns)
        .sum();
    assert!(swap_ns * 10 > worst.in_faults_ns * 9, "{name}: {:?}", worst.by_kind);

    let caller = if worst.reason == SWEEP { "runtime.gcStart" } else { "runtime.gcMarkDone" };
    let ns_of = |frame| faults_under(worst, |frames| any_is(frames, &[frame]));
    // While the runtime makes a stack larger, its callers can't be walked: that is marked, and little of the pause.
    let (reaching_ns, growing_ns) = (ns_of(caller), ns_of(STACK_GROWS));
    assert_eq!(growing_ns, ns_of("runtime.morestack"), "{name}: {:?}", worst.stacks);
    let in_faults_ns = signed(worst.in_faults_ns);
    assert!(growing_ns * 2 < in_faults_ns, "{name}: {:?}", worst.stacks);
    assert!(reaching_ns * 10 > (in_faults_ns - growing_ns) * 9, "{name}: {:?}", worst.stacks);
    // By count: one slow read of the disk can outweigh all others.
    let frames = &worst.stacks.iter().max_by_key(|stack| stack.faults).unwrap().frames;
    if worst.reason == SWEEP {
        assert_eq!(frames[0], "runtime.(*spanSet).reset", "{name}: {frames:?}");
        let outermost = &frames[frames.len() - 5..];
        assert_eq!(
            outermost,
            ["runtime.GC", "main.run", "main.main", "runtime.main", "runtime.goexit"],
            "{name}: {frames:?}"
        );
    }
    let rules: Vec<&str> = run.report.diagnosis.iter().map(|found| found.rule.as_str()).collect();
    assert!(rules.contains(&"swap_in_during_pause"), "{name}: {rules:?}");
}

/// How much of the worst pause is in faults, in percent.
fn explained_percent(run: &Swapped) -> u64 {
    let worst = worst(run);
    worst.in_faults_ns * 100 / worst.duration_ns.unwrap()
}

/// Time in faults of the code paths for which `chosen` is true.
fn faults_under(pause: &Pause, chosen: impl Fn(&[String]) -> bool) -> i64 {
    signed(pause.stacks.iter().filter(|stack| chosen(&stack.frames)).map(|stack| stack.ns).sum())
}

fn any_is(frames: &[String], names: &[&str]) -> bool {
    frames.iter().any(|frame| names.contains(&frame.as_str()))
}

/// Differences that must never be negative, and are near zero unless a thread lost its CPU just then.
#[derive(Default)]
struct Distances {
    all: usize,
    far: Vec<String>,
}

impl Distances {
    /// A distance, and how large it may be.
    fn add(&mut self, ns: i64, allowed_ns: i64, what: impl FnOnce() -> String) {
        self.all += 1;
        if ns > allowed_ns {
            self.far.push(format!("{}: {ns} ns, {allowed_ns} allowed", what()));
        }
    }

    /// A loaded machine takes the CPU away now and then; most distances have no such thing in them.
    fn are_near(&self, what: &str) {
        let (far, all) = (self.far.len(), self.all);
        println!("{what}: {far} of {all} far");
        assert!(far * 5 <= all, "{what}: {far} of {all} are too far:\n{}", self.far.join("\n"));
    }
}

/// Each collection's stops, added up, against the runtime's own sum.
///
/// The runtime reads its clock inside of what the probes enclose. It begins behind the lock that the stop needs (which
/// it passes on since Go 1.22), or, before, shortly in front of the call that stops. It ends behind the wake-up of the
/// others and in front of the entry in its histogram and the wake-up of one more; in the last pause of a collection,
/// in front of some book-keeping and the whole restart.
fn against_the_runtime(run: &Swapped, distances: &mut Distances) {
    let theirs = run.stats["gc_pauses_ns"].as_array().unwrap();
    assert_eq!(theirs.len(), ROUNDS, "{}", run.name);
    for (number, (collection, theirs)) in run.collections().iter().zip(theirs).enumerate() {
        let theirs_ns = theirs.as_i64().unwrap();
        let (mut ours_ns, mut outside_ns) = (0, 0);
        for (index, pause) in collection.iter().enumerate() {
            let begin_ns = pause.runtime_requested_ns.or(pause.requested_ns).unwrap();
            if index + 1 < collection.len() {
                ours_ns += pause.resumed_ns.unwrap() - begin_ns;
                outside_ns += faults_under(pause, |frames| {
                    any_is(frames, &["runtime.(*timeHistogram).record", "runtime.wakep", "runtime.releasem"])
                });
            } else {
                ours_ns += pause.restarting_ns.unwrap() - begin_ns;
                // The stopped part of it runs on the system stack; what the collection itself does follows.
                outside_ns += faults_under(pause, |frames| {
                    let at = frames.iter().position(|frame| frame == "runtime.gcMarkTermination");
                    at.is_some_and(|at| at == 0 || !frames[at - 1].starts_with("runtime.systemstack"))
                        && !any_is(frames, &["runtime.newstack"])
                });
            }
        }
        let ns = ours_ns - theirs_ns;
        // Around a fault the thread loses and gets its CPU.
        let allowed_ns = near_ns(theirs_ns).max(WAKE_UP_NS) + outside_ns * 5 / 4;
        let what =
            || format!("{} collection {}: {ours_ns} ns, the runtime {theirs_ns}", run.name, number + 1);
        if run.version == "1.21.13" {
            // What lies between the runtime's reading and its call is no part of the pause: a read of the disk for the
            // function's own code, for example.
            distances.add(ns.abs(), allowed_ns, what);
        } else {
            assert!(ns >= 0, "{}", what());
            distances.add(ns, allowed_ns, what);
        }
    }
}

/// The probes' moments against the runtime's own, one by one.
fn against_the_stamps(run: &Swapped, requested: &mut Distances, stopped: &mut Distances) {
    let (mut worst_requested, mut worst_stopped) = (None, None);
    for pause in &run.report.pauses {
        let stopping_faults_ns =
            faults_under(pause, |frames| any_is(frames, &["runtime.stopTheWorldWithSema"]));
        let allowed_ns = near_ns(signed(pause.duration_ns.unwrap())) + stopping_faults_ns;
        let what = || format!("{} pause {}", run.name, pause.id);
        if let Some(runtime) = pause.runtime_requested_ns {
            let ns = runtime - pause.requested_ns.unwrap();
            assert!(ns >= 0, "{}: {ns}", what());
            requested.add(ns, allowed_ns, what);
            worst_requested = worst_requested.max(Some(ns.unsigned_abs()));
        }
        if let Some(runtime) = pause.runtime_stopped_ns {
            let ns = pause.stopped_ns.unwrap() - runtime;
            assert!(ns >= 0, "{}: {ns}", what());
            stopped.add(ns, allowed_ns, what);
            worst_stopped = worst_stopped.max(Some(ns.unsigned_abs()));
        }
    }
    let name = &run.name;
    assert_eq!(worst_requested.is_some(), run.version != "1.21.13", "{name}");
    assert_eq!(worst_stopped.is_some(), !["1.21.13", "1.22.10"].contains(&run.version), "{name}");
    let told = run.report.trace.runtime_stamps;
    assert_eq!(told.is_some(), worst_requested.is_some(), "{name}");
    if let Some(told) = told {
        assert_eq!(told.pauses, run.report.summary.pauses, "{name}");
        assert_eq!(
            (told.requested_worst_ns, told.stopped_worst_ns),
            (worst_requested, worst_stopped),
            "{name}"
        );
    }
}

#[test]
fn the_report_is_what_runtime_and_kernel_have_counted() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let (mut sums_apart, mut requested, mut stopped) =
        (Distances::default(), Distances::default(), Distances::default());
    let (mut explained, mut longest) = (Vec::new(), 0);
    for version in VERSIONS {
        for flags in BUILDS {
            let run = Swapped::run(version, flags, folder.path());
            counts(&run);
            sums(&run);
            story(&run);
            against_the_runtime(&run, &mut sums_apart);
            against_the_stamps(&run, &mut requested, &mut stopped);
            longest += usize::from(worst(&run).duration_ns == run.report.summary.worst_ns);
            explained.push((explained_percent(&run), run.name));
        }
    }
    sums_apart.are_near("the runtime's sums of a collection's pauses");
    requested.are_near("the runtime's stamps of requested stops");
    stopped.are_near("the runtime's stamps of stops");
    assert!(
        longest * 4 >= explained.len() * 3,
        "in {longest} of {} runs the worst is the longest",
        explained.len()
    );
    // What is left is the collector's own work, and now and then the loss of the CPU.
    explained.sort();
    println!("in faults: {explained:?}");
    assert!(explained[explained.len() / 4].0 >= 90, "{explained:?}");
}

/// While the target lives, the kernel's own counters must be met: for the process and for each thread.
#[test]
fn faults_are_those_that_the_kernel_has_counted() {
    as_root();
    for version in ["1.21.13", "1.27.3"] {
        let folder = tempfile::tempdir().unwrap();
        let mut busy = Busy::start(&build_busy(version, folder.path()));
        busy.is_busy();
        let tracer = attach(busy.pid(), &["--duration", "2s", "--all", "--format", "json"]);
        // Some faults of another sort, while it lasts.
        busy.does("touch 3000");
        busy.does("threads 20");
        let ended = tracer.ended();
        assert_eq!(ended.code(), 0, "{}", ended.told());
        let report = ended.report();
        let counted = &report.trace.reconciliation;
        assert_eq!(counted.left_over, Some(0), "{counted:?}");
        assert!(counted.minor.unwrap() > 3000, "{counted:?}");
        // The range is no wider than what passes while the counters are read.
        let width = counted.kernel_minor_most.unwrap() - counted.kernel_minor_least.unwrap();
        assert!(width < 1000, "{counted:?}");
        assert!(report.summary.pauses > 10 && !report.trace.threads.is_empty());
        // Threads that have ended are in the process's counts alone.
        let driven: u64 = report.trace.threads.iter().map(|thread| thread.drove).sum();
        let pauses: u64 = report.summary.by_state.values().sum();
        assert!(driven > 0 && driven <= pauses, "{driven} of {pauses}");
        for thread in &report.trace.threads {
            assert_eq!(thread.counts.left_over, Some(0), "{thread:?}");
        }
    }
}
