//! The thread: reads the event of a fault, waits, answers.

use std::{
    array,
    num::NonZeroU64,
    os::fd::{AsFd as _, OwnedFd},
    process,
    sync::Arc,
    thread::{Builder, JoinHandle},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    io::Errno,
    thread::set_current_timer_slack,
};

use super::{
    super::super::{
        clock::{nanoseconds, now_ns, sleep_until},
        memory::Pages,
    },
    Delays, abi, descriptor,
};

/// A thread that answers the faults on a run of pages; it ends when this is dropped.
#[derive(Debug)]
pub(in super::super::super) struct FaultHandler {
    pub(in super::super::super) delays: Arc<Delays>,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl FaultHandler {
    pub(in super::super::super) fn start(pages: Pages, delay: Duration) -> Result<Self> {
        let userfaults = descriptor::open()?;
        descriptor::register(&userfaults, pages)?;
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).context("eventfd failed")?);
        let delays = Arc::new(Delays::new());
        let thread = Builder::new()
            .name("userfault".to_owned())
            .spawn({
                let (stop, delays) = (Arc::clone(&stop), Arc::clone(&delays));
                move || answer_until_stopped(&userfaults, &stop, delay, &delays)
            })
            .context("could not start the userfaultfd handler")?;
        Ok(Self { delays, stop, thread: Some(thread) })
    }
}

impl Drop for FaultHandler {
    fn drop(&mut self) {
        // The only error is a full counter.
        let _ = rustix::io::write(&*self.stop, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, the message is on standard error already.
            let _ = thread.join();
        }
    }
}

fn answer_until_stopped(userfaults: &OwnedFd, stop: &OwnedFd, delay: Duration, delays: &Delays) {
    // The default slack of 50 µs would be part of every delay. Without it they are only less even.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let contents = vec![0x5a_u8; rustix::param::page_size()];
    loop {
        let mut ready = [
            PollFd::from_borrowed_fd(userfaults.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN),
        ];
        if poll(&mut ready, None).is_err() {
            continue;
        }
        if !ready[1].revents().is_empty() {
            return;
        }
        if let Err(error) = answer(userfaults, &contents, delay, delays) {
            // The faulting thread would wait for ever.
            eprintln!("demo-target: the userfaultfd handler failed: {error:#}");
            process::exit(1);
        }
    }
}

fn answer(userfaults: &OwnedFd, contents: &[u8], delay: Duration, delays: &Delays) -> Result<()> {
    let mut event = [0_u8; abi::EVENT_BYTES];
    let got = match rustix::io::read(userfaults, &mut event) {
        // The faulting thread was woken by something else and will come again.
        Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
        got => got.context("could not read an event")?,
    };
    if got != event.len() || event[0] != abi::EVENT_PAGEFAULT {
        bail!("an event of {got} bytes and type {:#x} is not a page fault", event[0]);
    }
    let begin_ns = now_ns();
    delays.begin(begin_ns);
    sleep_until(begin_ns + nanoseconds(delay));
    // Noted before the answer, so that whoever continues after it sees the number.
    delays.end(now_ns() - begin_ns);
    let address = u64::from_ne_bytes(array::from_fn(|index| event[abi::EVENT_ADDRESS + index]));
    let page_bytes = contents.len() as u64;
    descriptor::copy(userfaults, address & !(page_bytes - 1), contents)
}
