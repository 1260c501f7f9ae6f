//! Calls of a function as windows: which goroutine a thread is on, how deep a call is, and how a goroutine moves from
//! one thread to another while its call goes on.
//!
//! Go's scheduler takes a goroutine off a thread before `runtime.schedule` and puts one on it in `runtime.execute` (Go's
//! src/runtime/proc.go, 1.18 to 1.27). A call that blocks is on no thread in between: parked.

use aya_ebpf::{
    helpers::{bpf_ktime_get_ns, bpf_probe_read_user},
    macros::uprobe,
    programs::ProbeContext,
};
use tracer_common::pause::{flag, keyed, state, windows};

use crate::{
    registers, schedule,
    target::{Ids, watched},
    thread, window,
};

#[cfg(bpf_target_arch = "x86_64")]
pub type Registers = aya_ebpf::bindings::pt_regs;
#[cfg(bpf_target_arch = "aarch64")]
pub type Registers = aya_ebpf::bindings::user_pt_regs;

/// `stack.hi` in Go's `g`, whose first field is `stack`: Go's src/runtime/runtime2.go, all versions.
const GOROUTINE_STACK_END: u64 = 8;

/// The goroutine that the current thread is on, where windows are keyed by goroutine; where they are keyed by call, the
/// stack pointer, which is the same at a function's first instruction and at its return; otherwise 0.
#[inline(always)]
pub fn goroutine(ids: Ids, regs: &Registers) -> u64 {
    match ids.keyed {
        keyed::GOROUTINE => registers::goroutine(regs),
        keyed::CALL => registers::stack_pointer(regs),
        _ => 0,
    }
}

/// How deep the stack is, in bytes: more in inner calls. From an origin that stays when Go moves the stack.
#[inline(always)]
pub fn depth_bytes(ids: Ids, regs: &Registers, goroutine: u64) -> u64 {
    if ids.flags & windows::CALLS == 0 {
        return 0;
    }
    let pointer = registers::stack_pointer(regs);
    if goroutine == 0 {
        return u64::MAX - pointer;
    }
    // SAFETY: the helper checks the address.
    let end = unsafe { bpf_probe_read_user((goroutine + GOROUTINE_STACK_END) as *const u64) };
    end.unwrap_or(u64::MAX).wrapping_sub(pointer)
}

/// `runtime.schedule`: the thread looks for another goroutine; the one that was on it is on none.
#[uprobe]
pub fn goroutine_leaves(_ctx: ProbeContext) -> u32 {
    let Some(ids) = watched() else { return 0 };
    let Some(thread) = thread::known(ids) else { return 0 };
    if thread.goroutine == 0 {
        return 0;
    }
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    schedule::runs(ids, thread, now_ns);
    if let Some(window) = window::of_goroutine(ids.tgid, thread.goroutine)
        && window.state != state::CLOSED
    {
        window.parked_since_ns = now_ns;
    }
    thread.goroutine = 0;
    0
}

/// `runtime.execute`: the goroutine in the first argument is on the thread from here on.
#[uprobe]
pub fn goroutine_enters(ctx: ProbeContext) -> u32 {
    let Some(ids) = watched() else { return 0 };
    // SAFETY: the probe's registers, valid while the program runs.
    let goroutine = registers::go_argument(unsafe { &*ctx.regs });
    let Some(window) = window::of_goroutine(ids.tgid, goroutine) else { return 0 };
    if window.state == state::CLOSED {
        return 0;
    }
    let Some(thread) = thread::known_or_new(ids) else { return 0 };
    // SAFETY: the helper has no preconditions.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    schedule::runs(ids, thread, now_ns);
    thread.goroutine = goroutine;
    window.outside.unparked += 1;
    if window.parked_since_ns != 0 {
        window.outside.parked_ns += now_ns.saturating_sub(window.parked_since_ns);
        window.parked_since_ns = 0;
    }
    if window.driver != ids.tid {
        window.driver = ids.tid;
        window.flags |= flag::DRIVER_CHANGED;
    }
    0
}
