//! A pause without what is long in it: its totals stay.

use crate::report::model::{ByKind, Pause, Stack};

/// In place of the code paths.
const DROPPED: &str = "[details dropped]";

/// Takes away places, code paths, threads and what else is a list; what they add up to stays.
pub(super) fn slim(pause: &mut Pause) {
    pause.requested_by = None;
    pause.places.clear();
    pause.workers_unseen += pause.workers.len() as u64;
    pause.workers.clear();
    if let Some(faults) = &mut pause.worker_faults {
        faults.places.clear();
        faults.stacks.clear();
    }
    pause.blocked.clear();
    if let Some(waits) = &mut pause.cpu_waits {
        waits.after.clear();
    }
    pause.stopping_faults.clear();
    if let Some(stopping) = &mut pause.stopping {
        stopping.threads.clear();
    }
    pause.stacks.clear();
    if pause.faults > 0 {
        pause.stacks.push(Stack {
            frames: vec![DROPPED.to_owned()],
            faults: pause.faults,
            ns: pause.in_faults_ns,
            by_kind: ByKind::new(),
            kernel: Vec::new(),
        });
    }
}
