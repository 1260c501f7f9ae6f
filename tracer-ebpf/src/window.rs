//! Pause windows: one per process, with the totals of what happens while it is open.

use aya_ebpf::{helpers::bpf_ktime_get_ns, macros::map, maps::HashMap};
use tracer_common::{
    fault::{Kind, seen},
    pause::{ProcessTotals, WindowRecord, state},
    thread::ThreadState,
};

pub use tracer_common::pause::state::CLOSED;

use crate::target::Ids;

/// By process; the user side puts a zeroed value there before the gate opens. Left in place at the end, so that
/// a window which was cut off can be read from here.
#[map]
static WINDOWS: HashMap<u32, WindowRecord> = HashMap::with_max_entries(1024, 0);

/// By process, like `WINDOWS`.
#[map]
static PROCESSES: HashMap<u32, ProcessTotals> = HashMap::with_max_entries(1024, 0);

/// The process's window, open or the last one.
#[inline(always)]
pub fn window(tgid: u32) -> Option<&'static mut WindowRecord> {
    // SAFETY: a live map value. Marks are written by the driver alone, totals of other threads atomically.
    WINDOWS.get_ptr_mut(tgid).map(|window| unsafe { &mut *window })
}

#[inline(always)]
pub fn process(tgid: u32) -> Option<&'static mut ProcessTotals> {
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
