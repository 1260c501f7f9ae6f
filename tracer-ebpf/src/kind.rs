//! What a fault changed: `kmem:rss_stat` on the faulting thread, between the fault's begin and end.

use aya_ebpf::programs::TracePointContext;
use tracer_common::{
    fault::{is_huge, seen},
    thread::freeing,
};

use crate::{
    settings::{RSS_CURR, RSS_MEMBER, RSS_SIZE},
    target::traced,
    thread,
    tracepoint::tracepoint,
    window,
};

/// The member of anonymous pages.
const ANONYMOUS: i32 = 1;

tracepoint!(resident_changed);

/// A counter of a process's resident memory changed.
#[inline(always)]
fn resident_changed(ctx: TracePointContext) {
    let Some(ids) = traced() else { return };
    // SAFETY: the offsets are those of the kernel's own format file.
    let (curr, member, size) = unsafe {
        (
            ctx.read_at::<u32>(RSS_CURR.load() as usize).unwrap_or(0),
            ctx.read_at::<i32>(RSS_MEMBER.load() as usize).unwrap_or(-1),
            ctx.read_at::<u64>(RSS_SIZE.load() as usize).unwrap_or(0),
        )
    };
    // Only the low byte: the field is a bool on some kernels.
    if curr & 0xff == 0 {
        return;
    }
    let growth_bytes = if member == ANONYMOUS { window::anonymous_growth_bytes(ids.tgid, size) } else { 0 };
    let Some(state) = thread::known(ids) else { return };
    // Reclaim inside a fault swaps other pages out, perhaps of this very process: that is not what the fault did.
    if state.begin_ns == 0 || state.freeing != freeing::NOTHING {
        return;
    }
    state.seen |= match member {
        0 => seen::FILE,
        ANONYMOUS => seen::ANON,
        2 => seen::SWAP,
        3 => seen::SHARED,
        _ => 0,
    };
    if is_huge(growth_bytes) {
        state.seen |= seen::HUGE;
        state.huge_bytes = growth_bytes;
    }
}
