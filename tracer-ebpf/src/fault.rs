//! Faults: begin and end, paired per thread; totals of the window that is open; details for the reader.

use core::ffi::c_void;

use aya_ebpf::{
    EbpfContext as _,
    bindings::BPF_RB_NO_WAKEUP,
    helpers::bpf_ktime_get_ns,
    macros::perf_event,
    programs::{PerfEventContext, TracePointContext},
};
use tracer_common::{
    fault::{FaultRecord, classify, seen},
    loss::Loss,
    pause::WindowRecord,
    stack::TAG_FAULT,
    thread::{ThreadState, freeing},
};

use crate::{
    loss, registers, schedule,
    settings::{FAULT_ADDRESS, FAULT_ERROR_CODE, FAULT_IP, RSS_EXACT},
    stack::{self, DETAILS},
    stack_copy,
    target::{Ids, traced},
    thread,
    tracepoint::tracepoint,
    window, worker,
};

tracepoint!(fault_begin_user);

/// `exceptions:page_fault_user`: a fault from user mode begins; the error code is known.
#[inline(always)]
fn fault_begin_user(ctx: TracePointContext) {
    let Some(ids) = traced() else { return };
    // SAFETY: the offsets are those of the kernel's own format file.
    let (address, ip, code) = unsafe {
        (
            ctx.read_at::<u64>(FAULT_ADDRESS.load() as usize).unwrap_or(0),
            ctx.read_at::<u64>(FAULT_IP.load() as usize).unwrap_or(0),
            ctx.read_at::<u64>(FAULT_ERROR_CODE.load() as usize).unwrap_or(0),
        )
    };
    // Intel SDM vol. 3, 4.7: bit 0 is set for a protection fault, bit 1 for a write.
    let mut bits = seen::ERROR_CODE;
    if code & 1 != 0 {
        bits |= seen::PRESENT;
    }
    if code & 2 != 0 {
        bits |= seen::WRITE;
    }
    begin(ids, address, ip, bits);
}

/// The software event `PAGE_FAULTS` of a thread: every fault on a user address, from user or kernel mode. Where
/// the tracepoint above is in use the event is opened for kernel mode only.
#[perf_event]
pub fn fault_begin_software(ctx: PerfEventContext) -> u32 {
    let Some(ids) = traced() else { return 0 };
    // SAFETY: the verifier checks these reads of the context.
    let (address, regs) = unsafe { ((*ctx.ctx).addr, &(*ctx.ctx).regs) };
    let bits = if registers::in_kernel_mode(regs) { seen::KERNEL_MODE } else { 0 };
    begin(ids, address, registers::instruction(regs), bits);
    0
}

/// The software event `PAGE_FAULTS_MIN` of a thread: a fault has been handled without I/O.
#[perf_event]
pub fn fault_end_minor(ctx: PerfEventContext) -> u32 {
    end(&ctx, 0);
    0
}

/// The software event `PAGE_FAULTS_MAJ` of a thread: a fault has been handled with I/O, or after a wait.
#[perf_event]
pub fn fault_end_major(ctx: PerfEventContext) -> u32 {
    end(&ctx, seen::MAJOR);
    0
}

#[inline(always)]
fn begin(ids: Ids, address: u64, ip: u64, bits: u32) {
    // First of all: what follows is our own time, and belongs to the fault rather than to nothing.
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    let Some(state) = thread::known_or_new(ids) else { return };
    schedule::runs(ids, state, now_ns);
    if state.begin_ns != 0 {
        abandon(ids, state, now_ns);
    }
    state.address = address;
    state.ip = ip;
    state.seen = bits;
    state.freeing = freeing::NOTHING;
    state.reclaim_ns = 0;
    state.reclaiming_ns = 0;
    state.compact_ns = 0;
    state.compacting_ns = 0;
    state.blocked_ns = 0;
    state.waiting_ns = 0;
    state.longest_block_ns = 0;
    state.block_stack = 0;
    state.read_bytes = 0;
    state.read_requests = 0;
    state.device = 0;
    state.huge_bytes = 0;
    state.begin_ns = now_ns;
}

/// A fault whose end nothing told, and no signal either. When it really ended is not known, so its time is nobody's.
#[inline(always)]
pub fn abandon(ids: Ids, state: &mut ThreadState, now_ns: u64) {
    loss::count(Loss::FaultEndMissing);
    if let Some(window) = window::driven_by(ids, state) {
        window.outside.unknown_ns += now_ns.saturating_sub(state.begin_ns);
    }
    state.begin_ns = 0;
}

#[inline(always)]
fn end(ctx: &PerfEventContext, bits: u32) {
    let Some(ids) = traced() else { return };
    let Some(state) = thread::known_or_new(ids) else { return };
    let first = state.major == 0 && state.minor == 0;
    if state.begin_ns == 0 && !first {
        // A thread that was born while the events were being put in place can have them twice.
        return;
    }
    if bits & seen::MAJOR != 0 {
        state.major += 1;
    } else {
        state.minor += 1;
    }
    if state.begin_ns == 0 {
        loss::count(Loss::FaultBeginMissing);
        return;
    }
    // SAFETY: the verifier checks this read of the context.
    stack_copy::note_registers(ids, state.begin_ns, unsafe { &(*ctx.ctx).regs });
    finish(ctx.as_ptr(), ids, state, bits);
}

/// The fault in progress ends: if a window is open it is counted there, clipped, and its detail is sent.
#[inline(always)]
pub fn finish(ctx: *mut c_void, ids: Ids, state: &mut ThreadState, bits: u32) {
    // SAFETY: the helper has no preconditions.
    let end_ns = unsafe { bpf_ktime_get_ns() };
    // While it is still in the fault, so that the fault gets the time.
    schedule::runs(ids, state, end_ns);
    let begin_ns = state.begin_ns;
    state.begin_ns = 0;
    state.freeing = freeing::NOTHING;
    let Some((window, driver)) = window::of_thread(ids.keyed, ids.flags, state) else { return };
    if window::is_after(window, begin_ns) {
        return;
    }
    let opened_ns = window::opened_ns(window);
    let mut bits = bits | state.seen;
    if RSS_EXACT.load() != 0 {
        bits |= seen::COUNTERS_EXACT;
    }
    if driver {
        bits |= seen::DRIVER;
    }
    let inside_from_ns = if begin_ns < opened_ns {
        bits |= seen::BEGAN_BEFORE;
        opened_ns
    } else {
        begin_ns
    };
    let inside_ns = end_ns.saturating_sub(inside_from_ns);
    window::add(window, bits, classify(bits), inside_ns, state);
    if bits & seen::DRIVER == 0 && worker::fault_ended(ids.task, state, window, inside_ns) {
        bits |= seen::WORKER;
    }
    send(ctx, ids, state, window, bits, begin_ns, end_ns);
    window::add_tracing(window, bits, end_ns);
}

#[inline(always)]
fn send(
    ctx: *mut c_void,
    ids: Ids,
    state: &ThreadState,
    window: &WindowRecord,
    bits: u32,
    begin_ns: u64,
    end_ns: u64,
) {
    let walked = stack::walk(ctx, ids.tgid);
    let bits = if stack_copy::copy(ids, begin_ns) { bits | seen::STACK_COPIED } else { bits };
    let Some(mut entry) = DETAILS.reserve::<FaultRecord>(0) else {
        loss::count(Loss::FaultRingFull);
        return;
    };
    entry.write(FaultRecord {
        tag: TAG_FAULT,
        seen: if walked.cut { bits | seen::STACK_CUT } else { bits },
        window: window.window,
        stack: walked.stack,
        begin_ns,
        end_ns,
        address: state.address,
        ip: state.ip,
        reclaim_ns: state.reclaim_ns,
        compact_ns: state.compact_ns,
        blocked_ns: state.blocked_ns,
        waiting_ns: state.waiting_ns,
        kernel_stack: state.block_stack,
        read_bytes: state.read_bytes,
        read_requests: state.read_requests,
        device: state.device,
        huge_bytes: state.huge_bytes,
        tgid: ids.tgid,
        tid: ids.tid,
    });
    entry.submit(u64::from(BPF_RB_NO_WAKEUP));
}
