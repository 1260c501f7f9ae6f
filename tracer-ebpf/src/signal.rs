//! Faults that end in a signal: a JVM's safepoint poll, a guard page, a crash.
//!
//! Such a fault has a begin and neither a minor nor a major end; the kernel sends the signal to the faulting
//! thread itself, in the middle of the fault.

use aya_ebpf::{EbpfContext as _, macros::tracepoint, programs::TracePointContext};
use tracer_common::fault::seen;

use crate::{
    PASS_ON, fault,
    settings::{SIGNAL_CODE, SIGNAL_NUMBER},
    target::traced,
    thread,
};

const SIGBUS: i32 = 7;
const SIGSEGV: i32 = 11;

/// `signal:signal_generate`, which runs on the sending thread.
#[tracepoint]
pub fn signal_sent(ctx: TracePointContext) -> u32 {
    let Some(ids) = traced() else { return PASS_ON };
    let Some(state) = thread::known(ids) else { return PASS_ON };
    if state.begin_ns == 0 {
        return PASS_ON;
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
    PASS_ON
}
