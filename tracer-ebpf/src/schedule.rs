//! Did a thread sleep inside a fault? Then somebody else may have brought the page in.

use aya_ebpf::programs::TracePointContext;
use tracer_common::fault::seen;

use crate::{settings::SWITCH_PREVIOUS_STATE, target::traced, thread, tracepoint::tracepoint};

/// States in which a thread waits; above them are marks such as "was preempted" (Linux `TASK_REPORT`).
const WAITING: u64 = 0xff;

tracepoint!(switched_away);

/// `sched:sched_switch`, which runs on the thread that is switched away from.
#[inline(always)]
fn switched_away(ctx: TracePointContext) {
    let Some(ids) = traced() else { return };
    let Some(state) = thread::known(ids) else { return };
    if state.begin_ns == 0 {
        return;
    }
    // SAFETY: the offset is that of the kernel's own format file.
    let previous = unsafe { ctx.read_at::<u64>(SWITCH_PREVIOUS_STATE.load() as usize) }.unwrap_or(0);
    if previous & WAITING != 0 {
        state.seen |= seen::SLEPT;
    }
}
