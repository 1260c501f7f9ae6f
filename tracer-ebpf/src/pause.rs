//! The probes of a window: they open and close it, and send its record at the end.

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
    pause::{ShortRecord, WindowRecord, flag, keyed, state, windows},
    stack::{TAG_SHORT, TAG_WINDOW},
    thread::{ThreadState, cpu},
};

use crate::{
    call, fault, loss, registers, schedule, stack,
    target::{Ids, settings_of, watched},
    thread,
    window::{self, closed, complete, opened, own_or_new},
    worker,
};

/// Closed windows. A ring of their own, so that a flood of faults can't push a pause out.
#[map]
static PAUSES: RingBuf = RingBuf::with_byte_size(4 << 20, 0);

/// The stop is requested, or a call begins: the window opens.
#[uprobe]
pub fn pause_requested(ctx: ProbeContext) -> u32 {
    let Some(ids) = watched() else { return 0 };
    // SAFETY: the probe's registers, valid while the program runs.
    let regs = unsafe { &*ctx.regs };
    let goroutine = call::goroutine(ids, regs);
    let Some(window) = own_or_new(ids, goroutine) else { return 0 };
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    let depth_bytes = call::depth_bytes(ids, regs, goroutine);
    if window.state != state::CLOSED {
        if is_inner(ids, window, depth_bytes) {
            window.inner += 1;
            window.inner_open += 1;
            return 0;
        }
        if ids.flags & windows::CALLS != 0 {
            window.flags |= flag::LEFT;
        } else {
            warn!(&ctx, "pause {}: its end was missed", window.window);
            window.flags |= flag::END_MISSED;
        }
        closed(ids);
        send(window);
    }
    open(window, ids, goroutine);
    window.depth_bytes = depth_bytes;
    // Without a place in the table of threads its faults are not seen, but the window is.
    if let Some(thread) = thread::known_or_new(ids) {
        window.outer_goroutine = thread.goroutine;
        thread.goroutine = goroutine;
        // The driver runs: what was noted of its last switch is done with. From here on its switches count.
        if thread.cpu != cpu::RUNNING {
            loss::count(Loss::SwitchUntold);
            thread.cpu = cpu::RUNNING;
        }
        if thread.begin_ns != 0 {
            fault::abandon(ids, thread, now_ns);
        }
    }
    window.requested_ns = now_ns;
    // From here on it counts, also while the rest is written down: a probe in the program's code can be preempted.
    window.state = state::REQUESTED;
    registers::capture(regs, &mut window.at_requested);
    window.requested_caller = registers::return_address(regs);
    if ids.flags & windows::WORD != 0 {
        read_word(window);
    }
    window.requested_stack = stack::walk_at_request(ctx.as_ptr(), ids).stack;
    0
}

/// An argument that is in memory.
#[inline(always)]
fn read_word(window: &mut WindowRecord) {
    let Some(settings) = settings_of(window.tgid) else { return };
    // Below 16, so that the verifier sees that it is inside.
    let register = window.at_requested[(settings.word_register & 15) as usize];
    if let Some(word) =
        registers::word_at(register.wrapping_add_signed(i64::from(settings.word_offset_bytes)))
    {
        window.requested_word = word;
        window.has_requested_word = 1;
    }
}

/// Whether a begin inside an open window belongs to it.
#[inline(always)]
fn is_inner(ids: Ids, window: &WindowRecord, depth_bytes: u64) -> bool {
    if ids.flags & windows::CALLS != 0 {
        return depth_bytes > window.depth_bytes;
    }
    ids.flags & windows::NESTED != 0
}

/// The world has stopped.
#[uprobe]
pub fn pause_stopped(ctx: ProbeContext) -> u32 {
    // SAFETY: the probe's registers, valid while the program runs.
    let Some((_, window)) = open_or_join(unsafe { &*ctx.regs }) else { return 0 };
    if window.inner_open != 0 {
        return 0;
    }
    // SAFETY: the helper has no preconditions.
    window.stopped_ns = unsafe { bpf_ktime_get_ns() };
    window.state = state::STOPPED;
    0
}

/// What the window is for is told, somewhere inside it. Outside of windows it says nothing.
#[uprobe]
pub fn pause_told(ctx: ProbeContext) -> u32 {
    let Some(ids) = watched() else { return 0 };
    let Some(thread) = thread::known(ids) else { return 0 };
    let Some(window) = window::driven_by(ids, thread) else { return 0 };
    window.told += 1;
    if window.told_ns == 0 {
        // SAFETY: the helper has no preconditions.
        window.told_ns = unsafe { bpf_ktime_get_ns() };
        // SAFETY: the probe's registers, valid while the program runs.
        let regs = unsafe { &*ctx.regs };
        registers::capture(regs, &mut window.at_told);
        if ids.flags & windows::TOLD_OBJECT != 0 {
            window.told_word = registers::first_word(regs);
        }
    }
    0
}

/// The call that restarts the world begins.
#[uprobe]
pub fn pause_restarting(ctx: ProbeContext) -> u32 {
    // SAFETY: the probe's registers, valid while the program runs.
    let regs = unsafe { &*ctx.regs };
    let Some((_, window)) = open_or_join(regs) else { return 0 };
    if window.inner_open != 0 {
        return 0;
    }
    // SAFETY: the helper has no preconditions.
    window.restarting_ns = unsafe { bpf_ktime_get_ns() };
    registers::capture(regs, &mut window.at_restarting);
    window.state = state::RESTARTING;
    0
}

/// The world runs again, or a call returns: the window closes and its record is sent.
#[uprobe]
pub fn pause_resumed(ctx: ProbeContext) -> u32 {
    resumed(&ctx, flag::RESUMED);
    0
}

/// A call ends in a jump to another function.
#[uprobe]
pub fn call_jumps(ctx: ProbeContext) -> u32 {
    resumed(&ctx, flag::RESUMED | flag::TAIL_CALL);
    0
}

#[inline(always)]
fn resumed(ctx: &ProbeContext, flags: u32) {
    // SAFETY: the probe's registers, valid while the program runs.
    let regs = unsafe { &*ctx.regs };
    let Some((ids, window)) = open_or_join(regs) else { return };
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    let mut flags = flags;
    if ids.flags & windows::CALLS != 0 && window.requested_ns != 0 {
        let depth_bytes = call::depth_bytes(ids, regs, window.goroutine);
        if depth_bytes > window.depth_bytes {
            window.inner_open = window.inner_open.saturating_sub(1);
            return;
        }
        if depth_bytes < window.depth_bytes {
            // The end of a call further out, which had begun before the trace did.
            flags = flag::LEFT;
        }
    } else if window.inner_open != 0 {
        window.inner_open -= 1;
        return;
    }
    if flags & flag::RESUMED != 0 {
        window.resumed_ns = now_ns;
        window.resumed_by = ids.tid;
        registers::capture(regs, &mut window.at_resumed);
    }
    finish(ctx, ids, window, flags, now_ns);
}

/// The window ends here, one way or another.
#[inline(always)]
fn finish(ctx: &ProbeContext, ids: Ids, window: &mut WindowRecord, flags: u32, now_ns: u64) {
    if let Some(thread) = thread::known(ids) {
        if thread.begin_ns != 0 {
            fault::abandon(ids, thread, now_ns);
        }
        if window.goroutine != 0 {
            thread.goroutine = window.outer_goroutine;
        }
    }
    window.flags |= flags;
    if window.driver != ids.tid {
        window.flags |= flag::DRIVER_CHANGED;
    }
    let whole = window.requested_ns != 0 && flags & flag::RESUMED != 0;
    let too_short = whole && is_short(window);
    let (faults, in_faults_ns) = if whole { complete(window, too_short) } else { (0, 0) };
    debug!(ctx, "pause {} closed", window.window);
    if too_short {
        send_short(window, faults, in_faults_ns);
    } else {
        worker::window_closes(window.tgid, window.window);
        send(window);
    }
    window.state = state::CLOSED;
    closed(ids);
    match ids.keyed {
        keyed::GOROUTINE => window::forget_goroutine(ids.tgid, window.goroutine),
        keyed::CALL => window::forget_call(ids.tgid, ids.tid, window.goroutine),
        keyed::THREAD => window::forget_thread(ids.tgid, ids.tid),
        _ => {}
    }
}

#[inline(always)]
fn is_short(window: &WindowRecord) -> bool {
    match settings_of(window.tgid) {
        Some(settings) => window.resumed_ns - window.requested_ns < settings.longer_than_ns,
        None => false,
    }
}

/// A thread ends: a window of its own that is open is left for good.
#[inline(always)]
pub fn thread_ends(ids: Ids) {
    if ids.keyed != keyed::THREAD {
        return;
    }
    if let Some(window) = window::of_ended(ids)
        && window.state != state::CLOSED
    {
        window.flags |= flag::LEFT;
        send(window);
        window.state = state::CLOSED;
        closed(ids);
        window::forget_thread(ids.tgid, ids.tid);
    }
}

/// A goroutine ends inside a call, which is left for good.
#[uprobe]
pub fn goroutine_ends(ctx: ProbeContext) -> u32 {
    let Some(ids) = watched() else { return 0 };
    // SAFETY: the probe's registers, valid while the program runs.
    let goroutine = registers::go_argument(unsafe { &*ctx.regs });
    let Some(window) = window::of_goroutine(ids.tgid, goroutine) else { return 0 };
    if window.state == state::CLOSED {
        return 0;
    }
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    finish(&ctx, ids, window, flag::LEFT, now_ns);
    0
}

/// The open window that the current thread can close; where none is open it had begun before the trace did.
#[inline(always)]
fn open_or_join(regs: &call::Registers) -> Option<(Ids, &'static mut WindowRecord)> {
    let ids = watched()?;
    let goroutine = call::goroutine(ids, regs);
    let window = own_or_new(ids, goroutine)?;
    if window.state == state::CLOSED {
        // Only the first can have begun before the trace did. After that it is a function that is called outside of windows as
        // well.
        if ids.keyed == keyed::PROCESS && window.window != 0 {
            return None;
        }
        open(window, ids, goroutine);
        window.flags = flag::OPEN_AT_ATTACH;
    }
    if let Some(state) = thread::known(ids) {
        seen_running(ids, state);
    }
    Some((ids, window))
}

#[inline(always)]
fn seen_running(ids: Ids, state: &mut ThreadState) {
    // SAFETY: the helper has no preconditions.
    schedule::runs(ids, state, unsafe { bpf_ktime_get_ns() });
}

/// Empties the window and gives it the next number.
#[inline(always)]
fn open(window: &mut WindowRecord, ids: Ids, goroutine: u64) {
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
    window.goroutine = goroutine;
    window.window = opened(ids, goroutine);
}

#[inline(always)]
fn send(window: &WindowRecord) {
    if PAUSES.output::<WindowRecord>(window, u64::from(BPF_RB_NO_WAKEUP)).is_err() {
        loss::count(Loss::PauseRingFull);
    }
}

/// So that the reader can forget the window's details, and count its length.
#[inline(always)]
fn send_short(window: &WindowRecord, faults: u64, in_faults_ns: u64) {
    let record = ShortRecord {
        tag: TAG_SHORT,
        tgid: window.tgid,
        window: window.window,
        ns: window.resumed_ns - window.requested_ns,
        faults,
        in_faults_ns,
    };
    if PAUSES.output::<ShortRecord>(&record, u64::from(BPF_RB_NO_WAKEUP)).is_err() {
        loss::count(Loss::PauseRingFull);
    }
}
