//! Software events on every thread of the target: the ones that are there, and those that are born meanwhile.

use std::{
    collections::BTreeSet,
    io,
    os::fd::{BorrowedFd, OwnedFd},
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{perf_event::attach_software, plan::SoftwareEvent};
use crate::target::thread_ids;

/// One event and the program that it runs.
pub(super) type Wanted<'a> = (SoftwareEvent, BorrowedFd<'a>);

/// Opens the wanted events on every thread. Returns the descriptors and the number of threads.
///
/// A thread that is born from one whose events are in place inherits them. One that is born from another thread
/// while this goes on is found by looking again, until nothing new is there.
///
/// # Errors
/// When an event can't be opened for another reason than that its thread ended.
pub(super) fn attach_all(pid: u32, wanted: &[Wanted<'_>]) -> io::Result<(Vec<OwnedFd>, usize)> {
    let mut done = BTreeSet::new();
    let mut events = Vec::new();
    loop {
        let fresh: Vec<u32> = thread_ids(pid)?.into_iter().filter(|tid| !done.contains(tid)).collect();
        if fresh.is_empty() {
            return Ok((events, done.len()));
        }
        allow_descriptors(open_descriptors() + fresh.len() * wanted.len());
        for tid in fresh {
            done.insert(tid);
            for (event, program) in wanted {
                match attach_software(*event, tid, *program) {
                    Ok(descriptor) => events.push(descriptor),
                    // It ended.
                    Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
}

/// How many files are open: other processes are traced as well.
fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Raises the limit of open files as far as it may be raised, when so many are needed. A failure shows itself when
/// the files are opened.
fn allow_descriptors(needed: usize) {
    const OTHERS: u64 = 256;
    let needed = needed as u64 + OTHERS;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return;
    }
    let maximum = limit.maximum.map(|maximum| maximum.max(needed));
    if setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum }).is_err() {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}
