//! The table of threads: the fault each one is in, and what its faults add up to.

use aya_ebpf::{macros::map, maps::HashMap, programs::TracePointContext};
use tracer_common::{loss::Loss, thread::ThreadState};

use crate::{
    loss, pause,
    target::{Ids, traced},
    tracepoint::tracepoint,
};

/// By thread id. The size can be set when the object is loaded.
#[map]
static THREADS: HashMap<u32, ThreadState> = HashMap::with_max_entries(32768, 0);

/// The thread's state, if it has one.
#[inline(always)]
pub fn known(ids: Ids) -> Option<&'static mut ThreadState> {
    // SAFETY: only the thread itself writes to its state, and it is removed by the thread itself when it ends.
    THREADS.get_ptr_mut(ids.tid).map(|state| unsafe { &mut *state })
}

/// The thread's state, made if it has none. `None`: the table is full, which is counted.
#[inline(always)]
pub fn known_or_new(ids: Ids) -> Option<&'static mut ThreadState> {
    if let Some(state) = known(ids) {
        return Some(state);
    }
    let fresh = ThreadState {
        begin_ns: 0,
        address: 0,
        ip: 0,
        reclaim_begin_ns: 0,
        reclaim_ns: 0,
        seen: 0,
        tgid: ids.tgid,
        minor: 0,
        major: 0,
    };
    if THREADS.insert(ids.tid, fresh, 0).is_err() {
        loss::count(Loss::ThreadTableFull);
        return None;
    }
    known(ids)
}

tracepoint!(thread_exit);

/// A thread ends: its totals go to its process, its place in the table is free.
#[inline(always)]
fn thread_exit(_ctx: TracePointContext) {
    let Some(ids) = traced() else { return };
    let (minor, major) = match known(ids) {
        Some(state) => (state.minor, state.major),
        None => (0, 0),
    };
    pause::thread_ended(ids, minor, major);
    let _ = THREADS.remove(ids.tid);
}
