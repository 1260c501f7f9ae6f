//! Computing: takes a set amount of the thread's own CPU time, however long that takes.

use std::time::Duration;

use super::{
    super::{clock::nanoseconds, computing::compute_for},
    Act,
};

/// Shorter than any time that matters, and long enough to run through everything.
const REHEARSAL_NS: u64 = 20_000;

#[derive(Debug)]
struct Compute {
    cpu_ns: u64,
}

pub(super) fn prepare(time: Duration) -> Box<dyn Act> {
    Box::new(Compute { cpu_ns: nanoseconds(time) })
}

impl Act for Compute {
    fn rehearse(&self) {
        demo_computes(REHEARSAL_NS);
    }

    fn perform(&self) {
        demo_computes(self.cpu_ns);
    }
}

#[inline(never)]
fn demo_computes(cpu_ns: u64) {
    compute_for(cpu_ns, 14);
}
