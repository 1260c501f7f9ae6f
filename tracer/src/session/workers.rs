//! Which of the target's threads are workers: looked for at the start, and now and then while the trace runs.

use tracer_common::thread::{WORKERS, Workers};

use crate::{
    runtime::Recognised,
    target::{thread_ids, thread_name},
};

/// The workers as the kernel side knows them.
#[derive(Debug)]
pub(super) struct WorkerList {
    known: Workers,
    /// How many there are beyond what can be followed.
    pub(super) left_out: usize,
}

impl WorkerList {
    pub(super) fn new() -> Self {
        Self { known: Workers { tids: [0; WORKERS] }, left_out: 0 }
    }

    /// The workers that the kernel side was told of last.
    pub(super) fn known(&self) -> Workers {
        self.known
    }

    /// Looks again. The new list, if it has changed.
    pub(super) fn look(&mut self, pid: u32, recognised: &Recognised) -> Option<Workers> {
        let threads = thread_ids(pid).unwrap_or_default();
        let workers: Vec<u32> = threads
            .into_iter()
            .filter(|tid| thread_name(pid, *tid).is_some_and(|name| recognised.is_worker(&name)))
            .collect();
        let mut list = Workers { tids: [0; WORKERS] };
        for (place, tid) in list.tids.iter_mut().zip(&workers) {
            *place = *tid;
        }
        self.left_out = self.left_out.max(workers.len().saturating_sub(WORKERS));
        (list != self.known).then(|| {
            self.known = list;
            list
        })
    }
}
