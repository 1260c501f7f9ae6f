//! From the options to a trace and its report: what `attach`, `run` and `demo` share.

use std::time::Instant;

use anyhow::Context as _;

use super::{
    args::{Global, TraceArgs, UnwindBy},
    observer::Terminal,
};
use crate::{
    pause::Keep,
    probe::Sizes,
    recording::{Recordable, Recorder},
    report::model::Unit,
    session::{Options, Scope, Traced, trace},
};

/// Windows of the user's that can be open at once; a calling thread or goroutine has one each.
const OWN_WINDOWS: u32 = 8192;

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
            windows: if arguments.windows.are_own() { OWN_WINDOWS } else { Sizes::default().windows },
            stack_copy_bytes: if arguments.unwind == UnwindBy::Fp { 0 } else { arguments.stack_bytes },
            log_level: LOG_LEVELS[usize::from(global.verbose).min(LOG_LEVELS.len() - 1)],
        },
        cross_check: arguments.cross_check,
        without: arguments.without.clone(),
        max_rate: arguments.windows.max_rate,
        sample: arguments.windows.sample,
        unwind: arguments.unwind.into(),
        measure_programs: arguments.measure_overhead,
    }
}

/// What the terminal shows of a trace.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    /// What is traced, in words.
    pub(super) asked: String,
    /// How long it will last, in words.
    pub(super) until: String,
    /// What windows are called.
    pub(super) unit: Unit,
}

/// Traces, with the live line on the terminal. `ready` runs as soon as the probes are in place.
pub(super) fn trace_shown(
    scope: Scope,
    options: &Options,
    started: Instant,
    shown: Shown,
    recorder: Option<&Recorder>,
    ready: impl FnOnce(),
) -> anyhow::Result<Traced> {
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
        fn joined(&mut self, what: &str) {
            self.terminal.joined(what);
        }
        fn progress(&mut self, progress: &crate::session::Progress) {
            self.terminal.progress(progress);
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the event loop could not be started")?;
    let mut observer =
        Both { terminal: Terminal::new(shown.asked, shown.until, shown.unit), ready: Some(ready) };
    Ok(runtime.block_on(trace(scope, options, started, &mut observer, recorder))?)
}

/// What is recorded of it, when it is. `asked`: what is traced, in words.
pub(super) fn recordable(arguments: &TraceArgs, asked: &str) -> Recordable {
    Recordable {
        asked: asked.to_owned(),
        max_size_bytes: arguments.max_size,
        memory_interval: arguments.memory_interval,
        worst: arguments.top as usize,
        listed: if arguments.all { usize::MAX } else { arguments.top as usize },
    }
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
