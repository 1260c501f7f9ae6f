//! A thread that wakes the driver up, which waits on a futex for it, after a set time.

use std::{
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    thread::{Builder, JoinHandle},
};

use anyhow::{Context as _, Result};
use rustix::thread::{futex, set_current_timer_slack};

use super::{
    super::clock::{now_ns, sleep_until},
    tid,
};

const NOTHING: u32 = 0;
const WAKE: u32 = 1;
const END: u32 = 2;

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub(in super::super) struct Waker {
    shared: Arc<Shared>,
    tid: u32,
    thread: Option<JoinHandle<()>>,
}

/// What the two threads tell each other.
#[derive(Debug, Default)]
struct Shared {
    tid: AtomicU32,
    /// What the thread is to do: it waits on this.
    task: AtomicU32,
    begin_ns: AtomicU64,
    delay_ns: AtomicU64,
    woken_after_ns: AtomicU64,
    /// Whether the driver may go on: the driver waits on this.
    released: AtomicU32,
}

impl Waker {
    pub(in super::super) fn start() -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = Builder::new()
            .name("waker".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || wake_until_ended(&shared)
            })
            .context("could not start the thread that wakes the driver")?;
        wait_while(&shared.tid, 0);
        let tid = shared.tid.load(Ordering::Acquire);
        Ok(Self { shared, tid, thread: Some(thread) })
    }

    /// Has the thread wake its caller so long after `begin_ns`.
    pub(in super::super) fn ask(&self, begin_ns: u64, delay_ns: u64) {
        self.shared.begin_ns.store(begin_ns, Ordering::Release);
        self.shared.delay_ns.store(delay_ns, Ordering::Release);
        self.shared.released.store(0, Ordering::Release);
        set_and_wake(&self.shared.task, WAKE);
    }

    /// Waits until woken.
    #[inline(always)]
    pub(in super::super) fn wait(&self) {
        wait_while(&self.shared.released, 0);
    }

    pub(in super::super) fn tid(&self) -> u32 {
        self.tid
    }

    /// From `begin_ns` to just before the wake-up.
    pub(in super::super) fn woken_after_ns(&self) -> u64 {
        self.shared.woken_after_ns.load(Ordering::Acquire)
    }
}

impl Drop for Waker {
    fn drop(&mut self) {
        set_and_wake(&self.shared.task, END);
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, the message is on standard error already.
            let _ = thread.join();
        }
    }
}

fn wake_until_ended(shared: &Shared) {
    // The default slack of 50 µs would be part of every delay. Without it they are only less even.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    set_and_wake(&shared.tid, tid());
    loop {
        wait_while(&shared.task, NOTHING);
        if shared.task.swap(NOTHING, Ordering::AcqRel) != WAKE {
            return;
        }
        let begin_ns = shared.begin_ns.load(Ordering::Acquire);
        sleep_until(begin_ns + shared.delay_ns.load(Ordering::Acquire));
        // Noted before the wake-up, so that whoever goes on after it sees the number.
        shared.woken_after_ns.store(now_ns() - begin_ns, Ordering::Release);
        set_and_wake(&shared.released, 1);
    }
}

fn set_and_wake(word: &AtomicU32, value: u32) {
    word.store(value, Ordering::Release);
    // There is nothing to do about an error: the waiter looks at the word.
    let _ = futex::wake(word, futex::Flags::PRIVATE, 1);
}

#[inline(always)]
fn wait_while(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Acquire) == value {
        // An error means that the word has changed, or a signal: both are found out by looking again.
        let _ = futex::wait(word, futex::Flags::PRIVATE, value, None);
    }
}
