//! What a trace is asked to do, and who watches it.

use std::time::Duration;

use super::unwinding::Unwind;
use crate::{pause::Keep, probe::Sizes};

/// What a trace is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long; `None`: until it is interrupted or the target ends.
    pub duration: Option<Duration>,
    /// Which pauses are kept in full.
    pub keep: Keep,
    /// Sizes of the kernel side's tables.
    pub sizes: Sizes,
    /// Probe also what the runtime's own stamps tell, to compare.
    pub cross_check: bool,
    /// Tracepoints that must not be used.
    pub without: Vec<String>,
    /// Stop when more windows than this begin in a second, unless they are a runtime's pauses.
    pub max_rate: u64,
    /// Trace during this share of the time only, from 0 to 1.
    pub sample: Option<f64>,
    /// How user stacks at faults are found; [`Sizes::stack_copy_bytes`] must go with it.
    pub unwind: Unwind,
    /// Measure the CPU time of the kernel-side programs. It costs every BPF program on the host a little, so it is
    /// not done unless asked for.
    pub measure_programs: bool,
}

/// The state of a running trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Complete pauses so far.
    pub pauses: u64,
    /// The longest, in ns.
    pub worst_ns: Option<u64>,
    /// Sum of lengths, in ns.
    pub paused_ns: u64,
    /// Of it explained by faults, in ns.
    pub explained_ns: u64,
    /// Records dropped so far.
    pub dropped: u64,
}

/// Watches a trace.
pub trait Observer {
    /// Probes are in place, the gate is open.
    fn attached(&mut self, threads: usize);
    /// One more process is traced.
    fn joined(&mut self, _what: &str) {}
    /// Called a few times a second.
    fn progress(&mut self, progress: &Progress);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Observer for Silent {
    fn attached(&mut self, _threads: usize) {}
    fn progress(&mut self, _progress: &Progress) {}
}
