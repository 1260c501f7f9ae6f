//! A child process that does nothing but share this one's pages.

use std::io;

use anyhow::{Context as _, Result};

/// The child: killed when dropped, and by the kernel when its parent ends in whatever way.
#[derive(Debug)]
pub(in super::super) struct IdleChild {
    pid: libc::pid_t,
}

impl IdleChild {
    pub(in super::super) fn fork() -> Result<Self> {
        // SAFETY: the child makes only system calls, which is all that a copy of a threaded process may do.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()).context("fork failed"),
            0 => be_idle(),
            pid => Ok(Self { pid }),
        }
    }
}

impl Drop for IdleChild {
    fn drop(&mut self) {
        // SAFETY: it is a child of this process that nobody else waits for, so the number is still its own.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

fn be_idle() -> ! {
    // SAFETY: system calls without pointers.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // Whoever reads this process's output must not wait for the child.
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
        loop {
            libc::pause();
        }
    }
}
