//! The table of threads: the fault each one is in, whether it runs, and what its faults add up to.

use aya_ebpf::{macros::map, maps::HashMap};
use tracer_common::{
    loss::Loss,
    thread::{ThreadState, cpu, freeing},
};

use crate::{loss, target::Ids};

/// By thread, as the scheduler's events name it. The size can be set when the object is loaded.
#[map]
static THREADS: HashMap<u64, ThreadState> = HashMap::with_max_entries(32768, 0);

/// The current thread's state, if it has one.
#[inline(always)]
pub fn known(ids: Ids) -> Option<&'static mut ThreadState> {
    of_task(ids.task)
}

/// The state of a thread by the kernel's name for it.
#[inline(always)]
pub fn of_task(task: u64) -> Option<&'static mut ThreadState> {
    // SAFETY: what a fault changes only the thread itself writes; what a switch changes is written on the CPU that
    // switches it, with the run queue locked; a wake-up writes its own two fields while the thread is off the CPU. It is
    // removed when the kernel forgets the thread.
    THREADS.get_ptr_mut(task).map(|state| unsafe { &mut *state })
}

/// The current thread's state, made if it has none. `None`: the table is full, which is counted.
#[inline(always)]
pub fn known_or_new(ids: Ids) -> Option<&'static mut ThreadState> {
    if let Some(state) = known(ids) {
        return Some(state);
    }
    let fresh = ThreadState {
        begin_ns: 0,
        address: 0,
        ip: 0,
        freeing_begin_ns: 0,
        freeing_waiting_ns: 0,
        reclaim_ns: 0,
        reclaiming_ns: 0,
        compact_ns: 0,
        compacting_ns: 0,
        blocked_ns: 0,
        waiting_ns: 0,
        longest_block_ns: 0,
        block_stack: 0,
        read_bytes: 0,
        huge_bytes: 0,
        read_requests: 0,
        device: 0,
        switched_ns: 0,
        woken_ns: 0,
        off_kernel_stack: 0,
        off_user_stack: 0,
        interval_window: 0,
        intervals: 0,
        cpu: cpu::RUNNING,
        freeing: freeing::NOTHING,
        woken_by: 0,
        seen: 0,
        tgid: ids.tgid,
        tid: ids.tid,
        worker: 0,
        ended: 0,
        reserved: 0,
        goroutine: 0,
        minor: 0,
        major: 0,
    };
    if THREADS.insert(ids.task, fresh, 0).is_err() {
        loss::count(Loss::ThreadTableFull);
        return None;
    }
    known(ids)
}

/// The kernel forgets a thread: its name can be another thread's from here on.
#[inline(always)]
pub fn forget(task: u64) {
    let _ = THREADS.remove(task);
}
