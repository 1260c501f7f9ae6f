//! Time that a thread spends to get free memory: direct reclaim, reclaim at a memory cgroup's limit, compaction; in a
//! fault, or elsewhere on the driver of a pause.

use aya_ebpf::{helpers::bpf_ktime_get_ns, macros::raw_tracepoint, programs::RawTracePointContext};
use tracer_common::{fault::seen, thread::freeing};

use crate::{schedule, target::traced, thread, window};

/// `vmscan:mm_vmscan_direct_reclaim_begin` and `vmscan:mm_vmscan_memcg_reclaim_begin`.
#[raw_tracepoint]
pub fn reclaim_begin(_ctx: RawTracePointContext) -> i32 {
    begin(freeing::RECLAIM, seen::RECLAIM);
    0
}

/// `vmscan:mm_vmscan_direct_reclaim_end` and `vmscan:mm_vmscan_memcg_reclaim_end`.
#[raw_tracepoint]
pub fn reclaim_end(_ctx: RawTracePointContext) -> i32 {
    end(freeing::RECLAIM);
    0
}

/// `compaction:mm_compaction_begin`.
#[raw_tracepoint]
pub fn compact_begin(_ctx: RawTracePointContext) -> i32 {
    begin(freeing::COMPACTION, seen::COMPACTED);
    0
}

/// `compaction:mm_compaction_end`.
#[raw_tracepoint]
pub fn compact_end(_ctx: RawTracePointContext) -> i32 {
    end(freeing::COMPACTION);
    0
}

#[inline(always)]
fn begin(what: u32, bit: u32) {
    let Some(ids) = traced() else { return };
    let Some(state) = thread::known(ids) else { return };
    // One inside the other is part of the outer one.
    if state.freeing != freeing::NOTHING || (state.begin_ns == 0 && window::driven_by(ids, state).is_none()) {
        return;
    }
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    schedule::runs(ids, state, now_ns);
    state.freeing_begin_ns = now_ns;
    state.freeing_waiting_ns = 0;
    state.freeing = what;
    state.seen |= bit;
}

#[inline(always)]
fn end(what: u32) {
    let Some(ids) = traced() else { return };
    let Some(state) = thread::known(ids) else { return };
    if state.freeing != what {
        return;
    }
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    schedule::runs(ids, state, now_ns);
    state.freeing = freeing::NOTHING;
    let whole_ns = now_ns.saturating_sub(state.freeing_begin_ns);
    let own_ns = whole_ns.saturating_sub(state.freeing_waiting_ns);
    if state.begin_ns != 0 {
        if what == freeing::RECLAIM {
            state.reclaim_ns += whole_ns;
            state.reclaiming_ns += own_ns;
        } else {
            state.compact_ns += whole_ns;
            state.compacting_ns += own_ns;
        }
    } else if let Some(window) = window::driven_by(ids, state) {
        if what == freeing::RECLAIM {
            window.outside.reclaiming_ns += own_ns;
        } else {
            window.outside.compacting_ns += own_ns;
        }
    }
}
