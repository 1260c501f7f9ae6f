//! Which of the target's threads are workers: looked for at the start, and now and then while the trace runs.

use aya::Ebpf;
use tracer_common::thread::{WORKERS, Workers};

use super::leftovers;
use crate::{
    runtime::Recognised,
    target::{thread_ids, thread_name},
};

/// The workers as the kernel side knows them.
#[derive(Debug)]
pub(super) struct WorkerList {
    known: Workers,
    /// Each of them has a place for what it does.
    all_told: bool,
    /// How many there are now beyond what can be followed.
    beyond: usize,
    /// The most that were not followed at a time.
    pub(super) left_out: usize,
}

impl WorkerList {
    pub(super) fn new() -> Self {
        Self { known: Workers { tids: [0; WORKERS] }, all_told: true, beyond: 0, left_out: 0 }
    }

    /// The workers that the kernel side was told of last.
    pub(super) fn known(&self) -> Workers {
        self.known
    }

    /// Looks again, and tells the kernel side what has changed. What can't be said now is tried again the next time.
    pub(super) fn tell(&mut self, ebpf: &mut Ebpf, pid: u32, recognised: &Recognised) {
        let Some(list) = self.look(pid, recognised) else { return };
        let untold = match leftovers::set_workers(ebpf, pid, list) {
            Ok(untold) => untold,
            Err(_) => list.tids.iter().filter(|tid| **tid != 0).count(),
        };
        self.left_out = self.left_out.max(self.beyond + untold);
        self.all_told = untold == 0;
        let gone = self.known.tids.into_iter().filter(|tid| *tid != 0 && !list.tids.contains(tid));
        leftovers::forget_workers(ebpf, gone);
        self.known = list;
    }

    /// The list, if the kernel side has not been told of all of it.
    fn look(&mut self, pid: u32, recognised: &Recognised) -> Option<Workers> {
        let threads = thread_ids(pid).unwrap_or_default();
        let workers: Vec<u32> = threads
            .into_iter()
            .filter(|tid| thread_name(pid, *tid).is_some_and(|name| recognised.is_worker(&name)))
            .collect();
        let mut list = Workers { tids: [0; WORKERS] };
        for (place, tid) in list.tids.iter_mut().zip(&workers) {
            *place = *tid;
        }
        self.beyond = workers.len().saturating_sub(WORKERS);
        self.left_out = self.left_out.max(self.beyond);
        (list != self.known || !self.all_told).then_some(list)
    }
}
