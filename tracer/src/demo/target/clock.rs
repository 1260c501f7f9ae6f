//! `CLOCK_MONOTONIC`, the clock that a tracer's times are on too, and the thread's own CPU time.

use std::{ptr, time::Duration};

/// Now, in ns.
pub(super) fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// The CPU time of the calling thread so far, in ns.
pub(super) fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for a write of one `timespec`.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Sleeps until that time.
pub(super) fn sleep_until(at_ns: u64) {
    // Both parts fit for the next centuries.
    let at = libc::timespec {
        tv_sec: (at_ns / 1_000_000_000).try_into().unwrap_or(0),
        tv_nsec: (at_ns % 1_000_000_000).try_into().unwrap_or(0),
    };
    // SAFETY: the pointer is valid for a read of one `timespec`, and an absolute sleep leaves no rest to be written.
    while unsafe {
        libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const at, ptr::null_mut())
    } == libc::EINTR
    {}
}

/// A length of time in ns, at most some centuries.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX / 4)
}
