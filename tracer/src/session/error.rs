//! Why a trace could not start.

use std::io;

use aya::maps::MapError;
use thiserror::Error;

use crate::probe::{AttachError, LoadError, PlanError, TracefsError, VerifyError};

/// The trace could not start.
#[derive(Debug, Error)]
pub enum SessionError {
    /// No tracefs.
    #[error(transparent)]
    Tracefs(#[from] TracefsError),
    /// Something indispensable is missing.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The code in memory is not the file's.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The kernel refused the programs.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The kernel refused a probe.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// A table of the kernel side could not be used.
    #[error("a table of the kernel side can't be used: {0}; `pauselens check` tests each need by itself")]
    Map(#[from] MapError),
    /// Signals or timers.
    #[error("waiting for signals failed: {0}")]
    Wait(io::Error),
    /// The target ended before the probes were in place.
    #[error("process {0} ended while the probes were being put in place; nothing was recorded")]
    EndedEarly(u32),
    /// As many processes are traced as there is room for.
    #[error("{0} processes are traced already, which is the most; name fewer, or a smaller cgroup")]
    TooMany(usize),
}
