//! The anatomy of pauses: parts add up in every run, and what can't be had here is said, while the rest stays right.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/go.rs"]
mod go;
#[path = "support/pauselens.rs"]
mod pauselens;

use std::{fs, path::Path, process::Command, time::Duration};

use attached::{Running, as_root, attach, build_busy};
use tracer::report::model::{BlockedOn, Kind, Pause, Report, State};

const VERSION: &str = "1.27.3";

/// What the issue allows a budget to be off: 1 % of the pause or 5 µs. It is made so that it is off by nothing.
fn parts_add_up(pause: &Pause) {
    let (budget, duration_ns) = (pause.budget.unwrap(), pause.duration_ns.unwrap());
    assert_eq!(budget.sum_ns(), duration_ns, "{budget:?}");
    let in_faults: u64 =
        budget.parts().iter().filter(|part| part.name.starts_with("fault_")).map(|part| part.ns).sum();
    assert_eq!(in_faults, pause.in_faults_ns, "{budget:?}");
    for worker in &pause.workers {
        assert_eq!(worker.budget.sum_ns(), duration_ns, "{worker:?}");
    }
    let waits = pause.cpu_waits.as_ref().unwrap();
    assert_eq!(waits.ns, budget.all_waiting_for_cpu_ns(), "{budget:?} {waits:?}");
    assert!(waits.longest_ns <= waits.ns);
    let after_ns: u64 = waits.after.iter().map(|neighbour| neighbour.ns).sum();
    assert!(after_ns <= waits.ns, "{waits:?}");
    let blocked_ns: u64 = pause.blocked.iter().map(|place| place.ns).sum();
    let known_ns = budget.blocked_futex_ns + budget.blocked_io_ns + budget.blocked_other_ns;
    assert!(blocked_ns >= known_ns, "{budget:?} {:?}", pause.blocked);
    if let Some(stopping_ns) = pause.stopping_ns {
        let stopping = pause.stopping.as_ref().unwrap();
        assert_eq!((stopping.ns, stopping.budget.sum_ns()), (stopping_ns, stopping_ns), "{stopping:?}");
        for thread in &stopping.threads {
            assert_eq!(thread.budget.sum_ns(), stopping_ns, "{thread:?}");
            assert_ne!(thread.tid, pause.driver_tid);
        }
    }
}

/// The pauses' parts and those of the summary; returns the complete pauses, all of which must be in the report.
fn whole(report: &Report) -> Vec<&Pause> {
    let pauses: Vec<&Pause> = report.pauses.iter().filter(|pause| pause.state == State::Complete).collect();
    assert_eq!(pauses.len() as u64, report.summary.pauses);
    pauses.iter().for_each(|pause| parts_add_up(pause));
    let budget = report.summary.budget.unwrap();
    assert_eq!(budget.sum_ns(), report.summary.paused_ns);
    let stopping = report.summary.stopping.unwrap();
    assert_eq!(Some(stopping.ns), report.summary.stopping_ns);
    assert_eq!(stopping.budget.sum_ns(), stopping.ns);
    pauses
}

/// The Go program under real swap: blocked in the kernel where swap is read, on the swap device.
#[test]
fn the_parts_of_a_swapped_out_program_s_pauses_add_up() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let report_path = folder.path().join("report.json");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/workloads/swap-pause/run");
    let mut command = Command::new(script);
    command.args(["--go", VERSION, "--graph-mb", "60", "--rounds", "4"]);
    command.arg("--pauselens").arg(attached::pauselens());
    command.args(["--", "--all", "--format", "json", "--output"]).arg(&report_path);
    let ended = Running::start_tidy(command).ended_within(Duration::from_secs(120));
    assert_eq!(ended.code(), 0, "{}", ended.told());
    let report: Report = serde_json::from_str(&fs::read_to_string(&report_path).unwrap()).unwrap();

    assert_eq!(unavailable(&report), [] as [&str; 0]);
    // Faults that are given up for a signal end as such.
    assert_eq!(report.trace.dropped["fault_end_missing"], 0);
    let pauses = whole(&report);
    let worst = pauses.iter().max_by_key(|pause| pause.duration_ns).unwrap();
    let budget = worst.budget.unwrap();
    assert!(budget.fault_blocked_io_ns > 0, "{budget:?}");
    let reads = &worst.reads[0];
    assert!(reads.serves.as_ref().is_some_and(|serves| serves.starts_with("swap ")), "{reads:?}");
    assert!(reads.bytes >= 4096 * reads.faults.min(reads.requests), "{reads:?}");
    let read: u64 = worst.reads.iter().map(|reads| reads.faults).sum();
    assert!(read >= worst.by_kind[&Kind::SwapIn].count, "{:?}", worst.reads);
    let kernel: Vec<_> = worst.stacks.iter().flat_map(|stack| &stack.kernel).collect();
    let on_io = |name: &str| {
        kernel.iter().any(|path| path.on == BlockedOn::Io && path.frames.iter().any(|frame| frame == name))
    };
    assert!(on_io("do_swap_page"), "{kernel:?}");
    let blocked_ns: u64 = kernel.iter().map(|path| path.ns).sum();
    let in_budget =
        budget.fault_blocked_io_ns + budget.fault_blocked_other_ns + budget.fault_blocked_unknown_ns;
    assert_eq!(blocked_ns, in_budget, "{kernel:?}");
}

/// Many short pauses of a program whose threads are busy: the stops of others, and all that the scheduler does.
#[test]
fn the_parts_of_a_busy_program_s_pauses_add_up() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let program = build_busy(VERSION, folder.path());
    let mut busy = attached::Busy::start(&program);
    let tracer = attach(busy.pid(), &["--all", "--format", "json"]);
    busy.is_busy();
    busy.does("stop memstats 200");
    busy.does("stop profile 20");
    let report = attached::report_of(tracer);
    let pauses = whole(&report);
    assert!(pauses.len() >= 220, "{}", pauses.len());
    // With two goroutines that allocate somebody has to be waited for now and then.
    let delayed =
        |pause: &&&Pause| pause.stopping.as_ref().is_some_and(|stopping| !stopping.threads.is_empty());
    assert!(pauses.iter().filter(delayed).count() > 0);
}

fn demo(options: &[&str], tracer_options: &[&str]) -> Report {
    let (stats, traced) = pauselens::trace(options, tracer_options);
    let report = traced.complete();
    assert_eq!(report.summary.pauses, stats.total_pauses);
    report
}

const PAGES: [&str; 10] = [
    "--first-touch",
    "53",
    "--file-read",
    "23",
    "--userfault",
    "2",
    "--userfault-delay",
    "2ms",
    "--rounds",
    "3",
];

/// Without what is said of the next pause, since an ended process has none, and of regions, which have tests of their own.
fn unavailable(report: &Report) -> Vec<&str> {
    let parts = report.trace.unavailable.iter().map(|part| part.part.as_str());
    parts.filter(|part| !part.starts_with("exposure ") && !part.starts_with("regions")).collect()
}

fn counts(report: &Report, kinds: &[Kind]) -> Vec<u64> {
    kinds.iter().map(|kind| report.summary.by_kind.get(kind).map_or(0, |total| total.count)).collect()
}

/// Each worker has a budget of its own, which adds up to the pause; their faults are those of the other threads.
#[test]
fn workers_have_their_own_budgets() {
    let options = ["--compute", "20ms", "--workers", "2", "--rounds", "6"];
    let (stats, traced) = pauselens::trace(&options, &["--all"]);
    let report = traced.complete();
    let mut tids: Vec<u32> = stats.bystanders.iter().map(|thread| thread.tid).collect();
    tids.sort_unstable();
    let pauses = whole(&report);
    for pause in &pauses {
        let seen: Vec<u32> = pause.workers.iter().map(|worker| worker.tid).collect();
        assert_eq!(seen, tids);
        let faults: u64 = pause.workers.iter().map(|worker| worker.faults).sum();
        // One may end while the pause does.
        assert!(pause.bystanders.faults.abs_diff(faults) <= 2, "{faults}: {:?}", pause.bystanders);
        for worker in &pause.workers {
            assert_eq!(worker.budget.unknown_ns, 0, "it faults all the time: {worker:?}");
            let parts = worker.budget.parts();
            let in_faults: u64 =
                parts.iter().filter(|part| part.name.starts_with("fault_")).map(|part| part.ns).sum();
            assert_eq!(in_faults, worker.in_faults_ns, "{worker:?}");
        }
    }
    for thread in &stats.bystanders {
        let of_it =
            |pause: &&Pause| pause.workers.iter().find(|worker| worker.tid == thread.tid).unwrap().faults;
        let faults: u64 = pauses.iter().map(of_it).sum();
        assert!((1..=thread.minflt + thread.majflt).contains(&faults), "{faults} of {thread:?}");
    }
}

#[test]
fn nothing_is_unavailable_here() {
    let report = demo(&PAGES, &["--all"]);
    assert_eq!(unavailable(&report), [] as [&str; 0]);
    for pause in whole(&report) {
        let blocked = pause.budget.unwrap().fault_blocked_other_ns;
        assert!(blocked >= 2 * 2_000_000, "the handler's delay: {blocked}");
        let reads: u64 = pause.reads.iter().map(|reads| reads.faults).sum();
        assert!(reads >= 23, "{:?}", pause.reads);
    }
    assert_eq!(counts(&report, &[Kind::FirstTouch, Kind::FileRead, Kind::Userfault]), [159, 69, 6]);
}

#[test]
fn without_the_scheduler_s_events_there_is_no_budget_and_the_rest_is_right() {
    for event in ["sched:sched_switch", "sched:sched_waking"] {
        let report = demo(&PAGES, &["--all", "--without", event]);
        assert_eq!(unavailable(&report), ["budget, blocked, cpu_waits, stopping"], "{event}");
        assert!(report.trace.unavailable[0].why.contains("sched:sched_waking"));
        assert_eq!((report.summary.budget, report.summary.stopping), (None, None));
        assert!(report.pauses.iter().all(|pause| {
            pause.budget.is_none() && pause.cpu_waits.is_none() && pause.stopping.is_none()
        }));
        assert_eq!(counts(&report, &[Kind::FileRead]), [69], "{event}");
        assert_eq!(report.summary.faults, 159 + 69 + 6 + made_by_the_tracer(&report));
    }
}

/// The page in which the kernel steps probed instructions.
fn made_by_the_tracer(report: &Report) -> u64 {
    counts(report, &[Kind::Other])[0]
}

#[test]
fn without_reclaim_s_events_or_devices_the_rest_is_right() {
    let report = demo(&PAGES, &["--all", "--without", "vmscan:mm_vmscan_memcg_reclaim_end"]);
    assert_eq!(unavailable(&report), ["reclaim and compaction"]);
    whole(&report);
    let plan = |name: &str| report.trace.plan.iter().any(|step| step.used && step.source.contains(name));
    assert!(!plan("memcg_reclaim_begin"), "half a pair is in use");
    assert!(plan("direct_reclaim_begin"));

    let report = demo(&PAGES, &["--all", "--without", "block:block_bio_queue"]);
    assert_eq!(unavailable(&report), ["reads"]);
    assert!(whole(&report).iter().all(|pause| pause.reads.is_empty()));
    assert_eq!(counts(&report, &[Kind::FirstTouch, Kind::FileRead, Kind::Userfault]), [159, 69, 6]);
}

/// The kernel's setting as it was, put back when this is dropped.
struct Setting {
    path: &'static str,
    before: String,
}

impl Setting {
    fn set(path: &'static str, value: &str) -> Self {
        let before = fs::read_to_string(path).unwrap();
        fs::write(path, value).unwrap();
        Self { path, before }
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        if let Err(error) = fs::write(self.path, &self.before) {
            eprintln!("{} can't be set back to {}: {error}", self.path, self.before);
        }
    }
}

#[test]
fn where_the_kernel_hides_its_addresses_blocks_are_of_unknown_kind() {
    as_root();
    let hidden = Setting::set("/proc/sys/kernel/kptr_restrict", "2");
    let report = demo(&PAGES, &["--all"]);
    drop(hidden);
    assert_eq!(unavailable(&report), ["kernel stacks, and what was blocked on what"]);
    assert!(report.trace.unavailable[0].why.contains("kptr_restrict is 2"), "{:?}", report.trace.unavailable);
    for pause in whole(&report) {
        let budget = pause.budget.unwrap();
        assert_eq!((budget.fault_blocked_io_ns, budget.fault_blocked_other_ns), (0, 0));
        assert!(budget.fault_blocked_unknown_ns >= 2 * 2_000_000, "{budget:?}");
    }
    assert_eq!(counts(&report, &[Kind::FirstTouch, Kind::FileRead, Kind::Userfault]), [159, 69, 6]);
}
