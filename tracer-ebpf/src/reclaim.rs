//! Time that a fault spends reclaiming memory: direct reclaim, and reclaim at a memory cgroup's limit.

use aya_ebpf::{helpers::bpf_ktime_get_ns, programs::TracePointContext};
use tracer_common::fault::seen;

use crate::{target::traced, thread, tracepoint::tracepoint};

tracepoint!(reclaim_begin);

/// `vmscan:mm_vmscan_direct_reclaim_begin` and `vmscan:mm_vmscan_memcg_reclaim_begin`.
#[inline(always)]
fn reclaim_begin(_ctx: TracePointContext) {
    let Some(ids) = traced() else { return };
    if let Some(state) = thread::known(ids)
        && state.begin_ns != 0
    {
        // SAFETY: the helper has no preconditions.
        state.reclaim_begin_ns = unsafe { bpf_ktime_get_ns() };
        state.seen |= seen::RECLAIM;
    }
}

tracepoint!(reclaim_end);

/// `vmscan:mm_vmscan_direct_reclaim_end` and `vmscan:mm_vmscan_memcg_reclaim_end`.
#[inline(always)]
fn reclaim_end(_ctx: TracePointContext) {
    let Some(ids) = traced() else { return };
    if let Some(state) = thread::known(ids)
        && state.reclaim_begin_ns != 0
    {
        // SAFETY: the helper has no preconditions.
        state.reclaim_ns += unsafe { bpf_ktime_get_ns() } - state.reclaim_begin_ns;
        state.reclaim_begin_ns = 0;
    }
}
