//! Threads that fault all the time, whether the world is stopped or not: bystanders, which belong to no pause, and such
//! that are called workers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{Builder, JoinHandle},
};

use anyhow::{Context as _, Result};

use super::super::{
    counters::Faults,
    memory::{Pages, Region},
    stats::BystanderStats,
};
use super::tid;

/// The threads.
#[derive(Debug)]
pub(in super::super) struct Bystanders {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<BystanderStats>>,
}

impl Bystanders {
    /// Starts so many bystanders, and so many that are called workers.
    pub(in super::super) fn start(bystanders: usize, workers: usize) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let names = (0..bystanders).map(|number| format!("bystander-{number}"));
        let names = names.chain((0..workers).map(|number| format!("worker-{number}")));
        let threads = names
            .map(|name| {
                let stop = Arc::clone(&stop);
                Builder::new()
                    .name(name)
                    .spawn(move || fault_until(&stop))
                    .context("could not start a bystander")
            })
            .collect::<Result<_>>()?;
        Ok(Self { stop, threads })
    }

    /// Stops them, and says how often they faulted.
    pub(in super::super) fn finish(self) -> Vec<BystanderStats> {
        self.stop.store(true, Ordering::Release);
        // A thread that panicked has said so itself.
        self.threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    }
}

fn fault_until(stop: &AtomicBool) -> BystanderStats {
    const PAGES: usize = 64;
    match Region::anonymous(PAGES) {
        Ok(region) => {
            while !stop.load(Ordering::Acquire) {
                demo_bystander_touches(region.all());
                // Should it fail, the thread does not fault any more, which its counters show.
                let _ = region.advise(libc::MADV_DONTNEED, "MADV_DONTNEED");
            }
        }
        Err(error) => eprintln!("demo-target: a bystander has no memory: {error:#}"),
    }
    let faults = Faults::of_this_thread();
    BystanderStats { tid: tid(), minflt: faults.minor, majflt: faults.major }
}

#[inline(never)]
fn demo_bystander_touches(pages: Pages) {
    pages.write_each(12);
}
