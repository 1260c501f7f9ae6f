//! What tracing cost.

use std::fs;

use crate::{report::model::Overhead, session::Outcome};

pub(super) fn overhead(outcome: &Outcome) -> Overhead {
    Overhead {
        programs_ns: outcome.programs.map(|cost| cost.run_ns),
        program_runs: outcome.programs.map(|cost| cost.runs),
        tracer_cpu_ns: own_cpu_ns(),
        tracer_peak_bytes: own_peak_bytes(),
        attach_ns: Some(outcome.attach_ns),
    }
}

/// CPU time of this process, all threads.
fn own_cpu_ns() -> Option<u64> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(u64::try_from(now.tv_sec).ok()? * 1_000_000_000 + u64::try_from(now.tv_nsec).ok()?)
}

/// `VmHWM` of `/proc/self/status`.
fn own_peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
