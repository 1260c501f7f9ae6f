//! What a fault changed: `kmem:rss_stat` on the faulting thread, between the fault's begin and end.

use aya_ebpf::{macros::tracepoint, programs::TracePointContext};
use tracer_common::fault::seen;

use crate::{
    PASS_ON,
    settings::{RSS_CURR, RSS_MEMBER},
    target::traced,
    thread,
};

/// A counter of a process's resident memory changed.
#[tracepoint]
pub fn resident_changed(ctx: TracePointContext) -> u32 {
    let Some(ids) = traced() else { return PASS_ON };
    let Some(state) = thread::known(ids) else { return PASS_ON };
    // Reclaim inside a fault swaps other pages out, perhaps of this very process: that is not what the fault did.
    if state.begin_ns == 0 || state.reclaim_begin_ns != 0 {
        return PASS_ON;
    }
    // SAFETY: the offsets are those of the kernel's own format file.
    let (curr, member) = unsafe {
        (
            ctx.read_at::<u32>(RSS_CURR.load() as usize).unwrap_or(0),
            ctx.read_at::<i32>(RSS_MEMBER.load() as usize).unwrap_or(-1),
        )
    };
    // Only the low byte: the field is a bool on some kernels.
    if curr & 0xff == 0 {
        return PASS_ON;
    }
    state.seen |= match member {
        0 => seen::FILE,
        1 => seen::ANON,
        2 => seen::SWAP,
        3 => seen::SHARED,
        _ => 0,
    };
    PASS_ON
}
