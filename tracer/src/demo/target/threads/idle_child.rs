//! A child process that does nothing but share this one's pages.

use std::{
    io,
    os::fd::{AsRawFd as _, OwnedFd},
};

use anyhow::{Context as _, Result, ensure};
use rustix::pipe::{PipeFlags, pipe_with};

/// The child: killed when dropped, and by the kernel when its parent ends in whatever way.
#[derive(Debug)]
pub(in super::super) struct IdleChild {
    pid: libc::pid_t,
}

impl IdleChild {
    pub(in super::super) fn fork() -> Result<Self> {
        let (idle, says_idle) = pipe_with(PipeFlags::CLOEXEC).context("pipe failed")?;
        // SAFETY: the child makes only system calls, which is all that a copy of a threaded process may do.
        let child = match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()).context("fork failed"),
            0 => be_idle(&says_idle),
            pid => Self { pid },
        };
        // With the child's own copy gone too, the read does not wait for a child that has died.
        drop(says_idle);
        // Its first steps copy pages, and are not to fall into the pause.
        let got = rustix::io::read(&idle, &mut [0]).context("could not read from the child")?;
        ensure!(got == 1, "the child process ended early");
        Ok(child)
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

fn be_idle(says_idle: &OwnedFd) -> ! {
    // SAFETY: system calls, of which one reads one byte of a constant.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::write(says_idle.as_raw_fd(), [0_u8].as_ptr().cast(), 1);
        // Whoever reads this process's output must not wait for the child.
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
        loop {
            libc::pause();
        }
    }
}
