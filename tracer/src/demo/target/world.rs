//! The demo's world: the two pause functions that a tracer probes, and what its mutators need to be stopped by them.

use std::{
    hint::black_box,
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::thread::futex;

static REASON: AtomicU32 = AtomicU32::new(0);
static STOP_REQUESTED: AtomicU32 = AtomicU32::new(0);
static RUNNING_MUTATORS: AtomicU32 = AtomicU32::new(0);
static RESTARTS: AtomicU32 = AtomicU32::new(0);

/// Stops the world: its entry is *requested*, its return is *stopped*.
///
/// The last statement is a store and not a call, so that the function returns by itself: a probe on return
/// instructions finds one.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn pauselens_demo_stop_world(reason: u32) {
    STOP_REQUESTED.store(1, Ordering::Release);
    demo_wait_for_mutators();
    REASON.store(black_box(reason), Ordering::Release);
}

/// Restarts the world: its entry is *restarting*, its return is *resumed*.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn pauselens_demo_start_world() {
    STOP_REQUESTED.store(0, Ordering::Release);
    black_box(RESTARTS.fetch_add(1, Ordering::AcqRel));
}

#[inline(never)]
fn demo_wait_for_mutators() {
    loop {
        let running = RUNNING_MUTATORS.load(Ordering::Acquire);
        if running == 0 {
            return;
        }
        // An error means that the number has changed, or a signal: both are found out by looking again.
        let _ = futex::wait(&RUNNING_MUTATORS, futex::Flags::PRIVATE, running, None);
    }
}

/// Whether the world is to stop, or has stopped.
pub(super) fn stop_requested() -> bool {
    STOP_REQUESTED.load(Ordering::Acquire) != 0
}

/// A mutator begins to run: the world is not stopped until it has called [`mutator_stops`].
pub(super) fn mutator_runs() {
    RUNNING_MUTATORS.fetch_add(1, Ordering::AcqRel);
}

/// A mutator has reached a point where it can be held up.
#[inline(never)]
pub(super) fn mutator_stops() {
    RUNNING_MUTATORS.fetch_sub(1, Ordering::AcqRel);
    // There is nothing to do about an error: the waiter looks at the number.
    let _ = futex::wake(&RUNNING_MUTATORS, futex::Flags::PRIVATE, 1);
}

/// Touches the code and the data of the pause functions without calling them, so that their first call faults
/// nothing: a call would be a pause to whoever traces the process.
pub(super) fn rehearse() {
    let functions = [
        pauselens_demo_stop_world as *const u8,
        pauselens_demo_start_world as *const u8,
        demo_wait_for_mutators as *const u8,
    ];
    for function in functions {
        // SAFETY: the address of a function of this program: at least one byte of readable code is there.
        black_box(unsafe { function.read_volatile() });
    }
    for word in [&REASON, &STOP_REQUESTED, &RUNNING_MUTATORS, &RESTARTS] {
        // Through a black box: the compiler makes a mere read of an addition of 0.
        word.fetch_add(black_box(0), Ordering::AcqRel);
    }
}
