//! Is the current thread one of a traced process? The filter of every program, and the gate of the whole trace:
//! the table is empty until every probe is in place, and emptied before the first is taken away.

use aya_ebpf::{
    bindings::bpf_pidns_info,
    helpers::{
        bpf_get_current_pid_tgid,
        generated::{bpf_get_current_task, bpf_get_ns_current_pid_tgid},
    },
    macros::map,
    maps::HashMap,
};

use tracer_common::pause::{TargetSettings, windows};

use crate::settings::{PID_NAMESPACE_DEVICE, PID_NAMESPACE_INODE};

/// Traced processes by id, in the tracer's pid namespace.
#[map]
static TARGETS: HashMap<u32, TargetSettings> = HashMap::with_max_entries(1024, 0);

/// The current thread's ids.
#[derive(Clone, Copy)]
pub struct Ids {
    /// The process, in the tracer's pid namespace.
    pub tgid: u32,
    /// The thread, in the tracer's pid namespace.
    pub tid: u32,
    /// The thread as the scheduler's events name it: where the kernel keeps it. Never looked into.
    pub task: u64,
    /// How the process is traced: one of `tracer_common::pause::keyed`.
    pub keyed: u32,
    /// Bits of `tracer_common::pause::windows`.
    pub flags: u32,
}

/// The current thread, if its process is traced.
#[inline(always)]
pub fn traced() -> Option<Ids> {
    let mut ids = current()?;
    let settings = settings_of(ids.tgid)?;
    ids.keyed = settings.keyed;
    ids.flags = settings.flags;
    Some(ids)
}

/// The same for the probes of windows, which do nothing while not all of them are in place.
#[inline(always)]
pub fn watched() -> Option<Ids> {
    traced().filter(|ids| ids.flags & windows::RESTING == 0)
}

/// How the process is traced; `None`: it is not.
#[inline(always)]
pub fn settings_of(tgid: u32) -> Option<&'static TargetSettings> {
    TARGETS.get_ptr(tgid).map(|settings| {
        // SAFETY: a live map value, which the user side replaces as a whole.
        unsafe { &*settings }
    })
}

/// The current thread, whether or not its process is traced. `None`: it is outside of the tracer's pid namespace.
#[inline(always)]
pub fn current() -> Option<Ids> {
    // SAFETY: the helper has no preconditions.
    let task = unsafe { bpf_get_current_task() };
    let inode = PID_NAMESPACE_INODE.load();
    if inode == 0 {
        let both = bpf_get_current_pid_tgid();
        return Some(Ids { tgid: (both >> 32) as u32, tid: both as u32, task, keyed: 0, flags: 0 });
    }
    let mut info = bpf_pidns_info { pid: 0, tgid: 0 };
    // SAFETY: `info` is a live stack value of exactly the size given.
    let status = unsafe {
        bpf_get_ns_current_pid_tgid(
            PID_NAMESPACE_DEVICE.load(),
            inode,
            &raw mut info,
            size_of::<bpf_pidns_info>() as u32,
        )
    };
    (status == 0).then_some(Ids { tgid: info.tgid, tid: info.pid, task, keyed: 0, flags: 0 })
}
