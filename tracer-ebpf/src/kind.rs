//! What a fault changed: `kmem:rss_stat` on the faulting thread, between the fault's begin and end.

use aya_ebpf::programs::TracePointContext;
use tracer_common::fault::seen;

use crate::{
    settings::{RSS_CURR, RSS_MEMBER},
    target::traced,
    thread,
    tracepoint::tracepoint,
};

tracepoint!(resident_changed);

/// A counter of a process's resident memory changed.
#[inline(always)]
fn resident_changed(ctx: TracePointContext) {
    let Some(ids) = traced() else { return };
    let Some(state) = thread::known(ids) else { return };
    // Reclaim inside a fault swaps other pages out, perhaps of this very process: that is not what the fault did.
    if state.begin_ns == 0 || state.reclaim_begin_ns != 0 {
        return;
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
        return;
    }
    state.seen |= match member {
        0 => seen::FILE,
        1 => seen::ANON,
        2 => seen::SWAP,
        3 => seen::SHARED,
        _ => 0,
    };
}
