//! Who has a CPU: switches and wake-ups of the target's threads, for the budget of a pause, for the stopping phase, and
//! for faults that wait.
//!
//! A thread's time without a CPU is known when it gets one again: until the wake-up it was blocked, from there on it was
//! waiting for a CPU. That moment belongs to the switch in which another thread is switched away from, so the program
//! looks at both threads of a switch. The events name threads by where the kernel keeps them; such a name is compared, and
//! never looked into.
//!
//! A switch can go by untold: kernels exist that keep those of some threads to themselves. Then the thread is taken to
//! have got its CPU when the kernel's account of its running time says so, or at the latest when it is seen to run.

use aya_ebpf::{
    EbpfContext as _,
    bindings::BPF_RB_NO_WAKEUP,
    helpers::{bpf_get_current_comm, bpf_get_current_pid_tgid, bpf_ktime_get_ns},
    macros::raw_tracepoint,
    programs::RawTracePointContext,
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
    loss,
    stack::{self, DETAILS},
    target::{Ids, settings_of, traced},
    thread, window,
    worker::{self, Off},
};

/// States in which a thread waits (Linux `TASK_REPORT`); above them are marks that go with one of these.
const WAITING: u64 = 0xff;
/// The kernel's `bool`.
const BOOL: u64 = 0xff;

/// `sched:sched_switch` with the state of the thread that is switched away from: (preempted, previous, next, state), since
/// Linux 5.18.
#[raw_tracepoint]
pub fn switched(ctx: RawTracePointContext) -> i32 {
    // A thread can be preempted on its way to sleep: it stays ready to run, whatever state it has put down.
    let blocked = ctx.arg::<u64>(0) & BOOL == 0 && ctx.arg::<u64>(3) & WAITING != 0;
    both(&ctx, blocked);
    0
}

/// `sched:sched_switch` before that: (preempted, previous, next). Whoever is not preempted waits, or has yielded.
#[raw_tracepoint]
pub fn switched_without_state(ctx: RawTracePointContext) -> i32 {
    let blocked = ctx.arg::<u64>(0) & BOOL == 0;
    both(&ctx, blocked);
    0
}

/// Runs on the thread that is switched away from.
#[inline(always)]
fn both(ctx: &RawTracePointContext, blocked: bool) {
    let previous = traced();
    if let Some(ids) = previous
        && let Some(state) = thread::known_or_new(ids)
    {
        switched_away(ctx, ids, state, blocked);
    }
    let next = ctx.arg::<u64>(2);
    if let Some(state) = thread::of_task(next)
        && let Some(settings) = settings_of(state.tgid)
    {
        // SAFETY: the helper has no preconditions.
        let now_ns = unsafe { bpf_ktime_get_ns() };
        let next = Next { task: next, keyed: settings.keyed, flags: settings.flags };
        let after_own = matches!(previous, Some(ids) if ids.tgid == state.tgid);
        got_cpu(true, next, state, now_ns, after_own);
    }
}

/// The thread loses its CPU.
#[inline(always)]
fn switched_away(ctx: &RawTracePointContext, ids: Ids, state: &mut ThreadState, blocked: bool) {
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    if state.cpu == cpu::PREEMPTED || state.cpu == cpu::BLOCKED {
        // It was not told that it had got a CPU.
        loss::count(Loss::SwitchUntold);
    }
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

    let (mut window, driver) = match window::of_thread(ids.keyed, ids.flags, state) {
        Some((window, driver)) if !window::is_after(window, now_ns) => (Some(window), driver),
        _ => (None, false),
    };
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
    if let Some(window) = &mut window
        && driver
    {
        window.outside.switches += 1;
    }
    if let Some(window) = window
        && !driver
        && told
    {
        state.intervals += 1;
        let became = if blocked { doing::BLOCKED } else { doing::PREEMPTED };
        tell(false, state, window.window, (ran_from_ns, 0, now_ns), doing::RUNNING | became, false);
    }
}

/// The current thread is seen to run. If it is not known to have got its CPU again, it has got it by now.
#[inline(always)]
pub fn runs(ids: Ids, state: &mut ThreadState, now_ns: u64) {
    if state.cpu == cpu::PREEMPTED || state.cpu == cpu::BLOCKED {
        loss::count(Loss::SwitchUntold);
        got_cpu(false, Next { task: ids.task, keyed: ids.keyed, flags: ids.flags }, state, now_ns, false);
    }
}

/// `sched:sched_stat_runtime`, (thread, time): the kernel accounts for what a thread has run since the last time, which is
/// since it got its CPU if it has not been seen to get it. Mostly on that thread itself, but wake-ups on other CPUs have it
/// done too.
#[raw_tracepoint]
pub fn ran(ctx: RawTracePointContext) -> i32 {
    let (task, ran_ns) = (ctx.arg::<u64>(0), ctx.arg::<u64>(1));
    let Some(state) = thread::of_task(task) else { return 0 };
    if state.cpu != cpu::PREEMPTED && state.cpu != cpu::BLOCKED {
        return 0;
    }
    let Some(settings) = settings_of(state.tgid) else { return 0 };
    loss::count(Loss::SwitchUntold);
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    let ready_ns = if state.woken_ns > state.switched_ns { state.woken_ns } else { state.switched_ns };
    let from_ns = now_ns.saturating_sub(ran_ns);
    let next = Next { task, keyed: settings.keyed, flags: settings.flags };
    got_cpu(false, next, state, if from_ns > ready_ns { from_ns } else { ready_ns }, false);
    0
}

/// A thread that gets a CPU: as the scheduler's events name it, and how its process is traced.
#[derive(Clone, Copy)]
struct Next {
    task: u64,
    keyed: u32,
    flags: u32,
}

/// The thread has had a CPU since `now_ns`. `switch`: it gets it from the current thread; otherwise nobody knows who had it
/// before.
#[inline(always)]
fn got_cpu(switch: bool, next: Next, state: &mut ThreadState, now_ns: u64, after_own: bool) {
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
    let (window, driver) = match window::of_thread(next.keyed, next.flags, state) {
        Some((window, driver)) if !window::is_after(window, off_ns) => (Some(window), driver),
        _ => (None, false),
    };
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
        worker::back(next.task, state, window, Off { from_ns: off_ns, ready_ns, to_ns: now_ns }, freeing);
        let may = may_tell(state, window);
        if may {
            state.intervals += 1;
        }
        may
    };
    if tell_it {
        let was = if off == cpu::PREEMPTED { doing::PREEMPTED } else { doing::BLOCKED };
        let was = if driver { was | doing::DRIVER } else { was };
        tell(switch, state, window.window, (off_ns, woken_ns, now_ns), was, after_own);
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
    switch: bool,
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
    let mut bits = was;
    if state.freeing != freeing::NOTHING {
        bits |= doing::FREEING;
    }
    if after_own {
        bits |= doing::AFTER_OWN;
    }
    let (after, after_name) = if switch {
        (bpf_get_current_pid_tgid() as u32, bpf_get_current_comm().unwrap_or([0; 16]))
    } else {
        (0, [0; 16])
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

/// `sched:sched_waking`, (thread), which runs on whatever wakes the thread up.
#[raw_tracepoint]
pub fn waking(ctx: RawTracePointContext) -> i32 {
    let Some(state) = thread::of_task(ctx.arg::<u64>(0)) else { return 0 };
    if state.cpu != cpu::BLOCKED || state.woken_ns != 0 {
        return 0;
    }
    // SAFETY: the helper has no preconditions.
    state.woken_ns = unsafe { bpf_ktime_get_ns() };
    state.woken_by = match traced() {
        Some(ids) if ids.tgid == state.tgid => ids.tid,
        _ => 0,
    };
    0
}
