//! The probes of a pause: they open and close the process's window, and send its record at the end.

use aya_ebpf::{
    EbpfContext as _,
    bindings::BPF_RB_NO_WAKEUP,
    helpers::bpf_ktime_get_ns,
    macros::{map, uprobe},
    maps::RingBuf,
    programs::ProbeContext,
};
use aya_log_ebpf::{debug, warn};
use tracer_common::{
    loss::Loss,
    pause::{WindowRecord, flag, state},
    stack::TAG_WINDOW,
    thread::cpu,
};

use crate::{
    fault, loss, registers, schedule, stack,
    target::{Ids, traced},
    thread,
    window::{process, window},
    worker,
};

/// Closed windows. A ring of their own, so that a flood of faults can't push a pause out.
#[map]
static PAUSES: RingBuf = RingBuf::with_byte_size(2 << 20, 0);

/// The stop is requested: the window opens.
#[uprobe]
pub fn pause_requested(ctx: ProbeContext) -> u32 {
    let Some(ids) = traced() else { return 0 };
    let Some(window) = window(ids.tgid) else { return 0 };
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    if window.state != state::CLOSED {
        warn!(&ctx, "pause {}: its end was missed", window.window);
        window.flags |= flag::END_MISSED;
        send(window);
    }
    open(window, ids);
    // The driver runs: what was noted of its last switch is done with. From here on its switches count.
    if let Some(state) = thread::known_or_new(ids) {
        if state.cpu != cpu::RUNNING {
            loss::count(Loss::SwitchUntold);
            state.cpu = cpu::RUNNING;
        }
        if state.begin_ns != 0 {
            fault::abandon(ids, state, now_ns);
        }
    }
    window.requested_ns = now_ns;
    // SAFETY: the probe's registers, valid while the program runs.
    let regs = unsafe { &*ctx.regs };
    window.at_requested = registers::arguments(regs);
    window.requested_caller = registers::return_address(regs);
    window.requested_stack = stack::walk_at_request(ctx.as_ptr(), ids.tgid).stack;
    window.state = state::REQUESTED;
    0
}

/// The world has stopped.
#[uprobe]
pub fn pause_stopped(_ctx: ProbeContext) -> u32 {
    let Some((_, window)) = open_or_join() else { return 0 };
    // SAFETY: the helper has no preconditions.
    window.stopped_ns = unsafe { bpf_ktime_get_ns() };
    window.state = state::STOPPED;
    0
}

/// The call that restarts the world begins.
#[uprobe]
pub fn pause_restarting(ctx: ProbeContext) -> u32 {
    let Some((_, window)) = open_or_join() else { return 0 };
    // SAFETY: the helper has no preconditions.
    window.restarting_ns = unsafe { bpf_ktime_get_ns() };
    // SAFETY: the probe's registers, valid while the program runs.
    window.at_restarting = registers::arguments(unsafe { &*ctx.regs });
    window.state = state::RESTARTING;
    0
}

/// The world runs again: the window closes and its record is sent.
#[uprobe]
pub fn pause_resumed(ctx: ProbeContext) -> u32 {
    let Some((ids, window)) = open_or_join() else { return 0 };
    // SAFETY: the helper has no preconditions.
    window.resumed_ns = unsafe { bpf_ktime_get_ns() };
    window.resumed_by = ids.tid;
    if let Some(state) = thread::known(ids)
        && state.begin_ns != 0
    {
        fault::abandon(ids, state, window.resumed_ns);
    }
    window.flags |= flag::RESUMED;
    if window.driver != ids.tid {
        window.flags |= flag::DRIVER_CHANGED;
    }
    if window.requested_ns != 0
        && let Some(process) = process(ids.tgid)
    {
        process.completed += 1;
        process.paused_ns += window.resumed_ns - window.requested_ns;
        for kind in &window.driver_totals.by_kind {
            process.faults += kind.count;
            process.in_faults_ns += kind.sum_ns;
        }
    }
    debug!(&ctx, "pause {} closed", window.window);
    worker::window_closes(window);
    send(window);
    window.state = state::CLOSED;
    0
}

/// The current process's open window; where none is open the pause had begun before the trace did.
#[inline(always)]
fn open_or_join() -> Option<(Ids, &'static mut WindowRecord)> {
    let ids = traced()?;
    let window = window(ids.tgid)?;
    if window.state == state::CLOSED {
        open(window, ids);
        window.flags = flag::OPEN_AT_ATTACH;
    }
    if let Some(state) = thread::known(ids) {
        // SAFETY: the helper has no preconditions.
        schedule::runs(ids.task, state, unsafe { bpf_ktime_get_ns() });
    }
    Some((ids, window))
}

/// Empties the window and gives it the next number.
#[inline(always)]
fn open(window: &mut WindowRecord, ids: Ids) {
    const WORDS: usize = size_of::<WindowRecord>() / 8;
    let words = (&raw mut *window).cast::<u64>();
    for index in 0..WORDS {
        // SAFETY: inside the record, which is a whole number of aligned words. Volatile, so that no call of
        // memset comes out of it.
        unsafe { words.add(index).write_volatile(0) };
    }
    window.tag = TAG_WINDOW;
    window.tgid = ids.tgid;
    window.driver = ids.tid;
    if let Some(process) = process(ids.tgid) {
        process.windows += 1;
        window.window = process.windows;
    }
}

#[inline(always)]
fn send(window: &WindowRecord) {
    if PAUSES.output::<WindowRecord>(window, u64::from(BPF_RB_NO_WAKEUP)).is_err() {
        loss::count(Loss::PauseRingFull);
    }
}
