//! What ends a trace: time and interrupts.

use std::{future::pending, io, time::Duration};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{Instant, sleep_until},
};

use super::outcome::Ended;

/// Waits for either.
pub(super) struct Stop {
    interrupt: Signal,
    terminate: Signal,
    deadline: Option<Instant>,
}

impl Stop {
    /// Begins to listen. From here on Ctrl-C no longer ends the program by itself.
    ///
    /// # Errors
    /// When signals can't be waited for.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            deadline: None,
        })
    }

    /// Sets the time to stop at, from now.
    pub(super) fn after(&mut self, duration: Option<Duration>) {
        self.deadline = duration.and_then(|duration| Instant::now().checked_add(duration));
    }

    /// The next reason to stop. May be dropped and called again.
    pub(super) async fn wait(&mut self) -> Ended {
        let deadline = self.deadline;
        let time = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => Ended::Interrupted,
            _ = self.terminate.recv() => Ended::Interrupted,
            () = time => Ended::Duration,
        }
    }
}

/// After the first Ctrl-C the second one ends the program at once, whatever it is doing.
pub(super) fn let_the_next_interrupt_kill() {
    // SAFETY: restores the default action; no handler of ours runs any more after this.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
}
