//! Two threads, each on a CPU of its own.

use anyhow::{Context as _, Result, bail};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A CPU's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cpu(usize);

/// The first two CPUs that this process may run on.
///
/// # Errors
///
/// There is only one, or the kernel does not say.
pub(super) fn two_cpus() -> Result<[Cpu; 2]> {
    let allowed = sched_getaffinity(None).context("sched_getaffinity failed")?;
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).map(Cpu);
    match (cpus.next(), cpus.next()) {
        (Some(first), Some(second)) => Ok([first, second]),
        _ => bail!("this process may run on one CPU only, and two are needed"),
    }
}

/// Has the calling thread run there and nowhere else.
pub(super) fn pin_to(cpu: Cpu) -> Result<()> {
    let mut only = CpuSet::new();
    only.set(cpu.0);
    sched_setaffinity(None, &only).with_context(|| format!("could not pin a thread to CPU {}", cpu.0))
}
