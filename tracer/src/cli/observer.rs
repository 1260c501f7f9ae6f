//! What the user sees while a trace runs: one line, kept up to date on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::progress::{self, Shown};
use crate::{
    report::{
        live::{Live, live_line},
        model::Unit,
    },
    session::{Observer, Progress},
    tell,
};

/// Shows the live line on standard error, if that is a terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    what: String,
    until: String,
    unit: Unit,
    bar: ProgressBar,
    /// Until it is attached.
    placing: Option<Shown>,
}

impl Terminal {
    /// `what` is traced, `until` is said with it, and windows are called `unit`.
    pub(super) fn new(what: String, until: String, unit: Unit) -> Self {
        let placing = Some(progress::doing("placing probes"));
        Self { what, until, unit, bar: ProgressBar::hidden(), placing }
    }
}

impl Observer for Terminal {
    fn attached(&mut self, threads: usize) {
        self.placing = None;
        let plural = if threads == 1 { "" } else { "s" };
        tell!("attached to {} ({threads} thread{plural}); {}", self.what, self.until);
        self.bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            self.bar.set_style(style);
        }
        self.bar.enable_steady_tick(Duration::from_millis(250));
        self.progress(&Progress::default());
    }

    fn joined(&mut self, what: &str) {
        self.bar.suspend(|| tell!("attached to {what} as well"));
    }

    fn progress(&mut self, progress: &Progress) {
        self.bar.set_message(live_line(&Live {
            unit: self.unit,
            pauses: progress.pauses,
            worst_ns: progress.worst_ns,
            paused_ns: progress.paused_ns,
            in_faults_ns: progress.explained_ns,
            dropped: progress.dropped,
        }));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
