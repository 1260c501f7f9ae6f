//! Causes that are injected one at a time: each is told apart from the others, in each of twenty pauses of two processes.
//! The dominant part of the budget is the injected one, the first finding names it, the parts add up to the pause, and
//! they agree with what the driver measured of itself.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/cgroup.rs"]
mod cgroup;
#[path = "support/neighbour.rs"]
mod neighbour;
#[path = "support/pauselens.rs"]
mod pauselens;
#[path = "support/slow_disk.rs"]
mod slow_disk;
#[path = "support/swap.rs"]
mod swap;

use std::{
    cell::Cell,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use cgroup::Cgroup;
use neighbour::Neighbour;
use pauselens::{Fixture, Tracer, binary, in_order};
use rustix::process::Pid;
use slow_disk::SlowDisk;
use swap::Swap;
use tracer::{
    demo::target::stats::PauseStats,
    report::model::{AtRequest, BlockedOn, Budget, Kind, Pause, Region, Report, State, StoppingBudget},
};

const PROCESSES: usize = 2;
const ROUNDS: usize = 10;

const MIB: u64 = 1 << 20;

// ---- running

/// How a cause is brought about.
struct Cause<'a> {
    /// Options of the fixture.
    options: &'a [&'a str],
    /// Which binary is the fixture.
    program: PathBuf,
    /// What is done to it before it is traced.
    prepare: &'a dyn Fn(&Fixture),
    /// It is short of memory, and can have to read its own pages again at any time.
    short_of_memory: bool,
}

impl<'a> Cause<'a> {
    fn of(options: &'a [&'a str]) -> Self {
        Self { options, program: binary(), prepare: &|_| (), short_of_memory: false }
    }

    /// The fixture's account and the report of one process.
    fn run(&self, rounds: usize) -> (Vec<PauseStats>, Report) {
        let always = ["--rounds", &rounds.to_string(), "--gap", "1ms", "--wait-for-line"];
        let mut fixture = Fixture::start_program(&self.program, &[&always, self.options].concat());
        (self.prepare)(&fixture);
        let tracer = Tracer::attach(fixture.pid, &["--all"]);
        fixture.go();
        let stats = if self.short_of_memory { fixture.finish_inexact() } else { fixture.finish() };
        let report = tracer.finish().complete();
        // What is swapped out, and what memory belongs to, can be out of reach once the fixture has ended.
        let apart = |part: &str| part.starts_with("exposure") || part.starts_with("regions");
        let unavailable = &report.trace.unavailable;
        assert!(unavailable.iter().all(|unavailable| apart(&unavailable.part)), "{unavailable:?}");
        let seen = in_order(&report);
        assert_eq!((stats.pauses.len(), seen.len()), (rounds, rounds));
        let mut longer = 0;
        for (made, seen) in stats.pauses.iter().zip(seen) {
            adds_up(seen);
            if switches_told(made, seen) {
                agrees_with_the_driver(made, seen);
                longer += usize::from(!ran_no_longer(made, seen));
            }
        }
        assert!(longer * 4 <= rounds, "{longer} of {rounds} ran for longer than the driver's CPU time");
        adds_up_over_all(&report);
        (stats.pauses, report)
    }

    /// Twenty pauses, of at least two processes, and every one of them.
    fn every_time(&self, rule: &str, has_the_cause: impl Fn(&PauseStats, &Pause)) {
        self.every_one_of(PROCESSES, ROUNDS, rule, has_the_cause);
    }

    /// A pause in which the kernel kept a switch of the driver to itself can't be judged, and is made up for by another one;
    /// the kernel's own count of the driver's switches tells. The same goes for one that waited long for a CPU. There
    /// may be half as many of them.
    fn every_one_of(
        &self,
        processes: usize,
        rounds: usize,
        rule: &str,
        has_the_cause: impl Fn(&PauseStats, &Pause),
    ) {
        let (mut judged, mut not_judged) = (0, 0);
        while judged < processes * rounds {
            let (made, report) = self.run(rounds);
            let mut all_told = true;
            for (made, seen) in made.iter().zip(in_order(&report)) {
                if switches_told(made, seen) && (rule.starts_with("cpu_") || had_its_cpu(made, seen)) {
                    tell(seen);
                    has_the_cause(made, seen);
                    judged += 1;
                } else {
                    not_judged += 1;
                    all_told = false;
                }
            }
            assert!(
                not_judged * 2 <= judged.max(processes * rounds),
                "{not_judged} not judged, {judged} judged"
            );
            let rules: Vec<_> = report.diagnosis.iter().map(|finding| finding.rule.as_str()).collect();
            assert!(!all_told || rules.first() == Some(&rule), "{rules:?}");
        }
    }
}

/// The driver reads its own counts before and after the pause, so that a switch in between is in them alone.
fn switches_told(made: &PauseStats, seen: &Pause) -> bool {
    let told = seen.cpu_waits.as_ref().unwrap().switches;
    let counted = made.voluntary_switches.unwrap() + made.involuntary_switches.unwrap();
    let all = told >= counted;
    if !all {
        println!("not judged: {told} of {counted} switches of the driver were told");
    }
    all
}

/// Whether the driver waited for a CPU for no more than a fourth of the pause: on a busy machine, or a busy host of it, that is a
/// cause of its own. The program's own clocks must bear out that it was off its CPU for that long.
fn had_its_cpu(made: &PauseStats, seen: &Pause) -> bool {
    let waits = seen.cpu_waits.as_ref().unwrap();
    let had = waits.ns * 4 <= seen.duration_ns.unwrap();
    if !had {
        let off_cpu_ns = made.duration_ns.unwrap().saturating_sub(made.cpu_ns.unwrap());
        assert!(waits.ns <= off_cpu_ns + 1_000_000, "{off_cpu_ns} ns off the CPU: {waits:?}");
        println!("not judged: it had no CPU: {waits:?}");
    }
    had
}

/// For whoever runs the test with `--nocapture`.
fn tell(seen: &Pause) {
    let budget = seen.budget.unwrap();
    let largest = budget.largest();
    let duration_ns = seen.duration_ns.unwrap();
    println!(
        "{}: {:.1} % of {:.3} ms",
        largest.name,
        largest.ns as f64 * 100.0 / duration_ns as f64,
        duration_ns as f64 / 1e6
    );
}

/// Gives a process, and threads that it starts, a CPU before all others, so that a busy machine does not become a cause of
/// its own. No real-time class: from one that computes the kernel takes the CPU for 50 ms of each second. Where it can't be
/// had, the tests do without.
fn prefer(fixture: &Fixture) {
    const MOST: i32 = -20;
    // SAFETY: no memory is passed; the process is the test's own.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, fixture.pid, MOST) };
}

/// What can't be had must be missing in the kernel: a test that did nothing would pass otherwise.
fn or_missing<Found>(found: Result<Found, String>, kernel_has_it: bool) -> Option<Found> {
    found
        .inspect_err(|reason| {
            assert!(!kernel_has_it, "the kernel has it, but: {reason}");
            eprintln!("not tested here: {reason}");
        })
        .ok()
}

// ---- what holds of every pause

/// Within 1 % or 5 µs.
fn adds_up(seen: &Pause) {
    assert_eq!(seen.state, State::Complete);
    let (budget, duration_ns) = (seen.budget.unwrap(), seen.duration_ns.unwrap());
    let off_ns = budget.sum_ns().abs_diff(duration_ns);
    assert!(off_ns <= (duration_ns / 100).max(5_000), "off by {off_ns} ns: {seen:?}");
    assert_eq!(budget.unknown_ns, 0, "{budget:?}");
    let stopping = seen.stopping.as_ref().unwrap();
    assert_eq!(Some(stopping.ns), seen.stopping_ns);
    let off_ns = stopping.budget.sum_ns().abs_diff(stopping.ns);
    assert!(off_ns <= (stopping.ns / 100).max(5_000), "off by {off_ns} ns: {stopping:?}");
}

fn adds_up_over_all(report: &Report) {
    let mut sum = Budget::default();
    for pause in &report.pauses {
        sum.add(&pause.budget.unwrap());
    }
    assert_eq!(report.summary.budget, Some(sum));
}

/// The driver's clock of its own CPU time, and the kernel's counters of its context switches.
fn agrees_with_the_driver(made: &PauseStats, seen: &Pause) {
    let (budget, duration_ns) = (seen.budget.unwrap(), seen.duration_ns.unwrap());
    let cpu_ns = made.cpu_ns.unwrap();
    let (voluntary, involuntary) = (made.voluntary_switches.unwrap(), made.involuntary_switches.unwrap());

    // What certainly ran, and what can have run: freeing memory can be running or waiting for a device.
    let least_ns = budget.fault_on_cpu_ns + budget.on_cpu_ns;
    let freeing_ns =
        budget.fault_reclaiming_ns + budget.fault_compacting_ns + budget.reclaiming_ns + budget.compacting_ns;
    // The driver read its clock outside the pause, with the probes' traps between.
    let outside_ns = 500_000 + duration_ns / 50;
    // The kernel can let a thread's CPU time begin when it is woken (rq_clock_skip_update): the time from there to the switch
    // is in both.
    let waking_ns = if voluntary > 0 { budget.all_waiting_for_cpu_ns() } else { 0 };
    let most_ns = least_ns + freeing_ns + waking_ns + outside_ns;
    assert!(most_ns >= cpu_ns, "{cpu_ns} ns of CPU time, {voluntary} voluntary switches: {budget:?}");

    let waits = seen.cpu_waits.as_ref().unwrap();
    assert!(waits.count <= voluntary + involuntary, "{voluntary} and {involuntary} switches: {waits:?}");
    assert!(waits.longest_ns <= waits.ns && (waits.count > 0) == (waits.ns > 0), "{waits:?}");
    let off_ns = waits.ns.abs_diff(budget.all_waiting_for_cpu_ns());
    assert!(off_ns <= (waits.ns / 100).max(5_000), "off by {off_ns} ns: {waits:?} {budget:?}");

    let blocked_ns = budget.fault_blocked_io_ns
        + budget.fault_blocked_other_ns
        + budget.fault_blocked_unknown_ns
        + budget.blocked_futex_ns
        + budget.blocked_io_ns
        + budget.blocked_other_ns
        + budget.blocked_unknown_ns;
    assert!(voluntary > 0 || blocked_ns == 0, "it never gave its CPU up: {budget:?}");
    let blocked = seen.blocked.iter().map(|blocked| blocked.count).sum::<u64>();
    assert!(blocked <= voluntary, "{voluntary} voluntary switches: {:?}", seen.blocked);
}

/// Whether what the budget calls running has not been more than the driver's CPU time. Time that the hypervisor takes is in no
/// thread's CPU time, so on a shared machine that can't be asked of every pause.
fn ran_no_longer(made: &PauseStats, seen: &Pause) -> bool {
    let (budget, duration_ns) = (seen.budget.unwrap(), seen.duration_ns.unwrap());
    let (running_ns, cpu_ns) = (budget.fault_on_cpu_ns + budget.on_cpu_ns, made.cpu_ns.unwrap());
    let holds = running_ns <= cpu_ns + 1_000_000 + duration_ns / 5;
    if !holds {
        println!("{cpu_ns} ns of CPU time, or more that the hypervisor took: {budget:?}");
    }
    holds
}

fn dominant(seen: &Pause, name: &str) {
    let budget = seen.budget.unwrap();
    assert_eq!(budget.largest().name, name, "{budget:?}");
}

fn longest_kind(seen: &Pause) -> (Kind, u64) {
    seen.by_kind.iter().max_by_key(|(_, total)| total.ns).map(|(kind, total)| (*kind, total.count)).unwrap()
}

// ---- the causes

#[test]
fn swap_in_from_a_file() {
    let disk = SlowDisk::make();
    let swap = Swap::own_file_in(disk.folder()).unwrap();
    let cause = Cause { prepare: &|fixture| disk.is_slow_for(fixture), ..Cause::of(&["--swap", "60"]) };
    let (device, serves) = (device_of(swap.path()), format!("swap file {}", swap.path().display()));
    cause.every_time("swap_in_during_pause", |_, seen| {
        dominant(seen, "fault_blocked_io");
        assert_eq!(longest_kind(seen).0, Kind::SwapIn);
        let read = &seen.reads[0];
        assert_eq!(read.device, device, "{:?}", seen.reads);
        assert!(read.serves.as_ref().is_some_and(|what| what.contains(&serves)), "{read:?}");
        assert!(read.faults > 0 && read.bytes >= read.faults * 4096, "{read:?}");
    });
}

#[test]
fn swap_in_from_zram() {
    let Some(swap) = or_missing(Swap::own_zram(), swap::kernel_has_zram()) else { return };
    let cause = Cause { prepare: &prefer, ..Cause::of(&["--swap", "3000"]) };
    let device = swap.path().file_name().unwrap().to_str().unwrap();
    cause.every_time("swap_in_during_pause", |_, seen| {
        // The CPU does the work.
        dominant(seen, "fault_on_cpu");
        assert_eq!(longest_kind(seen).0, Kind::SwapIn);
        let read = &seen.reads[0];
        assert_eq!(read.device, device, "{:?}", seen.reads);
        let serves = format!("swap partition {}", swap.path().display());
        assert!(read.serves.as_ref().is_some_and(|what| what.contains(&serves)), "{read:?}");
    });
}

/// A copy of the binary: the tracer runs the same file, and a page that somebody else has mapped can't be paged out.
#[test]
fn cold_binary_text() {
    let disk = SlowDisk::make();
    let program = disk.folder().join("pauselens-copy");
    fs::copy(binary(), &program).unwrap();
    // A page that is not on the disk yet can't be paged out either.
    fs::File::open(&program).unwrap().sync_all().unwrap();
    let device = device_of(&program);
    let prepare = |fixture: &Fixture| disk.is_slow_for(fixture);
    let cause = Cause { program, prepare: &prepare, ..Cause::of(&["--cold-text", "20"]) };
    cause.every_time("file_read_during_pause", |_, seen| {
        dominant(seen, "fault_blocked_io");
        assert_eq!(longest_kind(seen), (Kind::FileRead, 20));
        assert_eq!(seen.by_region[&Region::Binary].count, 20);
        let read = &seen.reads[0];
        let from = (read.device.as_str(), read.serves.as_deref(), read.faults);
        assert_eq!(from, (device.as_str(), Some("files"), 20), "{:?}", seen.reads);
        assert!(seen.stacks[0].frames[0].ends_with("::demo_read_own_cold_text"), "{:?}", seen.stacks[0]);
    });
}

#[test]
fn direct_reclaim_at_a_cgroup_s_limit() {
    let Some(limited) = or_missing(Cgroup::with("memory"), cgroup::kernel_has("memory")) else { return };
    let limit = (16 * MIB).to_string();
    limited.set(("memory.limit_in_bytes", &limit), ("memory.max", &limit));
    let _swap = Swap::own_file().expect("a swap file needs nothing but root and a disk");
    let cause = Cause {
        prepare: &|fixture| {
            limited.add(fixture.pid);
            prefer(fixture);
        },
        short_of_memory: true,
        ..Cause::of(&["--touch-mib", "40"])
    };
    cause.every_time("reclaim_during_pause", |_, seen| {
        dominant(seen, "fault_reclaiming");
        assert_eq!(longest_kind(seen).0, Kind::FirstTouch);
    });
}

#[test]
fn cpu_throttling() {
    let Some(limited) = or_missing(Cgroup::with("cpu"), cgroup::kernel_has("cpu")) else { return };
    limited.set(("cpu.cfs_period_us", "20000"), ("cpu.max", "4000 20000"));
    limited.set(("cpu.cfs_quota_us", "4000"), ("cpu.max", "4000 20000"));
    let cause = Cause { prepare: &|fixture| limited.add(fixture.pid), ..Cause::of(&["--compute", "10ms"]) };
    cause.every_time("cpu_throttled_during_pause", |_, seen| {
        dominant(seen, "waiting_for_cpu");
        let throttling = seen.throttling.as_ref().unwrap();
        assert_eq!(throttling.cgroup, limited.path());
        assert!(throttling.times > 0 && throttling.ns > 0, "{throttling:?}");
    });
}

#[test]
fn a_busy_neighbour() {
    let cpu = neighbour::some_cpu();
    // Both of them before all others: between the two it changes nothing.
    let group = Cgroup::with("cpu").ok();
    group.iter().for_each(|group| group.set(("cpu.shares", "262144"), ("cpu.weight", "10000")));
    let neighbour = Neighbour::start(cpu);
    group.iter().for_each(|group| group.add(neighbour.pid()));
    let prepare = |fixture: &Fixture| {
        group.iter().for_each(|group| group.add(fixture.pid));
        neighbour::pin(Pid::from_raw(fixture.pid.cast_signed()).unwrap(), cpu);
    };
    let cause = Cause { prepare: &prepare, ..Cause::of(&["--compute", "15ms"]) };
    let (after_ns, waited_ns) = (Cell::new(0), Cell::new(0));
    cause.every_time("cpu_busy_during_pause", |made, seen| {
        dominant(seen, "waiting_for_cpu");
        assert!(made.involuntary_switches.unwrap() > 0);
        let after = &seen.cpu_waits.as_ref().unwrap().after;
        let found = after.iter().find(|after| after.tid == neighbour.pid());
        let found = found.unwrap_or_else(|| panic!("the neighbour is not among {after:?}"));
        assert_eq!((found.name.as_str(), found.of_target), (neighbour::NAME, false));
        // A thread of the kernel's can have come between the two for a moment: then the wait is told as after that one.
        after_ns.set(after_ns.get() + found.ns);
        waited_ns.set(waited_ns.get() + seen.cpu_waits.as_ref().unwrap().ns);
        assert_eq!(seen.throttling, None);
    });
    assert!(after_ns.get() * 2 > waited_ns.get(), "{} of {} ns after it", after_ns.get(), waited_ns.get());
}

#[test]
fn a_mutator_s_userfaultfd_fault() {
    let options = ["--mutator-userfault-delay", "50ms", "--mutator-lead", "10ms"];
    let cause = Cause { prepare: &prefer, ..Cause::of(&options) };
    cause.every_time("fault_delayed_stop", |made, seen| {
        let (mutator, stopping) = (made.mutator.unwrap(), seen.stopping.as_ref().unwrap());
        assert_eq!(stopping.last_tid, Some(mutator.tid));
        stopped_late_by(&stopping.budget, "fault");
        let last = &stopping.threads[0];
        assert_eq!((last.tid, last.at_request), (mutator.tid, AtRequest::InFault));
        assert!(last.since_ns.unwrap() >= mutator.lead_ns, "{last:?} {mutator:?}");
        // Unless the kernel kept the mutator's switch to itself.
        assert!(matches!(last.blocked_on, Some(BlockedOn::Userfault) | None), "{last:?}");
        // Meanwhile the driver waited for the mutator.
        dominant(seen, "blocked_futex");
        assert_eq!(seen.blocked[0].woken_by_tid, Some(mutator.tid), "{:?}", seen.blocked);
    });
}

#[test]
fn a_futex_wait() {
    let cause = Cause { prepare: &prefer, ..Cause::of(&["--futex-wait", "30ms"]) };
    cause.every_time("blocked_during_pause", |made, seen| {
        dominant(seen, "blocked_futex");
        let (wait, blocked) = (made.futex_wait.unwrap(), &seen.blocked[0]);
        assert_eq!((blocked.on, blocked.woken_by_tid), (BlockedOn::Futex, Some(wait.waker_tid)));
        let waits = |frame: &String| frame.ends_with("::demo_waits_on_futex");
        assert!(blocked.frames.iter().any(waits), "{blocked:?}");
        assert!(blocked.kernel_frames.iter().any(|frame| frame.contains("futex")), "{blocked:?}");
        // The driver measured from before the wait to after it, and had to get a CPU for that.
        assert!(blocked.ns <= wait.waited_ns, "{blocked:?} {wait:?}");
        assert!(blocked.ns >= wait.woken_after_ns * 9 / 10, "{blocked:?} {wait:?}");
        assert_eq!(seen.budget.unwrap().blocked_futex_ns, blocked.ns, "it is the only one");
    });
}

// ---- and some more

#[test]
fn file_io_outside_faults() {
    let disk = SlowDisk::make();
    let options = ["--file-io", "30", "--directory", disk.folder().to_str().unwrap()];
    let cause = Cause { prepare: &|fixture| disk.is_slow_for(fixture), ..Cause::of(&options) };
    cause.every_one_of(2, 5, "blocked_during_pause", |_, seen| {
        dominant(seen, "blocked_io");
        assert_eq!(seen.blocked[0].on, BlockedOn::Io);
        let frames = &seen.blocked[0].frames;
        assert!(frames.iter().any(|frame| frame.contains("pread")), "{frames:?}");
    });
}

#[test]
fn a_mutator_that_computes() {
    let cause = Cause { prepare: &prefer, ..Cause::of(&["--mutator-compute", "20ms"]) };
    cause.every_one_of(2, 5, "slow_stop_without_faults", |made, seen| {
        let (mutator, stopping) = (made.computing_mutator.unwrap(), seen.stopping.as_ref().unwrap());
        assert_eq!(stopping.last_tid, Some(mutator.tid));
        stopped_late_by(&stopping.budget, "on_cpu");
        let last = &stopping.threads[0];
        assert_eq!(last.tid, mutator.tid);
        // It may just have lost its CPU for a moment.
        assert!(matches!(last.at_request, AtRequest::OnCpu | AtRequest::WaitingForCpu), "{last:?}");
        assert!(last.budget.on_cpu_ns >= mutator.cpu_ns * 9 / 10, "{last:?} {mutator:?}");
        dominant(seen, "blocked_futex");
    });
}

#[test]
fn computing() {
    let cause = Cause { prepare: &prefer, ..Cause::of(&["--compute", "15ms"]) };
    let (made, report) = cause.run(5);
    for (made, seen) in made.iter().zip(in_order(&report)) {
        tell(seen);
        dominant(seen, "on_cpu");
        let computed = made.acts["compute"];
        assert!(seen.budget.unwrap().on_cpu_ns >= computed.cpu_ns * 9 / 10, "{seen:?} {computed:?}");
        assert_eq!((seen.throttling.as_ref(), &seen.blocked[..]), (None, &[][..]));
    }
}

#[test]
fn compaction() {
    let there = Path::new("/proc/sys/vm/compact_memory").exists();
    let found = there.then_some(()).ok_or_else(|| "this kernel does not compact memory".to_owned());
    let Some(()) = or_missing(found, there) else { return };
    let cause = Cause { prepare: &prefer, ..Cause::of(&["--compact"]) };
    cause.every_one_of(1, 2, "compaction_during_pause", |_, seen| dominant(seen, "compacting"));
}

#[test]
fn huge_pages() {
    let cause = Cause { prepare: &prefer, ..Cause::of(&["--huge", "7"]) };
    let (made, report) = cause.run(5);
    let mut huge = 0;
    for (made, seen) in made.iter().zip(in_order(&report)) {
        tell(seen);
        let count = |kind| seen.by_kind.get(&kind).map_or(0, |total| total.count);
        let expected = |word| made.expected.get(word).copied().unwrap_or(0);
        assert_eq!(count(Kind::HugePage), expected("huge_page"), "{seen:?}");
        assert_eq!(count(Kind::FirstTouch), expected("first_touch"), "{seen:?}");
        huge += expected("huge_page");
    }
    assert!(huge > 0, "the kernel has given none");
}

// ---- what they need

/// The disk that a file is on.
fn device_of(file: &Path) -> String {
    let device = fs::metadata(file).unwrap().dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let link = fs::read_link(format!("/sys/dev/block/{major}:{minor}")).unwrap();
    link.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The largest part is this one.
fn stopped_late_by(budget: &StoppingBudget, name: &str) {
    let parts = [
        ("fault", budget.fault_ns),
        ("on_cpu", budget.on_cpu_ns),
        ("waiting_for_cpu", budget.waiting_for_cpu_ns),
        ("blocked", budget.blocked_ns),
        ("unknown", budget.unknown_ns),
    ];
    let largest = parts.into_iter().max_by_key(|(_, ns)| *ns).unwrap();
    assert_eq!(largest.0, name, "{budget:?}");
}
