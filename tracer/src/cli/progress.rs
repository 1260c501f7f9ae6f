//! Progress of reading recordings: a bar on a terminal, when it takes longer than a second.

use std::{
    io::{self, IsTerminal as _},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::recording::reading;

/// What takes no longer needs no bar.
const SILENT: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// While this is there, and standard error is a terminal, the bar is shown. Nothing else may be written to the terminal
/// meanwhile.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Dropped when it is over.
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Shows how far recordings are read.
pub(super) fn shown() -> Shown {
    if !io::stderr().is_terminal() {
        return Shown::default();
    }
    let (over, is_over) = channel::<()>();
    let thread = thread::Builder::new().name("progress".to_owned()).spawn(move || {
        let goes_on = |time| is_over.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        if !goes_on(SILENT) {
            return;
        }
        let bar = ProgressBar::new(0);
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} {elapsed} {wide_msg} {bar:20} {bytes} of {total_bytes}")
        {
            bar.set_style(style);
        }
        loop {
            let now = reading();
            bar.set_length(now.of_bytes);
            bar.set_position(now.bytes.min(now.of_bytes));
            bar.set_message(match now.times {
                0 | 1 => "reading".to_owned(),
                times => format!("reading, part {times}"),
            });
            if !goes_on(TICK) {
                break;
            }
        }
        bar.finish_and_clear();
    });
    // Without a thread there is no bar.
    Shown { over: Some(over), thread: thread.ok() }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.over = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
