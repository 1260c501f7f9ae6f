//! Threads that end: their totals, their windows, and their places in the tables.

use aya_ebpf::{macros::raw_tracepoint, programs::RawTracePointContext};

use crate::{pause, stack, target::traced, thread, window};

/// `sched:sched_process_exit`. A thread ends: its totals go to its process. It is switched a few times more, so its place in
/// the table is kept until the kernel forgets it.
#[raw_tracepoint]
pub fn thread_exit(_ctx: RawTracePointContext) -> i32 {
    let Some(ids) = traced() else { return 0 };
    let (mut minor, mut major) = (0, 0);
    if let Some(state) = thread::known(ids) {
        (minor, major) = (state.minor, state.major);
        state.minor = 0;
        state.major = 0;
        state.ended = 1;
    }
    window::thread_ended(ids, minor, major);
    pause::thread_ends(ids);
    0
}

/// `sched:sched_process_free`. The kernel forgets a thread: its name can be another thread's from here on.
#[raw_tracepoint]
pub fn thread_freed(ctx: RawTracePointContext) -> i32 {
    let task = ctx.arg::<u64>(0);
    if let Some(state) = thread::of_task(task) {
        window::forget_thread(state.tgid, state.tid);
        stack::forget_thread(task);
    }
    thread::forget(task);
    0
}
