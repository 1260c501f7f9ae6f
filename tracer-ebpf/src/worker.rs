//! Workers: threads that work for a pause besides its driver. What each did in a window is added up while the window is
//! open, and sent when it closes.

use aya_ebpf::{bindings::BPF_RB_NO_WAKEUP, macros::map, maps::HashMap};
use tracer_common::{
    loss::Loss,
    pause::WindowRecord,
    stack::TAG_WORKER,
    thread::{ThreadState, WORKERS, WorkerRecord, Workers, cpu},
};

use crate::{loss, stack::DETAILS, thread, window};

/// By process; the user side writes it.
#[map]
static PROCESS_WORKERS: HashMap<u32, Workers> = HashMap::with_max_entries(1024, 0);

/// By thread id; the user side makes the places.
#[map]
static WORKER_SUMS: HashMap<u32, WorkerRecord> = HashMap::with_max_entries(4096, 0);

/// The worker's sums of this window, begun anew if it is the first that is heard of the worker in it.
#[inline(always)]
fn sums(tid: u32, window: u64) -> Option<&'static mut WorkerRecord> {
    // SAFETY: a live map value. Like the thread's own state it is written where the thread is switched or faults; the
    // driver reads it when it closes the window.
    let sums = WORKER_SUMS.get_ptr_mut(tid).map(|sums| unsafe { &mut *sums })?;
    if sums.window != window {
        sums.window = window;
        sums.faults = 0;
        sums.fault_ns = 0;
        sums.fault_blocked_ns = 0;
        sums.fault_waiting_ns = 0;
        sums.fault_reclaiming_ns = 0;
        sums.fault_compacting_ns = 0;
        sums.blocked_ns = 0;
        sums.waiting_ns = 0;
    }
    Some(sums)
}

/// The window closes: every worker's sums are sent, with what it is in the middle of.
///
/// A function of its own in the object, visible from outside: then the verifier looks at it once, and not once for every
/// way that leads here.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn window_closes(tgid: u32, window: u64) -> u32 {
    let Some(workers) = PROCESS_WORKERS.get_ptr(tgid) else { return 0 };
    for index in 0..WORKERS {
        // SAFETY: inside a live map value.
        let tid = unsafe { (*workers).tids[index] };
        if tid == 0 {
            return 0;
        }
        let Some(sums) = sums(tid, window) else { continue };
        let Some(mut entry) = DETAILS.reserve::<WorkerRecord>(0) else {
            loss::count(Loss::WorkerRingFull);
            continue;
        };
        let mut record = *sums;
        record.tag = TAG_WORKER;
        record.tid = tid;
        record.tgid = tgid;
        record.cpu = cpu::UNKNOWN;
        if let Some(state) = thread::of_task(sums.task) {
            record.cpu = state.cpu;
            record.switched_ns = state.switched_ns;
            record.woken_ns = state.woken_ns;
            record.begin_ns = state.begin_ns;
        }
        entry.write(record);
        entry.submit(u64::from(BPF_RB_NO_WAKEUP));
    }
    0
}

/// When a thread was without a CPU, in ns: lost, ready to run, back.
#[derive(Clone, Copy)]
pub struct Off {
    pub from_ns: u64,
    pub ready_ns: u64,
    pub to_ns: u64,
}

/// A worker has a CPU again: its time without one, as far as it is in the window.
#[inline(always)]
pub fn back(task: u64, state: &mut ThreadState, window: &WindowRecord, off: Off, freeing: bool) {
    let Some(sums) = sums(state.tid, window.window) else { return };
    sums.task = task;
    state.worker = 1;
    let from_ns = later(off.from_ns, window::opened_ns(window));
    let ready_ns = later(off.ready_ns, from_ns);
    let blocked_ns = if freeing { 0 } else { ready_ns - from_ns };
    let waiting_ns = off.to_ns.saturating_sub(ready_ns);
    if state.begin_ns != 0 {
        sums.fault_blocked_ns += blocked_ns;
        sums.fault_waiting_ns += waiting_ns;
    } else {
        sums.blocked_ns += blocked_ns;
        sums.waiting_ns += waiting_ns;
    }
}

/// A fault of a thread other than the driver has ended. Whether the thread is a worker.
#[inline(always)]
pub fn fault_ended(task: u64, state: &ThreadState, window: &WindowRecord, inside_ns: u64) -> bool {
    let Some(sums) = sums(state.tid, window.window) else { return false };
    sums.task = task;
    sums.faults += 1;
    sums.fault_ns += inside_ns;
    sums.fault_reclaiming_ns += state.reclaiming_ns;
    sums.fault_compacting_ns += state.compacting_ns;
    true
}

#[inline(always)]
fn later(a: u64, b: u64) -> u64 {
    if a > b { a } else { b }
}
