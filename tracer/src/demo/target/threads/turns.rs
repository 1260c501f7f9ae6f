//! A mutator's thread: it takes a turn when told to, and then stays stopped until it is told that the world runs again.
//! The first turn is the rehearsal's.

use std::{
    hint::black_box,
    sync::mpsc::{Receiver, Sender, channel},
    thread::{Builder, JoinHandle},
};

use anyhow::{Context as _, Result, bail};

use super::{super::world, tid};

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turns {
    tid: u32,
    go: Option<Sender<()>>,
    done: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Turns {
    /// Starts the thread, and has it take the first of its turns: a rehearsal.
    pub(super) fn start<Turn: FnOnce() + Send + 'static>(turns: [Turn; 2]) -> Result<Self> {
        let (go, begin) = channel();
        let (end, done) = channel();
        let (say_tid, tid_said) = channel();
        let thread = Builder::new()
            .name("mutator".to_owned())
            .spawn(move || {
                // Waiting allocates, for which the memory is to be there before the pause.
                drop(black_box(vec![1_u8; 16 * 1024]));
                // The receiver is there until the thread has ended.
                let _ = say_tid.send(tid());
                for turn in turns {
                    if begin.recv().is_err() {
                        return;
                    }
                    turn();
                    world::mutator_stops();
                    // Stopped until told that the world runs again.
                    if begin.recv().is_err() {
                        return;
                    }
                    let _ = end.send(());
                }
            })
            .context("could not start the mutator")?;
        let tid = tid_said.recv().context("the mutator did not start")?;
        let turns = Self { tid, go: Some(go), done, thread: Some(thread) };
        turns.begin()?;
        turns.go_on()?;
        Ok(turns)
    }

    /// Has it begin its turn.
    pub(super) fn begin(&self) -> Result<()> {
        // Before the mutator goes, so that a stop can't overtake it.
        world::mutator_runs();
        self.tell().inspect_err(|_| world::mutator_stops())
    }

    /// Tells the mutator that the world runs again, and waits until it is through.
    pub(super) fn go_on(&self) -> Result<()> {
        self.tell()?;
        self.done.recv().context("the mutator ended early")
    }

    pub(super) fn tid(&self) -> u32 {
        self.tid
    }

    fn tell(&self) -> Result<()> {
        match &self.go {
            Some(go) if go.send(()).is_ok() => Ok(()),
            _ => bail!("the mutator ended early"),
        }
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        self.go = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, the message is on standard error already.
            let _ = thread.join();
        }
    }
}
