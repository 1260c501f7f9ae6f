//! The state of memory of a real Go program under real swap, in a cgroup with limits, against what the kernel's other
//! files say of it, and what it takes to read it.

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
    time::{Duration, Instant},
};

use attached::{Running, as_root};
use cgroup::Cgroup;
use swap::Swap;
use tracer::{
    recording::MemorySampler,
    target::{HostMemory, ProcessMemory, ProcessReading},
};

const VERSION: &str = "1.27.3";
const SOURCE: &str = include_str!("support/collector.go");
const MIB: u64 = 1 << 20;
/// The program's graph.
const GRAPH_MIB: u64 = 40;
const LIMIT_BYTES: u64 = 512 * MIB;
const LIMIT_ABOVE_BYTES: u64 = 300 * MIB;

/// What the page tables hold: the kernel counts it anew for this file.
fn smaps_rollup(pid: u32, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_matches([':', ' ']).strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

fn near(one: u64, other: u64) -> bool {
    // The counters of a running program are added up in steps, by CPU.
    one.abs_diff(other) <= 4 * MIB
}

fn vmstat(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/vmstat").unwrap();
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap()
}

#[test]
fn a_go_program_that_is_swapped_out_is_read_as_the_kernel_counts_it() {
    as_root();
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("collector.go"), folder.path().join("collector"));
    fs::write(&source, SOURCE).unwrap();
    go::build(VERSION, &source, &program, &[]);
    let _swap = Swap::own().unwrap_or_else(|why| panic!("this test needs swap: {why}"));
    let above = Cgroup::with("memory").unwrap_or_else(|why| panic!("{why}"));
    let group = above.below();
    let mut command = group.command(&program);
    command.arg(GRAPH_MIB.to_string()).env("GOMAXPROCS", "2").env_remove("GOGC").env_remove("GODEBUG");
    let mut running = Running::start(command);
    assert_eq!(running.line(), "ready");
    let pid = running.pid();
    let mut memory = ProcessMemory::of(pid);
    let mut host = HostMemory::open();

    // All of it is in memory.
    let all_in = memory.read().unwrap();
    assert!(all_in.resident_bytes.unwrap() > GRAPH_MIB * MIB, "{all_in:?}");
    assert!(near(all_in.resident_bytes.unwrap(), smaps_rollup(pid, "Rss")), "{all_in:?}");
    let in_group = all_in.cgroup.unwrap();
    assert_eq!(in_group.path, group.path());
    let used = group.number("memory.usage_in_bytes", "memory.current").unwrap();
    assert!(near(in_group.used_bytes.unwrap(), used), "{in_group:?} {used}");
    assert_eq!((in_group.max_bytes, in_group.high_bytes, in_group.swap_max_bytes), (None, None, None));

    // Limits: its own, then a lower one above it, then its own is the lower one again.
    let limit = |group: &Cgroup, bytes: u64| {
        let bytes = bytes.to_string();
        group.set(("memory.limit_in_bytes", &bytes), ("memory.max", &bytes));
    };
    let mut max = || memory.read().unwrap().cgroup.unwrap().max_bytes;
    limit(&group, LIMIT_BYTES);
    assert_eq!(max(), Some(LIMIT_BYTES));
    limit(&above, LIMIT_ABOVE_BYTES);
    assert_eq!(max(), Some(LIMIT_ABOVE_BYTES));
    limit(&group, LIMIT_ABOVE_BYTES - MIB);
    assert_eq!(max(), Some(LIMIT_ABOVE_BYTES - MIB));

    // It goes out to disk, and all three see it: the process, its cgroup, the host.
    let (before, written_before) = (host.read(), vmstat("pswpout"));
    let swapped_out = |read: &ProcessReading| read.swapped_bytes.unwrap() > GRAPH_MIB * MIB / 2;
    let out = attached::until_it_is(
        "half of the program is swapped out",
        || {
            group.reclaim();
            memory.read().unwrap()
        },
        swapped_out,
    );
    let after = host.read();
    assert!(near(out.swapped_bytes.unwrap(), smaps_rollup(pid, "Swap")), "{out:?}");
    assert!(near(out.resident_bytes.unwrap(), smaps_rollup(pid, "Rss")), "{out:?}");
    assert!(out.resident_bytes < all_in.resident_bytes);
    let page_bytes = rustix::param::page_size() as u64;
    assert!(vmstat("pswpout") > written_before);
    assert!(before.swapped_out_bytes.unwrap() >= written_before * page_bytes);
    assert!(after.swapped_out_bytes.unwrap() <= vmstat("pswpout") * page_bytes);
    let written = after.swapped_out_bytes.unwrap() - before.swapped_out_bytes.unwrap();
    assert!(written > GRAPH_MIB * MIB / 4, "{written} bytes were written");
    let swap_accounted = group.number("memory.memsw.usage_in_bytes", "memory.swap.current").is_some();
    let in_group = out.cgroup.clone().unwrap();
    match in_group.swapped_bytes {
        Some(bytes) => {
            assert!(swap_accounted);
            assert!(bytes > GRAPH_MIB * MIB / 4 && bytes < out.swapped_bytes.unwrap() * 2, "{in_group:?}");
        }
        None => assert!(!swap_accounted, "{in_group:?}"),
    }

    // A collection reads it back.
    running.tell("collect");
    assert_eq!(running.line(), "collected");
    let back = memory.read().unwrap();
    assert!(back.swapped_bytes < out.swapped_bytes, "{out:?}, then {back:?}");
    let read = host.read().swapped_in_bytes.unwrap() - after.swapped_in_bytes.unwrap();
    assert!(read > 0);

    drop(running);
    assert_eq!(memory.read(), None, "it has ended");
}

#[test]
fn a_process_that_moves_to_another_cgroup_is_read_there() {
    as_root();
    let first = Cgroup::with("memory").unwrap_or_else(|why| panic!("{why}"));
    let second = Cgroup::with("memory").unwrap_or_else(|why| panic!("{why}"));
    let mut command = first.command("sh".as_ref());
    command.args(["-c", "echo ready; read line"]);
    let mut running = Running::start(command);
    assert_eq!(running.line(), "ready");
    let mut memory = ProcessMemory::of(running.pid());
    let mut path = || memory.read().unwrap().cgroup.unwrap().path;
    assert_eq!(path(), first.path());
    second.add(running.pid());
    assert_eq!(path(), second.path());
    drop(running);
}

/// The tracer reads this while it watches pauses: it has to be cheap. A lower bound of the cost is what counts, since
/// others use this machine as well.
#[test]
fn a_reading_takes_less_than_200_microseconds() {
    const READINGS: u32 = 200;
    const MOST: Duration = Duration::from_micros(200);
    let mut sampler = MemorySampler::new(Duration::from_secs(3600), 0, 0);
    let mut times: Vec<Duration> = (0..READINGS)
        .map(|number| {
            sampler.add(number, std::process::id());
            let begin = Instant::now();
            assert!(sampler.last(number).is_some());
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    let mut memory = ProcessMemory::of(std::process::id());
    let mut host = HostMemory::open();
    let mut again: Vec<Duration> = (0..READINGS)
        .map(|_| {
            let begin = Instant::now();
            assert!(memory.read().is_some());
            let _ = host.read();
            begin.elapsed()
        })
        .collect();
    again.sort_unstable();
    let quantile = |times: &[Duration], part: usize| times[times.len() * part / 100];
    println!("the first reading: median {:?}, p90 {:?}", quantile(&times, 50), quantile(&times, 90));
    println!("further readings: median {:?}, p90 {:?}", quantile(&again, 50), quantile(&again, 90));
    assert!(quantile(&again, 10) < MOST, "{again:?}");
}
