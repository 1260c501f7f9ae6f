//! Which processes come: children of the targets, and programs that are begun. Attached only when that was asked for.
//!
//! Neither program looks into a kernel structure: who makes a process, or begins a program, is the current process. A
//! child's id comes from the tracepoint's field, which is that of the initial pid namespace; a tracer in another one looks
//! for the children itself.
//!
//! The records wake the reader up: a child that is noticed late is traced late. Processes are not made while the world is
//! stopped, so nobody's pause is disturbed.

use aya_ebpf::{
    helpers::{bpf_get_current_pid_tgid, bpf_ktime_get_ns},
    macros::{map, raw_tracepoint},
    maps::{LruHashMap, RingBuf},
    programs::{RawTracePointContext, TracePointContext},
};
use tracer_common::{
    lineage::{LineageRecord, clone, tell, what},
    loss::Loss,
};

use crate::{
    loss,
    settings::{LINEAGE, PID_NAMESPACE_INODE, TASK_CLONE_FLAGS, TASK_PID},
    target::{current, settings_of},
    tracepoint::tracepoint,
};

/// News, for a reader that waits.
#[map]
static LINEAGE_NEWS: RingBuf = RingBuf::with_byte_size(256 << 10, 0);

/// Descendants of the targets that may not be targets themselves (yet), by process id; also the processes that the user
/// side puts there, which are waited for until they hold a runtime.
#[map]
static FOLLOWED: LruHashMap<u32, u32> = LruHashMap::with_max_entries(16384, 0);

const NOTHING: LineageRecord =
    LineageRecord { what: 0, tgid: 0, child: 0, by_first_thread: 0, clone_flags: 0, at_ns: 0 };

#[inline(always)]
fn is_followed(tgid: u32) -> bool {
    // SAFETY: only the presence matters.
    settings_of(tgid).is_some() || unsafe { FOLLOWED.get(tgid) }.is_some()
}

tracepoint!(task_made);

/// `task:task_newtask`, which runs on the thread that makes another one, before that one runs.
#[inline(always)]
fn task_made(ctx: TracePointContext) {
    let Some(ids) = current() else { return };
    if !is_followed(ids.tgid) {
        return;
    }
    // SAFETY: the offsets are those of the kernel's own format file.
    let (task, clone_flags) = unsafe {
        (
            ctx.read_at::<u32>(TASK_PID.load() as usize).unwrap_or(0),
            ctx.read_at::<u64>(TASK_CLONE_FLAGS.load() as usize).unwrap_or(0),
        )
    };
    if clone_flags & clone::THREAD != 0 {
        return;
    }
    let child = if PID_NAMESPACE_INODE.load() == 0 { task } else { 0 };
    if child != 0 && LINEAGE.load() & tell::DESCENDANTS != 0 {
        let _ = FOLLOWED.insert(child, 1, 0);
    }
    send(LineageRecord { what: what::FORK, tgid: ids.tgid, child, clone_flags, ..NOTHING });
}

/// `sched:sched_process_exec`, which runs on the process that has just begun another program.
#[raw_tracepoint]
pub fn program_begun(ctx: RawTracePointContext) -> i32 {
    if let Some(ids) = current()
        && (LINEAGE.load() & tell::EVERY_EXEC != 0 || is_followed(ids.tgid))
    {
        // The second argument is the thread's id before, in the initial pid namespace.
        let before = ctx.arg::<u32>(1);
        let by_first_thread = u32::from(before == (bpf_get_current_pid_tgid() >> 32) as u32);
        send(LineageRecord { what: what::EXEC, tgid: ids.tgid, by_first_thread, ..NOTHING });
    }
    0
}

/// `sched:sched_process_exit`: the id can be another process's from here on.
#[raw_tracepoint]
pub fn followed_ends(_ctx: RawTracePointContext) -> i32 {
    if let Some(ids) = current()
        && ids.tid == ids.tgid
    {
        let _ = FOLLOWED.remove(ids.tgid);
    }
    0
}

#[inline(always)]
fn send(mut record: LineageRecord) {
    // SAFETY: the helper has no preconditions.
    record.at_ns = unsafe { bpf_ktime_get_ns() };
    if LINEAGE_NEWS.output::<LineageRecord>(&record, 0).is_err() {
        loss::count(Loss::LineageRingFull);
    }
}
