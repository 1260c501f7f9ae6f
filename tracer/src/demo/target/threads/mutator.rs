//! A mutator that is inside a long fault when the stop is requested: the stop has to wait for it.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, Builder, JoinHandle},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

use super::super::{
    clock::{nanoseconds, sleep_until},
    memory::{Pages, Region},
    world,
};
use super::fault_handler::{Delays, FaultHandler};

/// The thread, the page that it faults on and the handler of the fault.
#[derive(Debug)]
pub(in super::super) struct Mutator {
    tid: u32,
    delays: Arc<Delays>,
    go: Option<Sender<()>>,
    done: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    // These two last: the thread works on them.
    _handler: FaultHandler,
    _region: Region,
}

impl Mutator {
    /// Starts the thread and has it go through a whole fault and stop once, as a rehearsal.
    pub(in super::super) fn prepare(delay: Duration) -> Result<Self> {
        let region = Region::anonymous(1)?;
        let handler = FaultHandler::start(region.all(), delay)?;
        let delays = Arc::clone(&handler.delays);
        let turns = [Turn(region.spare()), Turn(region.rest())];
        let (go, begin) = channel();
        let (end, done) = channel();
        let (say_tid, tid) = channel();
        let thread = Builder::new()
            .name("mutator".to_owned())
            .spawn(move || {
                // Waiting allocates, for which the memory is to be there before the pause.
                drop(black_box(vec![1_u8; 16 * 1024]));
                // The receiver is there until the thread has ended.
                let _ = say_tid.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs());
                for turn in turns {
                    if begin.recv().is_err() {
                        return;
                    }
                    turn.take();
                    // Stopped until told that the world runs again.
                    if begin.recv().is_err() {
                        return;
                    }
                    let _ = end.send(());
                }
            })
            .context("could not start the mutator")?;
        let tid = tid.recv().context("the mutator did not start")?;
        let go = Some(go);
        let mutator =
            Self { tid, delays, go, done, thread: Some(thread), _handler: handler, _region: region };
        mutator.begin()?;
        mutator.go_on()?;
        Ok(mutator)
    }

    /// Sends the mutator into its fault and returns when it has been in it for `lead`.
    pub(in super::super) fn enter_fault(&self, lead: Duration) -> Result<()> {
        self.begin()?;
        // The rehearsal was the first event.
        while self.delays.events.load(Ordering::Acquire) < 2 {
            thread::sleep(Duration::from_micros(50));
        }
        sleep_until(self.fault_begin_ns() + nanoseconds(lead));
        Ok(())
    }

    /// Tells the mutator that the world runs again, and waits until it is through.
    pub(in super::super) fn go_on(&self) -> Result<()> {
        self.tell()?;
        self.done.recv().context("the mutator ended early")
    }

    pub(in super::super) fn tid(&self) -> u32 {
        self.tid
    }

    /// When the handler read the fault's event.
    pub(in super::super) fn fault_begin_ns(&self) -> u64 {
        self.delays.last_event_ns.load(Ordering::Acquire)
    }

    pub(in super::super) fn delays(&self) -> &Delays {
        &self.delays
    }

    fn begin(&self) -> Result<()> {
        // Before the mutator goes, so that a stop can't overtake it.
        world::mutator_runs();
        self.tell().inspect_err(|_| world::mutator_stops())
    }

    fn tell(&self) -> Result<()> {
        match &self.go {
            Some(go) if go.send(()).is_ok() => Ok(()),
            _ => bail!("the mutator ended early"),
        }
    }
}

impl Drop for Mutator {
    fn drop(&mut self) {
        self.go = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, the message is on standard error already.
            let _ = thread.join();
        }
    }
}

/// One fault and one stop.
struct Turn(Pages);

// SAFETY: the pages belong to a region that outlives the thread, which alone touches them.
unsafe impl Send for Turn {}

impl Turn {
    fn take(self) {
        demo_mutator_reads_delayed_page(self.0);
        world::mutator_stops();
    }
}

#[inline(never)]
fn demo_mutator_reads_delayed_page(pages: Pages) {
    pages.read_each(13);
}
