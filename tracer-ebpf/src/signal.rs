//! Faults that end in a signal: a JVM's safepoint poll, a guard page, a crash.
//!
//! Or that are given up because a signal waits: Go's preemption is one.
//!
//! A fault of the first sort has a begin and neither a minor nor a major end; the kernel sends the signal to the faulting
//! thread itself, in the middle of the fault.

use aya_ebpf::{
    EbpfContext as _,
    macros::raw_tracepoint,
    programs::{RawTracePointContext, TracePointContext},
};
use tracer_common::fault::seen;

use crate::{
    fault,
    settings::{SIGNAL_CODE, SIGNAL_NUMBER},
    target::traced,
    thread,
    tracepoint::tracepoint,
};

const SIGBUS: i32 = 7;
const SIGSEGV: i32 = 11;

tracepoint!(signal_sent);

/// `signal:signal_generate`, which runs on the sending thread.
#[inline(always)]
fn signal_sent(ctx: TracePointContext) {
    let Some(ids) = traced() else { return };
    let Some(state) = thread::known(ids) else { return };
    if state.begin_ns == 0 {
        return;
    }
    // SAFETY: the offsets are those of the kernel's own format file.
    let (number, code) = unsafe {
        (
            ctx.read_at::<i32>(SIGNAL_NUMBER.load() as usize).unwrap_or(0),
            ctx.read_at::<i32>(SIGNAL_CODE.load() as usize).unwrap_or(0),
        )
    };
    // A positive code is the kernel's own doing (SEGV_MAPERR and so on), not another process's kill(2).
    if (number == SIGSEGV || number == SIGBUS) && code > 0 {
        fault::finish(ctx.as_ptr(), ids, state, seen::SIGNAL);
    }
}

/// `signal:signal_deliver`, which runs on the receiving thread when it goes back to the program. A fault that is still
/// in progress then was given up for the signal (Linux `fault_signal_pending`): the thread will come back for the page.
#[raw_tracepoint]
pub fn signal_delivered(ctx: RawTracePointContext) -> i32 {
    let Some(ids) = traced() else { return 0 };
    if let Some(state) = thread::known(ids)
        && state.begin_ns != 0
    {
        fault::finish(ctx.as_ptr(), ids, state, seen::GIVEN_UP);
    }
    0
}
