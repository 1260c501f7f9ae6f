//! A mutator that computes when the stop is requested, and goes on for a set amount of CPU time before it reaches a
//! point where it can be stopped. It has a CPU of its own.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::Result;

use super::super::{
    clock::{nanoseconds, now_ns, thread_cpu_ns},
    computing::{compute_a_little, compute_for},
    pinning::{self, Cpu},
    world,
};
use super::turns::Turns;

/// Long enough to run through everything.
const REHEARSAL_NS: u64 = 20_000;

/// The thread.
#[derive(Debug)]
pub(in super::super) struct ComputingMutator {
    turns: Turns,
    shared: Arc<Shared>,
}

/// What it says of its turn.
#[derive(Debug, Default)]
struct Shared {
    /// How many turns it has begun.
    begun: AtomicU32,
    /// From seeing the request to being ready to stop.
    elapsed_ns: AtomicU64,
    /// The CPU time that it used meanwhile.
    cpu_ns: AtomicU64,
}

impl ComputingMutator {
    /// Starts the thread and has it compute and stop once, as a rehearsal.
    pub(in super::super) fn prepare(time: Duration, cpu: Cpu) -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let turn = |waits_for_request, cpu_ns| {
            let shared = Arc::clone(&shared);
            move || {
                // Should it fail, it computes where the kernel puts it.
                let _ = pinning::pin_to(cpu);
                demo_mutator_computes(&shared, waits_for_request, cpu_ns);
            }
        };
        let turns = Turns::start([turn(false, REHEARSAL_NS), turn(true, nanoseconds(time))])?;
        Ok(Self { turns, shared })
    }

    /// Returns when the mutator is computing.
    pub(in super::super) fn begin(&self) -> Result<()> {
        self.turns.begin()?;
        // The rehearsal was the first.
        while self.shared.begun.load(Ordering::Acquire) < 2 {
            thread::sleep(Duration::from_micros(50));
        }
        Ok(())
    }

    /// Tells the mutator that the world runs again, and waits until it is through.
    pub(in super::super) fn go_on(&self) -> Result<()> {
        self.turns.go_on()
    }

    pub(in super::super) fn tid(&self) -> u32 {
        self.turns.tid()
    }

    pub(in super::super) fn elapsed_ns(&self) -> u64 {
        self.shared.elapsed_ns.load(Ordering::Acquire)
    }

    pub(in super::super) fn cpu_ns(&self) -> u64 {
        self.shared.cpu_ns.load(Ordering::Acquire)
    }
}

#[inline(never)]
fn demo_mutator_computes(shared: &Shared, waits_for_request: bool, cpu_ns: u64) {
    shared.begun.fetch_add(1, Ordering::AcqRel);
    let mut number = 15;
    while waits_for_request && !world::stop_requested() {
        number = compute_a_little(number);
    }
    let (begin_ns, begin_cpu_ns) = (now_ns(), thread_cpu_ns());
    compute_for(cpu_ns, number);
    shared.cpu_ns.store(thread_cpu_ns() - begin_cpu_ns, Ordering::Release);
    shared.elapsed_ns.store(now_ns() - begin_ns, Ordering::Release);
    black_box(number);
}
