//! Waiting on a futex until another thread, after a set time, wakes the driver: what a lock or a condition variable of a
//! program comes down to.

use std::{cell::Cell, time::Duration};

use anyhow::Result;

use super::{
    super::{
        clock::{nanoseconds, now_ns},
        stats::FutexWaitStats,
        threads::Waker,
    },
    Act,
};

/// Long enough for the driver to be waiting.
const REHEARSAL_NS: u64 = 1_000_000;

#[derive(Debug)]
struct FutexWait {
    waker: Waker,
    delay_ns: u64,
    waited_ns: Cell<u64>,
}

pub(super) fn prepare(time: Duration) -> Result<Box<dyn Act>> {
    Ok(Box::new(FutexWait { waker: Waker::start()?, delay_ns: nanoseconds(time), waited_ns: Cell::new(0) }))
}

impl FutexWait {
    fn wait(&self, delay_ns: u64) {
        let begin_ns = now_ns();
        self.waker.ask(begin_ns, delay_ns);
        demo_waits_on_futex(&self.waker);
        self.waited_ns.set(now_ns() - begin_ns);
    }
}

impl Act for FutexWait {
    fn rehearse(&self) {
        self.wait(REHEARSAL_NS);
    }

    fn perform(&self) {
        self.wait(self.delay_ns);
    }

    fn futex_wait(&self) -> Option<FutexWaitStats> {
        Some(FutexWaitStats {
            waker_tid: self.waker.tid(),
            woken_after_ns: self.waker.woken_after_ns(),
            waited_ns: self.waited_ns.get(),
        })
    }
}

#[inline(never)]
fn demo_waits_on_futex(waker: &Waker) {
    waker.wait();
}
