//! From the options to a trace and its report: what `attach`, `run` and `demo` share.

use std::time::Instant;

use anyhow::Context as _;

use super::{
    args::{Global, TraceArgs},
    observer::Terminal,
    recognised::Found,
};
use crate::{
    pause::Keep,
    probe::Sizes,
    session::{Options, Outcome, Subject, trace},
};

/// aya-log's levels (aya-log-common, `Level`): 0 is below all of them.
const LOG_LEVELS: [u8; 3] = [0, 2, 4];

/// What the options ask for.
pub(super) fn options(arguments: &TraceArgs, global: Global) -> Options {
    Options {
        duration: arguments.duration,
        keep: if arguments.all { Keep::All } else { Keep::Worst(arguments.top as usize) },
        sizes: Sizes {
            ring_bytes: arguments.ring_size,
            threads: arguments.max_threads,
            log_level: LOG_LEVELS[usize::from(global.verbose).min(LOG_LEVELS.len() - 1)],
        },
        cross_check: arguments.cross_check,
        without: arguments.without.clone(),
        measure_programs: arguments.measure_overhead,
    }
}

/// Traces, with the live line on the terminal. `ready` runs as soon as the probes are in place.
pub(super) fn trace_shown(
    found: &Found,
    options: &Options,
    started: Instant,
    until: String,
    ready: impl FnOnce(),
) -> anyhow::Result<Outcome> {
    struct Both<F: FnOnce()> {
        terminal: Terminal,
        ready: Option<F>,
    }
    impl<F: FnOnce()> crate::session::Observer for Both<F> {
        fn attached(&mut self, threads: usize) {
            self.terminal.attached(threads);
            if let Some(ready) = self.ready.take() {
                ready();
            }
        }
        fn progress(&mut self, progress: &crate::session::Progress) {
            self.terminal.progress(progress);
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the event loop could not be started")?;
    let subject = Subject { target: &found.target, image: &found.image, recognised: &found.recognised };
    let mut observer = Both { terminal: Terminal::new(found.describe(), until), ready: Some(ready) };
    Ok(runtime.block_on(trace(subject, options, started, &mut observer))?)
}

/// How long the trace will last, in words.
pub(super) fn until(arguments: &TraceArgs) -> String {
    match arguments.duration {
        Some(duration) => {
            format!("tracing for {}, Ctrl-C stops earlier and reports", humantime::format_duration(duration))
        }
        None => "tracing until it ends, Ctrl-C stops earlier and reports".to_owned(),
    }
}

/// The asked-for time in ns.
pub(super) fn asked_ns(arguments: &TraceArgs) -> Option<u64> {
    arguments.duration.and_then(|duration| u64::try_from(duration.as_nanos()).ok())
}
