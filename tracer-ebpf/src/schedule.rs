//! Did a thread sleep inside a fault? Then somebody else may have brought the page in.

use aya_ebpf::{macros::tracepoint, programs::TracePointContext};
use tracer_common::fault::seen;

use crate::{PASS_ON, settings::SWITCH_PREVIOUS_STATE, target::traced, thread};

/// States in which a thread waits; above them are marks such as "was preempted" (Linux `TASK_REPORT`).
const WAITING: u64 = 0xff;

/// `sched:sched_switch`, which runs on the thread that is switched away from.
#[tracepoint]
pub fn switched_away(ctx: TracePointContext) -> u32 {
    let Some(ids) = traced() else { return PASS_ON };
    let Some(state) = thread::known(ids) else { return PASS_ON };
    if state.begin_ns == 0 {
        return PASS_ON;
    }
    // SAFETY: the offset is that of the kernel's own format file.
    let previous = unsafe { ctx.read_at::<u64>(SWITCH_PREVIOUS_STATE.load() as usize) }.unwrap_or(0);
    if previous & WAITING != 0 {
        state.seen |= seen::SLEPT;
    }
    PASS_ON
}
