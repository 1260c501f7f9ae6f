//! The acts' names as options, and what each has to be able to do.

use std::{fmt, time::Duration};

use anyhow::{Context as _, Result};

use super::{
    super::{options::Options, stats::FutexWaitStats},
    compact, compute, file_io, futex_wait,
};

/// Something that the driver can do in a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum ActKind {
    FutexWait(Duration),
    Compute(Duration),
    FileIo(usize),
    Compact,
}

impl ActKind {
    /// Its name as an option, without the dashes.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::FutexWait(_) => "futex-wait",
            Self::Compute(_) => "compute",
            Self::FileIo(_) => "file-io",
            Self::Compact => "compact",
        }
    }
}

/// An act that is prepared. It is performed once.
pub(in super::super) trait Act: fmt::Debug {
    /// Runs through the same code as the pause will, so that its code and its memory are there.
    fn rehearse(&self);

    /// Does it.
    fn perform(&self);

    /// Says after the pause whether it was done.
    fn outcome(&self) -> Result<()> {
        Ok(())
    }

    /// How long the wait took, of an act that is one.
    fn futex_wait(&self) -> Option<FutexWaitStats> {
        None
    }
}

/// Prepares an act: everything is done here but the act.
pub(in super::super) fn prepare(kind: ActKind, options: &Options) -> Result<Box<dyn Act>> {
    match kind {
        ActKind::FutexWait(time) => futex_wait::prepare(time),
        ActKind::Compute(time) => Ok(compute::prepare(time)),
        ActKind::FileIo(pages) => file_io::prepare(pages, &options.directory),
        ActKind::Compact => compact::prepare(),
    }
    .with_context(|| format!("could not prepare --{}", kind.name()))
}
