//! Who has a CPU: switches and wake-ups of the target's threads, for the budget of a pause, for the stopping phase, and
//! for faults that wait.
//!
//! A thread's time without a CPU is known when it gets one again: until the wake-up it was blocked, from there on it was
//! waiting for a CPU. That moment belongs to the switch in which another thread is switched away from, so the program
//! looks at both threads of a switch.

use aya_ebpf::{
    EbpfContext as _, bindings::BPF_RB_NO_WAKEUP, helpers::bpf_ktime_get_ns, programs::TracePointContext,
};
use tracer_common::{
    fault::seen,
    loss::Loss,
    pause::WindowRecord,
    schedule::{INTERVALS_OF_OTHERS, INTERVALS_OF_WORKERS, IntervalRecord, doing},
    stack::TAG_INTERVAL,
    thread::{ThreadState, cpu, freeing},
};

use crate::{
    loss, pause,
    settings::{SWITCH_NEXT, SWITCH_PREVIOUS, SWITCH_PREVIOUS_NAME, SWITCH_PREVIOUS_STATE, WAKING_THREAD},
    stack::{self, DETAILS},
    target::{is_target, traced},
    thread,
    tracepoint::tracepoint,
    worker::{self, Off},
};

/// States in which a thread waits; above them are marks such as "was preempted" (Linux `TASK_REPORT`).
const WAITING: u64 = 0xff;

tracepoint!(switched);

/// `sched:sched_switch`, which runs on the thread that is switched away from.
#[inline(always)]
fn switched(ctx: TracePointContext) {
    let previous_is_target = match traced() {
        Some(ids) => {
            if let Some(state) = thread::known(ids) {
                switched_away(&ctx, state);
            }
            true
        }
        None => false,
    };
    // SAFETY: the offset is that of the kernel's own format file.
    let next = unsafe { ctx.read_at::<u32>(SWITCH_NEXT.load() as usize) }.unwrap_or(0);
    if next == 0 {
        return;
    }
    if let Some(state) = thread::of_task(next)
        && is_target(state.tgid)
    {
        switched_back(&ctx, next, state, previous_is_target);
    }
}

/// The thread loses its CPU.
#[inline(always)]
fn switched_away(ctx: &TracePointContext, state: &mut ThreadState) {
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    // SAFETY: the offset is that of the kernel's own format file.
    let previous = unsafe { ctx.read_at::<u64>(SWITCH_PREVIOUS_STATE.load() as usize) }.unwrap_or(0);
    let blocked = previous & WAITING != 0;
    let in_fault = state.begin_ns != 0;
    if blocked && in_fault {
        state.seen |= seen::SLEPT;
    }
    let ran_from_ns = state.switched_ns;
    state.switched_ns = now_ns;
    state.woken_ns = 0;
    state.woken_by = 0;
    state.off_kernel_stack = 0;
    state.off_user_stack = 0;
    state.cpu = if blocked { cpu::BLOCKED } else { cpu::PREEMPTED };

    let window = pause::window(state.tgid).filter(|window| window.state != pause::CLOSED);
    let driver = window.as_ref().is_some_and(|window| window.driver == state.tid);
    let told = match &window {
        Some(window) => driver || may_tell(state, window),
        None => false,
    };
    // What a fault waits for is worth a walk in any case: it can reach into a window that opens later.
    if (blocked && in_fault) || told {
        state.off_kernel_stack = stack::walk_kernel(ctx.as_ptr(), state.tgid);
    }
    if told && !in_fault {
        state.off_user_stack = stack::walk(ctx.as_ptr(), state.tgid).stack;
    }
    if let Some(window) = window
        && !driver
        && told
    {
        state.intervals += 1;
        let became = if blocked { doing::BLOCKED } else { doing::PREEMPTED };
        tell(ctx, state, window.window, (ran_from_ns, 0, now_ns), doing::RUNNING | became, false);
    }
}

/// The thread gets a CPU.
#[inline(always)]
fn switched_back(ctx: &TracePointContext, task: u32, state: &mut ThreadState, after_own: bool) {
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    let (off, off_ns, woken_ns) = (state.cpu, state.switched_ns, state.woken_ns);
    state.cpu = cpu::RUNNING;
    state.switched_ns = now_ns;
    if off == cpu::RUNNING || off == cpu::UNKNOWN || off_ns == 0 || off_ns > now_ns {
        return;
    }
    let ready_ns = if off == cpu::PREEMPTED {
        off_ns
    } else if woken_ns >= off_ns && woken_ns <= now_ns {
        woken_ns
    } else {
        now_ns
    };
    let (blocked_ns, waiting_ns) = (ready_ns - off_ns, now_ns - ready_ns);
    let window = pause::window(state.tgid).filter(|window| window.state != pause::CLOSED);
    let driver = window.as_ref().is_some_and(|window| window.driver == state.tid);
    if state.freeing != freeing::NOTHING {
        state.freeing_waiting_ns += waiting_ns;
    }
    if state.begin_ns != 0 {
        state.waiting_ns += waiting_ns;
        if state.freeing == freeing::NOTHING {
            state.blocked_ns += blocked_ns;
            if blocked_ns > state.longest_block_ns {
                state.longest_block_ns = blocked_ns;
                state.block_stack = state.off_kernel_stack;
            }
        }
    }
    let Some(window) = window else { return };
    let tell_it = if driver {
        if state.begin_ns == 0 {
            window.outside.waiting_ns += waiting_ns;
            if state.freeing == freeing::NOTHING {
                window.outside.blocked_ns += blocked_ns;
            }
        }
        if waiting_ns > 0 {
            window.outside.waits += 1;
            if waiting_ns > window.outside.longest_wait_ns {
                window.outside.longest_wait_ns = waiting_ns;
            }
        }
        true
    } else {
        let freeing = state.freeing != freeing::NOTHING;
        worker::back(task, state, window, Off { from_ns: off_ns, ready_ns, to_ns: now_ns }, freeing);
        let may = may_tell(state, window);
        if may {
            state.intervals += 1;
        }
        may
    };
    if tell_it {
        let was = if off == cpu::PREEMPTED { doing::PREEMPTED } else { doing::BLOCKED };
        let was = if driver { was | doing::DRIVER } else { was };
        tell(ctx, state, window.window, (off_ns, woken_ns, now_ns), was, after_own);
    }
}

/// Whether another interval of a thread other than the driver may be sent.
#[inline(always)]
fn may_tell(state: &mut ThreadState, window: &WindowRecord) -> bool {
    if state.interval_window != window.window {
        state.interval_window = window.window;
        state.intervals = 0;
    }
    state.intervals < if state.worker == 0 { INTERVALS_OF_OTHERS } else { INTERVALS_OF_WORKERS }
}

#[inline(always)]
fn tell(
    ctx: &TracePointContext,
    state: &ThreadState,
    window: u64,
    (from_ns, woken_ns, to_ns): (u64, u64, u64),
    was: u32,
    after_own: bool,
) {
    let Some(mut entry) = DETAILS.reserve::<IntervalRecord>(0) else {
        loss::count(Loss::IntervalRingFull);
        return;
    };
    let running = was & doing::RUNNING != 0;
    let mut bits = was;
    if state.freeing != freeing::NOTHING {
        bits |= doing::FREEING;
    }
    if after_own {
        bits |= doing::AFTER_OWN;
    }
    let (after, after_name) = if running {
        (0, [0; 16])
    } else {
        // SAFETY: the offsets are those of the kernel's own format file.
        unsafe {
            (
                ctx.read_at::<u32>(SWITCH_PREVIOUS.load() as usize).unwrap_or(0),
                ctx.read_at::<[u8; 16]>(SWITCH_PREVIOUS_NAME.load() as usize).unwrap_or([0; 16]),
            )
        }
    };
    entry.write(IntervalRecord {
        tag: TAG_INTERVAL,
        doing: bits,
        window,
        from_ns,
        woken_ns,
        to_ns,
        fault_begin_ns: state.begin_ns,
        kernel_stack: state.off_kernel_stack,
        user_stack: state.off_user_stack,
        tgid: state.tgid,
        tid: state.tid,
        woken_by: state.woken_by,
        after,
        after_name,
    });
    entry.submit(u64::from(BPF_RB_NO_WAKEUP));
}

tracepoint!(waking);

/// `sched:sched_waking`, which runs on whatever wakes the thread up.
#[inline(always)]
fn waking(ctx: TracePointContext) {
    // SAFETY: the offset is that of the kernel's own format file.
    let woken = unsafe { ctx.read_at::<u32>(WAKING_THREAD.load() as usize) }.unwrap_or(0);
    let Some(state) = thread::of_task(woken) else { return };
    if state.cpu != cpu::BLOCKED || state.woken_ns != 0 {
        return;
    }
    // SAFETY: the helper has no preconditions.
    state.woken_ns = unsafe { bpf_ktime_get_ns() };
    state.woken_by = match traced() {
        Some(ids) if ids.tgid == state.tgid => ids.tid,
        _ => 0,
    };
}
