//! A command started by pauselens itself, held before its first instruction until the probes are in place.
//!
//! It is held the way strace holds its commands: the child asks to be traced and stops at its own exec. Nothing has
//! run by then, so nothing is disturbed; a process that was running before is never touched like this.

use std::{
    io,
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{Child, Command, ExitStatus},
};

use thiserror::Error;

/// A child that waits before its first instruction.
#[derive(Debug)]
pub struct Held {
    child: Child,
    held: bool,
}

/// The command could not be started.
#[derive(Debug, Error)]
pub enum HeldError {
    /// It can't be executed.
    #[error(
        "`{program}` could not be started: {source}; check the name and its permissions, or give its full path"
    )]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// It did not stop where it should.
    #[error(
        "`{program}` did not stop at its start ({found}), so it can't be traced from its first pause; start it by \
         itself and use `pauselens attach --pid PID`"
    )]
    NotHeld {
        /// The program.
        program: String,
        /// What was seen instead.
        found: String,
    },
}

impl Held {
    /// Starts the command and waits until it stands at its first instruction.
    ///
    /// # Errors
    /// See [`HeldError`].
    pub fn start(mut command: Command) -> Result<Self, HeldError> {
        let program = command.get_program().to_string_lossy().into_owned();
        // SAFETY: between fork and exec only this one system call is made; it allocates nothing.
        unsafe {
            command.pre_exec(|| {
                if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) == -1 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child =
            command.spawn().map_err(|source| HeldError::Start { program: program.clone(), source })?;
        let mut status = 0;
        // SAFETY: waits for our own child; `status` is live.
        let waited = unsafe { libc::waitpid(raw(&child), &raw mut status, libc::WUNTRACED) };
        if waited != raw(&child) || !libc::WIFSTOPPED(status) {
            let found = ExitStatus::from_raw(status).to_string();
            return Err(HeldError::NotHeld { program, found });
        }
        Ok(Self { child, held: true })
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it run. Must be called on the thread that started it.
    pub fn release(&mut self) {
        if std::mem::take(&mut self.held) {
            // SAFETY: our own stopped child; a failure means that it is gone, which shows itself elsewhere.
            unsafe { libc::ptrace(libc::PTRACE_DETACH, raw(&self.child), 0, 0) };
        }
    }

    /// Ends a command that was started for a trace which can't begin.
    pub fn kill(&mut self) {
        if self.held {
            let _ = self.child.kill();
            let _ = self.child.wait();
            self.held = false;
        }
    }

    /// How it ended, in words; `None` while it runs.
    pub fn exit_status(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }
}

impl Drop for Held {
    /// A command that never ran because of an error must not stay behind, stopped.
    fn drop(&mut self) {
        self.kill();
    }
}

fn raw(child: &Child) -> libc::pid_t {
    // A process id always fits: it came from the kernel as this type.
    child.id().cast_signed()
}
