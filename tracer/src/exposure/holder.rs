//! A child process that holds on to this process's pages in swap, and does nothing else.
//!
//! When more than half of swap is in use the kernel gives a page's place in it up as soon as the page is back
//! (`mm/memory.c`, `should_try_to_free_swap`), so that it is no longer a copy of what swap has and must be written
//! again before it can be dropped. A place that a second process refers to stays.

use std::{io, mem, ptr};

/// The child, ended and collected when this is dropped; the kernel ends it when this process dies.
#[derive(Debug)]
pub(super) struct Holder {
    child: libc::pid_t,
}

impl Holder {
    /// Starts it. From here on it refers to all that is swapped out.
    pub(super) fn start() -> io::Result<Self> {
        // Signals stay blocked in the child: a handler of this process has no business there.
        // SAFETY: plain data, all zeros are a value of it.
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            unsafe { (mem::zeroed(), mem::zeroed()) };
        // SAFETY: both sets are live.
        unsafe {
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        }
        // SAFETY: the child makes nothing but system calls, which are safe after a fork of a process with threads.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: nothing is used any more but the stack.
            unsafe { hold() }
        }
        let error = io::Error::last_os_error();
        // SAFETY: the set is live.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
        if child < 0 { Err(error) } else { Ok(Self { child }) }
    }
}

/// In the child: gives up every descriptor, so that none lives longer than this process wants, and waits to be killed.
///
/// # Safety
/// To be called in a fresh child only.
unsafe fn hold() -> ! {
    // SAFETY: system calls without pointers; the descriptors are this child's own copies.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::syscall(libc::SYS_close_range, 0_u32, u32::MAX, 0_u32);
        loop {
            // Every signal but the last one is blocked.
            libc::pause();
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // SAFETY: our own child, not yet collected, so the id can't stand for another process.
        unsafe {
            libc::kill(self.child, libc::SIGKILL);
            libc::waitpid(self.child, ptr::null_mut(), 0);
        }
    }
}
