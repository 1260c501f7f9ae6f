//! A mutator that is inside a long fault when the stop is requested: the stop has to wait for it.

use std::{
    sync::{Arc, atomic::Ordering},
    thread,
    time::Duration,
};

use anyhow::Result;

use super::super::{
    clock::{nanoseconds, sleep_until},
    memory::{Pages, Region},
};
use super::{
    fault_handler::{Delays, FaultHandler},
    turns::Turns,
};

/// The thread, the page that it faults on and the handler of the fault.
#[derive(Debug)]
pub(in super::super) struct Mutator {
    turns: Turns,
    delays: Arc<Delays>,
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
        let turns = Turns::start([region.spare(), region.rest()].map(|pages| {
            let turn = Turn(pages);
            move || turn.take()
        }))?;
        Ok(Self { turns, delays, _handler: handler, _region: region })
    }

    /// Sends the mutator into its fault and returns when it has been in it for `lead`.
    pub(in super::super) fn enter_fault(&self, lead: Duration) -> Result<()> {
        self.turns.begin()?;
        // The rehearsal was the first event.
        while self.delays.events.load(Ordering::Acquire) < 2 {
            thread::sleep(Duration::from_micros(50));
        }
        sleep_until(self.fault_begin_ns() + nanoseconds(lead));
        Ok(())
    }

    /// Tells the mutator that the world runs again, and waits until it is through.
    pub(in super::super) fn go_on(&self) -> Result<()> {
        self.turns.go_on()
    }

    pub(in super::super) fn tid(&self) -> u32 {
        self.turns.tid()
    }

    /// When the handler read the fault's event.
    pub(in super::super) fn fault_begin_ns(&self) -> u64 {
        self.delays.last_event_ns.load(Ordering::Acquire)
    }

    pub(in super::super) fn delays(&self) -> &Delays {
        &self.delays
    }
}

/// One fault.
struct Turn(Pages);

// SAFETY: the pages belong to a region that outlives the thread, which alone touches them.
unsafe impl Send for Turn {}

impl Turn {
    fn take(self) {
        demo_mutator_reads_delayed_page(self.0);
    }
}

#[inline(never)]
fn demo_mutator_reads_delayed_page(pages: Pages) {
    pages.read_each(13);
}
