//! `pauselens exposure` on real programs under real swap: its sums against the kernel's, its estimate against the pause
//! that then happens, and what it says when something can't be had.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/cgroup.rs"]
mod cgroup;
#[path = "support/go.rs"]
mod go;
#[path = "support/swap.rs"]
mod swap;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use attached::{ALL_AS_JSON, Ended, Running, as_root, attach, pauselens, report_of};
use cgroup::Cgroup;
use swap::Swap;
use tracer::{
    exposure::Bytes,
    memory::Region,
    report::{
        exposure::{Estimate, ExposureReport},
        model::{Pause, Report},
    },
};

const VERSION: &str = "1.27.3";
const SOURCE: &str = include_str!("support/collector.go");

// ---- programs

fn build_collector(folder: &Path) -> PathBuf {
    let (source, program) = (folder.join("collector.go"), folder.join("collector"));
    fs::write(&source, SOURCE).unwrap();
    go::build(VERSION, &source, &program, &[]);
    program
}

/// The collecting Go program in a cgroup whose memory can be swapped out.
struct Collector {
    running: Running,
    cgroup: Cgroup,
    _swap: Swap,
}

impl Collector {
    fn start(program: &Path, megabytes: u32) -> Self {
        let swap = Swap::own().unwrap_or_else(|why| panic!("this test needs swap: {why}"));
        let cgroup = Cgroup::with("memory").unwrap_or_else(|why| panic!("{why}"));
        let mut command = cgroup.command(program);
        command.arg(megabytes.to_string()).env("GOMAXPROCS", "2").env_remove("GOGC").env_remove("GODEBUG");
        let mut running = Running::start(command);
        assert_eq!(running.line(), "ready");
        Self { running, cgroup, _swap: swap }
    }

    fn pid(&self) -> u32 {
        self.running.pid()
    }

    fn does(&mut self, command: &str, answer: &str) {
        self.running.tell(command);
        assert_eq!(self.running.line(), answer);
    }
}

// ---- looks

fn exposure_command(pid: u32) -> Command {
    let mut command = Command::new(pauselens());
    command.args(["exposure", "--pid", &pid.to_string()]);
    command
}

fn ended(command: Command) -> Ended {
    Running::start(command).ended()
}

fn look(pid: u32) -> (ExposureReport, i32) {
    let mut command = exposure_command(pid);
    command.args(["--format", "json"]);
    let ended = ended(command);
    let report: ExposureReport =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.told()));
    let code = ended.code();
    assert_eq!(code, if report.unavailable.is_empty() { 0 } else { 3 }, "{}", ended.told());
    (report, code)
}

/// A figure that the kernel gets by walking the page tables, in bytes. (`VmRSS` and `VmSwap` of `/proc/PID/status` are
/// counters of each CPU, of which the kernel adds up a part only.)
fn kernel_bytes(pid: u32, name: &str) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = rollup.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() << 10
}

fn region(report: &ExposureReport, region: Region) -> Bytes {
    let found = report.exposure.found.regions.iter().find(|found| found.region == region);
    found.map_or_else(Bytes::none, |found| found.bytes)
}

// ---- against the kernel

/// Resident and swapped-out memory are what the kernel says of the process, before and after it is swapped out.
#[test]
fn sums_are_the_kernel_s() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let mut collector = Collector::start(&build_collector(folder.path()), 20);
    let pid = collector.pid();
    for swapped_out in [false, true] {
        if swapped_out {
            collector.cgroup.reclaim();
        }
        let before = (kernel_bytes(pid, "Rss"), kernel_bytes(pid, "Swap"));
        let (report, _) = look(pid);
        let after = (kernel_bytes(pid, "Rss"), kernel_bytes(pid, "Swap"));
        let total = report.exposure.found.total;
        // It waits for a line; now and then a thread of its runtime looks around, and takes a few pages.
        let near = |ours: u64, one: u64, other: u64| {
            let (least, most) = (one.min(other), one.max(other));
            let slack = 256 << 10;
            assert!(
                ours + slack >= least && ours <= most + slack,
                "{ours} outside {least}..{most}: {report:?}"
            );
        };
        near(total.resident_bytes, before.0, after.0);
        near(total.swapped_bytes.unwrap(), before.1, after.1);
        assert_eq!(swapped_out, before.1 > 10 << 20, "{before:?}");

        let regions = report.exposure.found.regions.iter().map(|region| region.bytes);
        let mut sum = Bytes::none();
        regions.for_each(|bytes| sum.add(&bytes));
        assert_eq!(sum, total);
        for bytes in [total, region(&report, Region::RuntimeHeap), region(&report, Region::Binary)] {
            let states = bytes.resident_bytes
                + bytes.swapped_bytes.unwrap()
                + bytes.untouched_bytes
                + bytes.file_not_mapped_bytes
                + bytes.shared_not_mapped_bytes;
            assert_eq!(states, bytes.mapped_bytes, "{bytes:?}");
        }
        // The graph is in the heap.
        let heap = region(&report, Region::RuntimeHeap);
        assert!(heap.resident_bytes + heap.swapped_bytes.unwrap() > 10 << 20, "{heap:?}");
    }
    collector.does("churn", "churned");
}

// ---- the pause that then happens

const COLLECTIONS: usize = 20;
const RIGHT: usize = 18;
/// A collection whose pause can't be compared is made once more, so often at most.
const MORE: usize = 80;
/// More than this outside faults is not memory: a Go pause without faults takes some ten microseconds, and tracing adds a
/// few to each fault. Then other programs had the CPU.
const OUTSIDE_FAULTS_NS: u64 = 3_000_000;

struct Round {
    estimate: Estimate,
    pause: Pause,
}

/// Too little of the memory is out to judge the estimate. Such as: another test's swap area went, and took what it held back
/// into memory; or the kernel was told to reclaim, and did not get far.
fn is_little_out(estimate: &Estimate) -> bool {
    estimate.pages_out * 10 < estimate.pages * 8
}

/// The longest pause of each collection, in the order of time.
fn longest_pauses(report: &Report) -> Vec<Pause> {
    let mut pauses: Vec<&Pause> = report.pauses.iter().collect();
    pauses.sort_by_key(|pause| pause.id);
    let mut longest: Vec<Pause> = Vec::new();
    for pause in pauses {
        if pause.reason == "GC sweep termination" {
            longest.push(pause.clone());
        } else if let Some(last) = longest.last_mut()
            && pause.duration_ns > last.duration_ns
        {
            *last = pause.clone();
        }
    }
    longest
}

#[test]
fn the_next_pause_is_in_the_range() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let mut collector = Collector::start(&build_collector(folder.path()), 20);
    let tracer = attach(collector.pid(), &ALL_AS_JSON);
    let mut estimates = Vec::new();
    let mut told = String::new();
    let mut with_enough_out = 0;
    while with_enough_out < COLLECTIONS + COLLECTIONS / 2 && estimates.len() < COLLECTIONS + MORE {
        collector.does("churn", "churned");
        collector.cgroup.reclaim();
        let (report, _) = look(collector.pid());
        if report.exposure.next_pause.is_none() {
            // Such as: another test's swap area came on, or went.
            let why: Vec<&str> = report.unavailable.iter().map(|part| part.why.as_str()).collect();
            told.push_str(&format!("no estimate: {}\n", why.join("; ")));
        }
        with_enough_out +=
            usize::from(report.exposure.next_pause.as_ref().is_some_and(|next| !is_little_out(next)));
        estimates.push(report.exposure.next_pause);
        collector.does("collect", "collected");
    }
    let report = report_of(tracer);
    let pauses = longest_pauses(&report);
    assert_eq!(pauses.len(), estimates.len());

    let rounds: Vec<Round> = estimates
        .into_iter()
        .zip(pauses)
        .filter_map(|(estimate, pause)| Some(Round { estimate: estimate?, pause }))
        .collect();
    let (mut right, mut judged) = (0, 0);
    let mut widths = Vec::new();
    for Round { estimate, pause } in &rounds {
        if judged == COLLECTIONS {
            break;
        }
        let pause_ns = pause.duration_ns.unwrap();
        let holds = (estimate.least_ns..=estimate.most_ns).contains(&pause_ns);
        let little_out = is_little_out(estimate);
        let elsewhere = pause_ns.saturating_sub(pause.explained_by_faults_ns) > OUTSIDE_FAULTS_NS;
        told.push_str(&format!(
            "{} {} µs in {}..{} µs, {} µs in {} faults ({} major), {} of {} pages out{}\n",
            if holds { "right" } else { "WRONG" },
            pause_ns / 1000,
            estimate.least_ns / 1000,
            estimate.most_ns / 1000,
            pause.in_faults_ns / 1000,
            pause.faults,
            pause.major,
            estimate.pages_out,
            estimate.pages,
            match (little_out, elsewhere) {
                (true, _) => "; not judged: little is out",
                (_, true) => "; not judged: the CPU was elsewhere",
                _ => "",
            },
        ));
        if little_out || elsewhere {
            continue;
        }
        judged += 1;
        right += usize::from(holds);
        widths.push(estimate.most_ns / estimate.least_ns.max(1));
    }
    widths.sort_unstable();
    println!("{told}{right} of {judged} right; most/least: median {}", widths[widths.len() / 2]);
    assert_eq!(judged, COLLECTIONS, "{told}");
    assert!(right >= RIGHT, "{right} of {judged}:\n{told}");
    // A range that holds everything says nothing. On a quiet machine it is about 20; single slow reads of the probe widen it.
    assert!(widths[widths.len() / 2] <= 40, "{widths:?}");
    of_the_trace(&report);
}

/// The trace's own report has a look before it and one after it.
fn of_the_trace(report: &Report) {
    let (start, end) = (&report.exposure.at_start, &report.exposure.at_end);
    let (start, end) = (start.as_ref().unwrap(), end.as_ref().unwrap());
    assert!(start.found.taken_unix_ms < end.found.taken_unix_ms);
    assert!(start.found.took_ns < 1_000_000_000 && end.found.took_ns < 1_000_000_000);
    // Built a moment before, and collected a moment before: the heap is in memory at start.
    assert!(start.found.total.resident_bytes > 10 << 20, "{start:?}");
    // The trace saw swap-ins, so it knows what they take.
    let estimate = end.next_pause.as_ref().unwrap_or_else(|| panic!("{:?}", report.trace.unavailable));
    assert!(estimate.least_ns <= estimate.most_ns);
}

/// What is out when a trace begins is said at once; the estimate follows when the trace has seen what a swap-in takes.
#[test]
fn a_trace_that_begins_with_memory_out() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let mut collector = Collector::start(&build_collector(folder.path()), 20);
    collector.does("churn", "churned");
    collector.cgroup.reclaim();
    let mut command = Command::new(pauselens());
    command.args(["attach", "--pid", &collector.pid().to_string()]).args(ALL_AS_JSON);
    let mut tracer = Running::start(command);
    let told = tracer.says("pauselens: ");
    assert!(told.contains("swapped out: ~runtime_heap") && told.contains("when the trace begins"), "{told}");
    tracer.says("pauselens: attached");
    collector.does("collect", "collected");
    let report = report_of(tracer);
    let start = report.exposure.at_start.as_ref().unwrap();
    assert!(start.found.total.swapped_bytes.unwrap() > 10 << 20, "{start:?}");
    let estimate = start.next_pause.as_ref().unwrap_or_else(|| panic!("{:?}", report.trace.unavailable));
    assert!(estimate.pages_out > 100 && estimate.least_ns > 0, "{estimate:?}");
    let pause = &longest_pauses(&report)[0];
    println!("{} to {} ns: {:?} ns", estimate.least_ns, estimate.most_ns, pause.duration_ns);
    // Its pages were out, and came back for it.
    let end = report.exposure.at_end.as_ref().unwrap();
    assert!(end.found.total.swapped_bytes < start.found.total.swapped_bytes, "{end:?}");
}

/// Without anything out the next pause is short.
#[test]
fn nothing_out_adds_nothing() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start(&build_collector(folder.path()), 4);
    let (report, code) = look(collector.pid());
    let estimate = report.exposure.next_pause.unwrap();
    assert_eq!((estimate.pages_out, estimate.least_ns, code), (0, 0, 0), "{estimate:?}");
    assert!(estimate.most_ns < 1_000_000, "{estimate:?}");
    assert!(estimate.pages > 0);
    // Nothing was measured, since nothing needs it.
    assert_eq!(report.exposure.found.latency, None);
}

#[test]
fn the_text_fits_a_terminal() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start(&build_collector(folder.path()), 8);
    collector.cgroup.reclaim();
    let ended = ended(exposure_command(collector.pid()));
    for word in ["Memory", "~runtime_metadata", "Swap-in", "Next pause", "at most"] {
        assert!(ended.stdout.contains(word), "no {word:?}: {}", ended.told());
    }
    for line in ended.stdout.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

// ---- what can't be had

#[test]
fn unusable_processes() {
    as_root();
    let child = Running::start(Command::new("true"));
    let gone = child.pid();
    child.ended();
    for (pid, words) in [(gone, "there is no process"), (0, "there is no process"), (2, "")] {
        if pid == 2 && fs::read_link("/proc/2/exe").is_ok() {
            continue; // a pid namespace: no kernel thread there
        }
        let ended = ended(exposure_command(pid));
        assert_eq!((ended.code(), ended.stdout.as_str()), (1, ""), "{}", ended.told());
        let lines: Vec<&str> = ended.stderr.lines().collect();
        let [line] = lines[..] else { panic!("{}", ended.told()) };
        assert!(line.starts_with("pauselens: ") && line.contains(words), "{line}");
    }
    // Wrong usage.
    let mut command = Command::new(pauselens());
    command.arg("exposure");
    assert_eq!(ended(command).code(), 2);
}

#[test]
fn a_program_without_a_known_runtime() {
    as_root();
    let mut command = Command::new("sleep");
    command.arg("600");
    let sleeping = Running::start(command);
    let exe = format!("/proc/{}/exe", sleeping.pid());
    attached::until("sleep runs", || {
        fs::read_link(&exe).is_ok_and(|path| path.ends_with("sleep") || path.ends_with("coreutils"))
    });
    let (report, code) = look(sleeping.pid());
    assert_eq!(code, 3);
    assert_eq!(report.exposure.next_pause, None);
    let [unavailable] = &report.unavailable[..] else { panic!("{:?}", report.unavailable) };
    assert_eq!(unavailable.part, "estimate of the next pause");
    assert!(unavailable.why.contains("hold no runtime"), "{}", unavailable.why);
    // The rest is there.
    let rss = kernel_bytes(sleeping.pid(), "Rss");
    let ours = report.exposure.found.total.resident_bytes;
    assert!(ours.abs_diff(rss) <= 64 << 10, "{ours} against {rss}");
    assert!(region(&report, Region::Library).mapped_bytes > 0);
    assert!(ended(exposure_command(sleeping.pid())).stdout.contains("UNAVAILABLE"));
}

#[test]
fn another_user_s_process() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("pauselens");
    fs::copy(pauselens(), &copy).unwrap();
    for (path, mode) in [(folder.path(), 0o755), (copy.as_path(), 0o755)] {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]).arg(&copy);
    command.args(["exposure", "--pid", &std::process::id().to_string()]);
    let ended = ended(command);
    assert_eq!((ended.code(), ended.stdout.as_str()), (1, ""), "{}", ended.told());
    assert!(
        ended.stderr.contains("user id 0") && ended.stderr.contains("sudo pauselens"),
        "{}",
        ended.stderr
    );
}

/// Memory of this test's own process, never touched.
struct Reserved {
    start: *mut libc::c_void,
    bytes: usize,
}

impl Reserved {
    fn new(bytes: usize, protection: i32) -> Self {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        Self { start, bytes }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: our own mapping, to which nothing points any more.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}

#[test]
fn a_hundred_gib_take_little_time_and_memory() {
    as_root();
    let size = 100 << 30;
    let _reserved = Reserved::new(size, libc::PROT_NONE);
    let _mapped = Reserved::new(size, libc::PROT_READ | libc::PROT_WRITE);
    let begin = Instant::now();
    let (report, _) = look(std::process::id());
    let took = begin.elapsed();
    let total = report.exposure.found.total;
    assert!(total.untouched_bytes >= size as u64 && total.reserved_bytes >= size as u64, "{total:?}");
    assert!(total.resident_bytes < 1 << 30, "{total:?}");
    assert!(took < Duration::from_secs(30), "{took:?}");

    // Its buffers do not grow with what is mapped.
    let peak_bytes = peak_bytes(exposure_command(std::process::id()));
    assert!(peak_bytes < 64 << 20, "{peak_bytes}");
}

/// The most memory that a command took.
#[allow(clippy::zombie_processes, reason = "`wait4` waits for it, and tells what it took")]
fn peak_bytes(mut command: Command) -> u64 {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = child.id().cast_signed();
    // SAFETY: plain data, all zeros are a value of it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let mut status = 0;
    // SAFETY: our own child, which nobody else waits for; both are live.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    assert_eq!(waited, pid);
    u64::try_from(usage.ru_maxrss).unwrap() << 10
}

/// Mappings come and go while they are read: nothing breaks, and what stays is counted.
#[test]
fn mappings_that_vanish() {
    as_root();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let several: Vec<Reserved> = (0..50)
                    .map(|index| {
                        // Alternating, so that the kernel does not join neighbours.
                        let protection = if index % 2 == 0 { libc::PROT_READ } else { libc::PROT_NONE };
                        Reserved::new(64 << 10, protection)
                    })
                    .collect();
                std::thread::sleep(Duration::from_micros(200));
                drop(several);
            }
        });
        for _ in 0..10 {
            let (report, _) = look(std::process::id());
            let total = report.exposure.found.total;
            assert!(total.resident_bytes > 1 << 20, "{total:?}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// Where no swap is on nothing can be out, and nothing needs to be measured.
#[test]
fn no_swap() {
    as_root();
    if swap::is_on() {
        println!("not shown: a swap area is on");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(build_collector(folder.path()));
    command.arg("4").env_remove("GOGC");
    let mut running = Running::start(command);
    assert_eq!(running.line(), "ready");
    let (report, code) = look(running.pid());
    assert_eq!(code, 0, "{:?}", report.unavailable);
    assert_eq!(report.exposure.found.swap.map(|swap| swap.total_bytes), Some(0));
    assert_eq!(report.exposure.next_pause.map(|estimate| estimate.least_ns), Some(0));
    let text = ended(exposure_command(running.pid())).stdout;
    assert!(text.contains("none is on, so nothing can be swapped out"), "{text}");
}
