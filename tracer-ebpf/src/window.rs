//! Pause windows, with the totals of what happens while they are open: one at a time per process, per thread, or per
//! goroutine.

use aya_ebpf::{
    helpers::bpf_ktime_get_ns,
    macros::map,
    maps::{Array, HashMap},
};
use tracer_common::{
    fault::{Kind, seen},
    loss::Loss,
    pause::{ProcessTotals, WindowKey, WindowRecord, keyed, state, windows},
    thread::ThreadState,
};

use crate::{loss, target::Ids};

/// By process, thread or goroutine. The user side puts a zeroed value there for a process before the gate opens; others are
/// made when they are needed. Windows that were cut off are read from here. The size
/// can be set when the object is loaded.
#[map]
static WINDOWS: HashMap<WindowKey, WindowRecord> = HashMap::with_max_entries(1024, 0);

/// What a new window looks like: a record is larger than a program's own stack. Never written.
#[map]
static NO_WINDOW: Array<WindowRecord> = Array::with_max_entries(1, 0);

/// By process; the user side puts a zeroed value there before the gate opens.
#[map]
static PROCESSES: HashMap<u32, ProcessTotals> = HashMap::with_max_entries(1024, 0);

/// The window of that key, open or the last one.
#[inline(always)]
fn window(key: &WindowKey) -> Option<&'static mut WindowRecord> {
    // SAFETY: a live map value. Marks are written by the driver alone, totals of other threads atomically.
    WINDOWS.get_ptr_mut(key).map(|window| unsafe { &mut *window })
}

/// Whose window a thread drives. `None`: it can drive none now.
#[inline(always)]
fn key(how: u32, tgid: u32, tid: u32, goroutine: u64) -> Option<WindowKey> {
    match how {
        keyed::PROCESS => Some(WindowKey { tgid, tid: 0, goroutine: 0 }),
        keyed::THREAD => Some(WindowKey { tgid, tid, goroutine: 0 }),
        keyed::CALL if goroutine != 0 => Some(WindowKey { tgid, tid, goroutine }),
        keyed::CALL => None,
        _ if goroutine != 0 => Some(WindowKey { tgid, tid: 0, goroutine }),
        _ => None,
    }
}

/// The window that the current thread drives or can open, made if there is no place for it yet.
#[inline(always)]
pub fn own_or_new(ids: Ids, goroutine: u64) -> Option<&'static mut WindowRecord> {
    let key = key(ids.keyed, ids.tgid, ids.tid, goroutine)?;
    if let Some(window) = window(&key) {
        return Some(window);
    }
    let empty = NO_WINDOW.get(0)?;
    if WINDOWS.insert(&key, empty, 0).is_err() {
        loss::count(Loss::WindowTableFull);
        return None;
    }
    window(&key)
}

/// The window of a goroutine.
#[inline(always)]
pub fn of_goroutine(tgid: u32, goroutine: u64) -> Option<&'static mut WindowRecord> {
    window(&WindowKey { tgid, tid: 0, goroutine })
}

/// The window of a thread that ends.
#[inline(always)]
pub fn of_ended(ids: Ids) -> Option<&'static mut WindowRecord> {
    window(&WindowKey { tgid: ids.tgid, tid: ids.tid, goroutine: 0 })
}

/// Gives up the place of a window that has closed, where there would be too many of them.
#[inline(always)]
pub fn forget_goroutine(tgid: u32, goroutine: u64) {
    let _ = WINDOWS.remove(&WindowKey { tgid, tid: 0, goroutine });
}

/// Gives up the place of a call's window.
#[inline(always)]
pub fn forget_call(tgid: u32, tid: u32, stack_pointer: u64) {
    let _ = WINDOWS.remove(&WindowKey { tgid, tid, goroutine: stack_pointer });
}

/// Gives up the place of a thread's window.
#[inline(always)]
pub fn forget_thread(tgid: u32, tid: u32) {
    let _ = WINDOWS.remove(&WindowKey { tgid, tid, goroutine: 0 });
}

/// The open window that a thread is in, and whether the thread drives it.
///
/// Where windows are a thread's or a goroutine's own, other threads are in one only if they may work for it and no other is
/// open.
#[inline(always)]
pub fn of_thread(how: u32, flags: u32, state: &ThreadState) -> Option<(&'static mut WindowRecord, bool)> {
    if flags & windows::RESTING != 0 {
        return None;
    }
    let (tgid, tid) = (state.tgid, state.tid);
    if let Some(key) = key(how, tgid, tid, state.goroutine)
        && let Some(window) = window(&key)
        && window.state != state::CLOSED
    {
        // A goroutine's window is also told where it is now: what is noted of the thread can be older.
        let drives = how == keyed::THREAD || how == keyed::CALL || window.driver == tid;
        if drives || how == keyed::PROCESS {
            return Some((window, drives));
        }
    }
    if how == keyed::PROCESS || flags & windows::WORKERS == 0 {
        return None;
    }
    let process = process(tgid)?;
    if process.open != 1 {
        return None;
    }
    let key = process.last_opened;
    let window = window(&key)?;
    (window.state != state::CLOSED).then_some((window, false))
}

#[inline(always)]
pub fn process(tgid: u32) -> Option<&'static mut ProcessTotals> {
    // SAFETY: a live map value; window counts are written by the driver alone, thread counts atomically.
    PROCESSES.get_ptr_mut(tgid).map(|totals| unsafe { &mut *totals })
}

/// The open window that this thread drives.
#[inline(always)]
pub fn driven_by(ids: Ids, state: &ThreadState) -> Option<&'static mut WindowRecord> {
    of_thread(ids.keyed, 0, state).filter(|(_, driver)| *driver).map(|(window, _)| window)
}

/// A window opens: its number within its process.
#[inline(always)]
pub fn opened(ids: Ids, goroutine: u64) -> u64 {
    let Some(process) = process(ids.tgid) else { return 0 };
    increase(&mut process.windows, 1);
    if ids.keyed == keyed::PROCESS {
        return process.windows;
    }
    increase(&mut process.open, 1);
    if let Some(key) = key(ids.keyed, ids.tgid, ids.tid, goroutine) {
        process.last_opened = key;
    }
    // Two threads can open theirs at the same time; a number of its own is enough.
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    tracer_common::stack::hash_step(now_ns, ids.task)
}

/// A window closes, or is given up.
#[inline(always)]
pub fn closed(ids: Ids) {
    if ids.keyed != keyed::PROCESS
        && let Some(process) = process(ids.tgid)
    {
        increase(&mut process.open, u64::MAX);
    }
}

/// Adds a window that was seen from its begin to its end to its process's totals. Returns the driver's faults and their
/// time in ns.
#[inline(always)]
pub fn complete(window: &WindowRecord, too_short: bool) -> (u64, u64) {
    let Some(process) = process(window.tgid) else { return (0, 0) };
    increase(&mut process.completed, 1);
    increase(&mut process.paused_ns, window.resumed_ns - window.requested_ns);
    if too_short {
        increase(&mut process.short, 1);
    }
    let (mut faults, mut in_faults_ns) = (0, 0);
    for kind in &window.driver_totals.by_kind {
        faults += kind.count;
        in_faults_ns += kind.sum_ns;
    }
    increase(&mut process.faults, faults);
    increase(&mut process.in_faults_ns, in_faults_ns);
    (faults, in_faults_ns)
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

/// Whether what began at this time is after the window's end, which is stamped before the sums are sent: the probe that does
/// both can be preempted in between.
#[inline(always)]
pub fn is_after(window: &WindowRecord, begin_ns: u64) -> bool {
    window.resumed_ns != 0 && begin_ns >= window.resumed_ns
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
