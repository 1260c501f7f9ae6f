//! Pause windows: opened and closed by uprobes, one per process; totals while they are open; a record at the end.

use aya_ebpf::{
    EbpfContext as _,
    bindings::BPF_RB_NO_WAKEUP,
    helpers::bpf_ktime_get_ns,
    macros::{map, uprobe},
    maps::{HashMap, RingBuf},
    programs::ProbeContext,
};
use aya_log_ebpf::{debug, warn};
use tracer_common::{
    fault::{Kind, seen},
    loss::Loss,
    pause::{ProcessTotals, WindowRecord, flag, state},
    stack::TAG_WINDOW,
    thread::{ThreadState, cpu},
};

pub use tracer_common::pause::state::CLOSED;

use crate::{
    fault, loss, registers, stack,
    target::{Ids, traced},
    thread, worker,
};

/// By process; the user side puts a zeroed value there before the gate opens. Left in place at the end, so that
/// a window which was cut off can be read from here.
#[map]
static WINDOWS: HashMap<u32, WindowRecord> = HashMap::with_max_entries(1024, 0);

/// By process, like `WINDOWS`.
#[map]
static PROCESSES: HashMap<u32, ProcessTotals> = HashMap::with_max_entries(1024, 0);

/// Closed windows. A ring of their own, so that a flood of faults can't push a pause out.
#[map]
static PAUSES: RingBuf = RingBuf::with_byte_size(2 << 20, 0);

/// The process's window, open or the last one.
#[inline(always)]
pub fn window(tgid: u32) -> Option<&'static mut WindowRecord> {
    // SAFETY: a live map value. Marks are written by the driver alone, totals of other threads atomically.
    WINDOWS.get_ptr_mut(tgid).map(|window| unsafe { &mut *window })
}

#[inline(always)]
fn process(tgid: u32) -> Option<&'static mut ProcessTotals> {
    // SAFETY: a live map value; window counts are written by the driver alone, thread counts atomically.
    PROCESSES.get_ptr_mut(tgid).map(|totals| unsafe { &mut *totals })
}

/// The open window that this thread drives.
#[inline(always)]
pub fn driven_by(ids: Ids) -> Option<&'static mut WindowRecord> {
    window(ids.tgid).filter(|window| window.state != state::CLOSED && window.driver == ids.tid)
}

/// How much anonymous memory the process has, as the kernel has just told it. Returns by how much that is more than the
/// last time; 0 when that is not known.
#[inline(always)]
pub fn anonymous_growth_bytes(tgid: u32, bytes: u64) -> u64 {
    let Some(process) = process(tgid) else { return 0 };
    let before = process.anonymous_bytes;
    process.anonymous_bytes = bytes;
    if before == 0 { 0 } else { bytes.saturating_sub(before) }
}

/// When the window opened, as far as that was seen.
#[inline(always)]
pub fn opened_ns(window: &WindowRecord) -> u64 {
    if window.requested_ns != 0 {
        window.requested_ns
    } else if window.stopped_ns != 0 {
        window.stopped_ns
    } else {
        window.restarting_ns
    }
}

/// Adds a fault to the window's totals: of the driver, which only the driver writes, or of the other threads.
#[inline(always)]
pub fn add(window: &mut WindowRecord, bits: u32, kind: Kind, ns: u64, state: &ThreadState) {
    let index = kind as usize;
    if index >= Kind::COUNT {
        return;
    }
    let totals = if bits & seen::DRIVER != 0 { &mut window.driver_totals } else { &mut window.other_totals };
    if bits & (seen::SIGNAL | seen::GIVEN_UP) == 0 {
        increase(if bits & seen::MAJOR != 0 { &mut totals.major } else { &mut totals.minor }, 1);
    }
    increase(&mut totals.reclaim_ns, state.reclaim_ns);
    increase(&mut totals.reclaiming_ns, state.reclaiming_ns);
    increase(&mut totals.compacting_ns, state.compacting_ns);
    increase(&mut totals.blocked_ns, state.blocked_ns);
    increase(&mut totals.waiting_ns, state.waiting_ns);
    increase(&mut totals.by_kind[index].count, 1);
    increase(&mut totals.by_kind[index].sum_ns, ns);
}

/// Adds what we ourselves took after a fault of the driver had ended: it is in the pause, but in none of its faults.
#[inline(always)]
pub fn add_tracing(window: &mut WindowRecord, bits: u32, end_ns: u64) {
    if bits & seen::DRIVER != 0 {
        // SAFETY: the helper has no preconditions.
        let now_ns = unsafe { bpf_ktime_get_ns() };
        increase(&mut window.driver_totals.tracing_ns, now_ns.saturating_sub(end_ns));
    }
}

#[inline(always)]
fn increase(counter: &mut u64, by: u64) {
    // The target is declared to have no read-modify-write atomics, but every kernel has this one (BPF_XADD).
    // SAFETY: aligned, live for the call, and only ever changed this way while it is shared.
    unsafe {
        core::arch::asm!("lock *(u64 *)({0} + 0) += {1}", in(reg) counter, in(reg) by, options(nostack))
    };
}

/// A thread ended: what it had counted stays with its process.
#[inline(always)]
pub fn thread_ended(ids: Ids, minor: u64, major: u64) {
    if let Some(process) = process(ids.tgid) {
        increase(&mut process.ended_threads, 1);
        increase(&mut process.ended_threads_minor, minor);
        increase(&mut process.ended_threads_major, major);
    }
}

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
        state.cpu = cpu::RUNNING;
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
