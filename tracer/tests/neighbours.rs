//! Never harm: other users of the same tracepoints still see everything, a target keeps its code and goes on when the
//! tracer is killed, and two tracers do not disturb each other.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pauselens.rs"]
mod pauselens;
#[path = "support/perf.rs"]
mod perf;

use std::{fs::File, os::unix::fs::FileExt as _, path::PathBuf, thread, time::Duration};

use pauselens::{Fixture, Tracer, in_order};
use perf::Counter;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use tracer::{
    elf::{Image, find_functions},
    report::model::Kind,
    target::read_maps,
};

const TIMES: usize = 100;
const ROUNDS: usize = 20;

/// What each tracepoint that pauselens uses can be made to fire with, on the calling thread. The other ones need a
/// machine that is short of memory, or end the thread.
const EVENTS: [(&str, fn()); 4] = [
    ("exceptions:page_fault_user", touch_fresh_pages),
    ("kmem:rss_stat", touch_fresh_pages),
    ("sched:sched_switch", sleep_often),
    ("signal:signal_generate", send_ignored_signals),
];

fn touch_fresh_pages() {
    let bytes = TIMES * rustix::param::page_size();
    // SAFETY: new memory at an address of the kernel's choice, touched inside its bounds and used by nobody else.
    unsafe {
        let flags = MapFlags::PRIVATE;
        let start =
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags).unwrap();
        libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE);
        for offset in (0..bytes).step_by(rustix::param::page_size()) {
            start.cast::<u8>().add(offset).write_volatile(1);
        }
        munmap(start, bytes).unwrap();
    }
}

fn sleep_often() {
    for _ in 0..TIMES {
        // Long enough not to be over before the thread has left the processor.
        thread::sleep(Duration::from_millis(1));
    }
}

/// `SIGURG` is ignored by default.
fn send_ignored_signals() {
    for _ in 0..TIMES {
        // SAFETY: a signal without effect, to this thread.
        unsafe { libc::raise(libc::SIGURG) };
    }
}

/// How often each event is counted while it fires [`TIMES`] times.
fn counted() -> Vec<(&'static str, u64)> {
    EVENTS
        .iter()
        .map(|(event, fire)| {
            let counter = Counter::of_this_thread(event);
            fire();
            (*event, counter.read())
        })
        .collect()
}

/// Whether all of them were seen by whoever counts.
fn all_seen(counted: &[(&str, u64)]) -> bool {
    counted.iter().all(|(_, count)| *count >= TIMES as u64)
}

/// A program on a tracepoint that returns 0 hides the event from everybody.
#[test]
fn other_users_see_their_events() {
    let fixture = Fixture::start(&["--rounds", "0"]);
    // Another tracer on this machine may hide them too: a round counts when they were seen before and after it.
    for _ in 0..ROUNDS {
        let before = counted();
        let tracer = Tracer::attach(fixture.pid, &[]);
        let during = counted();
        tracer.interrupt();
        let report = tracer.finish().complete();
        let after = counted();
        let used = |event: &str| {
            let source = format!("tracepoint {event}");
            report.trace.plan.iter().any(|step| step.used && step.source.ends_with(&source))
        };
        assert!(EVENTS.iter().all(|(event, _)| used(event)), "{:?}", report.trace.plan);
        if all_seen(&before) && all_seen(&after) {
            assert!(all_seen(&during), "fired {TIMES} times; with another process traced: {during:?}");
            fixture.finish();
            return;
        }
        println!("seen before {before:?}, after {after:?}");
    }
    panic!("nobody sees any events, without pauselens as well: is another tracer at work?");
}

/// The pause functions' code, as it is in the process's memory.
struct Code {
    memory: File,
    places: Vec<(u64, usize)>,
}

impl Code {
    fn of(pid: u32) -> Self {
        let executable = PathBuf::from(format!("/proc/{pid}/exe"));
        let image = Image::open(File::open(&executable).unwrap(), executable).unwrap();
        let mappings = read_maps(pid).unwrap();
        let functions = find_functions(&image, &["pauselens_demo_stop_world", "pauselens_demo_start_world"]);
        assert_eq!(functions.len(), 2);
        let of_file = mappings.iter().find(|mapping| mapping.is_file()).unwrap().file.clone();
        let places = functions.iter().map(|function| {
            let offset = image.file_offset(function.address).unwrap().0;
            let mapping = mappings.iter().find(|mapping| {
                let bytes = mapping.end - mapping.start;
                mapping.executable
                    && mapping.file == of_file
                    && (mapping.offset_bytes..mapping.offset_bytes + bytes).contains(&offset)
            });
            let mapping = mapping.unwrap();
            assert!(function.size_bytes > 0);
            (mapping.start + offset - mapping.offset_bytes, usize::try_from(function.size_bytes).unwrap())
        });
        let places = places.collect();
        Self { memory: File::open(format!("/proc/{pid}/mem")).unwrap(), places }
    }

    fn bytes(&self) -> Vec<Vec<u8>> {
        let read = |(address, bytes): &(u64, usize)| {
            let mut code = vec![0; *bytes];
            self.memory.read_exact_at(&mut code, *address).unwrap();
            code
        };
        self.places.iter().map(read).collect()
    }
}

#[test]
fn a_killed_tracer_leaves_no_probe_behind() {
    let options = ["--first-touch", "53", "--hold-open", "--rounds", "20", "--gap", "1ms"];
    let mut fixture = Fixture::start(&options);
    let code = Code::of(fixture.pid);
    let untouched = code.bytes();
    let tracer = Tracer::attach(fixture.pid, &[]);
    let probed = code.bytes();
    assert!(probed.iter().zip(&untouched).all(|(now, before)| now != before), "each function has probes");
    // Killed in the middle of a pause, when the probes have been hit.
    fixture.go();
    fixture.wait_until_held();
    tracer.kill();
    assert_eq!(code.bytes(), untouched);
    // And it can be traced again, as if nothing had been.
    let tracer = Tracer::attach(fixture.pid, &["--all"]);
    assert_eq!(code.bytes(), probed);
    fixture.go();
    let stats = fixture.finish();
    assert_eq!(stats.total_pauses, 21, "the target went on");
    assert_eq!(tracer.finish().complete().summary.pauses, 20, "the one that was open has no begin");
}

#[test]
fn a_tracer_that_ends_leaves_no_probe_behind() {
    let fixture = Fixture::start(&["--rounds", "3", "--first-touch", "53"]);
    let code = Code::of(fixture.pid);
    let untouched = code.bytes();
    let tracer = Tracer::attach(fixture.pid, &[]);
    assert_ne!(code.bytes(), untouched);
    tracer.interrupt();
    tracer.finish().complete();
    assert_eq!(code.bytes(), untouched);
    assert_eq!(fixture.finish().total_pauses, 3, "the target went on");
}

#[test]
fn two_tracers_on_one_target_see_the_same() {
    let mut fixture = Fixture::start(&["--first-touch", "211", "--shared-memory", "83", "--rounds", "5"]);
    let tracers = [Tracer::attach(fixture.pid, &["--all"]), Tracer::attach(fixture.pid, &["--all"])];
    fixture.go();
    let stats = fixture.finish();
    let mut seen = tracers.map(|tracer| {
        let report = tracer.finish().complete();
        assert_eq!(report.summary.pauses, stats.total_pauses);
        for (made, pause) in stats.pauses.iter().zip(in_order(&report)) {
            assert_eq!(pause.by_kind[&Kind::FirstTouch].count, 211);
            assert_eq!(pause.by_kind[&Kind::SharedMemory].count, 83);
            assert_eq!((pause.minor, pause.major), (made.minflt.unwrap(), 0));
            assert!(pause.duration_ns <= made.duration_ns);
        }
        report.summary.paused_ns
    });
    seen.sort_unstable();
    assert!(seen[1] < seen[0] * 2, "they measured the same pauses: {seen:?} ns");
}
