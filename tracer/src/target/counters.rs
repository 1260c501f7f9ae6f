//! The kernel's own fault counters of a process and its threads: what pauselens checks itself against.

use std::{collections::BTreeMap, fs};

use super::{stat::parse_stat, threads::thread_ids};

/// Fault counters of one task since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Minor faults.
    pub minor: u64,
    /// Major faults.
    pub major: u64,
}

/// The counters of a process and of its threads, read one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The whole process, ended threads included. `None` when it could not be read.
    pub process: Option<Counters>,
    /// Each living thread.
    pub threads: BTreeMap<u32, Counters>,
}

/// Reads the counters of the whole process. `None` when it is gone.
#[must_use]
pub fn read_process_counters(pid: u32) -> Option<Counters> {
    read(&format!("/proc/{pid}/stat"))
}

/// Reads the counters. What can't be read (a thread that ends meanwhile) is left out.
#[must_use]
pub fn read_counters(pid: u32) -> Reading {
    Reading {
        process: read_process_counters(pid),
        threads: thread_ids(pid)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|tid| Some((tid, read(&format!("/proc/{pid}/task/{tid}/stat"))?)))
            .collect(),
    }
}

fn read(path: &str) -> Option<Counters> {
    let stat = parse_stat(&fs::read_to_string(path).ok()?)?;
    Some(Counters { minor: stat.minor, major: stat.major })
}
