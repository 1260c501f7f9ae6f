//! Attaching the plan's probes, all through file descriptors: when the tracer is gone, so are they.

use std::{
    fs::File,
    io,
    num::NonZeroU32,
    os::fd::{AsFd as _, AsRawFd as _, OwnedFd},
    path::PathBuf,
};

use aya::{
    Ebpf,
    programs::{Program, ProgramError, ProgramFd, UProbe, uprobe::UProbeScope},
};
use thiserror::Error;

use super::{
    load::Loaded,
    perf_event::attach_tracepoint,
    plan::{Plan, Source, Step},
    software::attach_all,
};

/// Everything in place. Dropping it takes the probes away.
#[derive(Debug)]
pub struct Attached {
    /// Programs, uprobe links and maps.
    pub ebpf: Ebpf,
    /// How many threads have their events.
    pub threads: usize,
    events: Vec<OwnedFd>,
}

impl Attached {
    /// How many perf events are open, uprobes not counted.
    #[must_use]
    pub fn events(&self) -> usize {
        self.events.len()
    }
}

/// A probe could not be attached.
#[derive(Debug, Error)]
pub enum AttachError {
    /// At an instruction of the executable.
    #[error(
        "the probe for `{need}` ({source_name}) could not be placed: {reason}; `pauselens check --pid {pid}` tests \
         the places"
    )]
    Uprobe {
        /// What it was for.
        need: &'static str,
        /// Where.
        source_name: String,
        /// The target.
        pid: u32,
        /// What the system said.
        reason: String,
    },
    /// At a tracepoint.
    #[error(
        "`{need}` ({source_name}) could not be attached: {source}; `pauselens check` tests each need by itself"
    )]
    Tracepoint {
        /// What it was for.
        need: &'static str,
        /// Where.
        source_name: String,
        /// What the system said.
        source: io::Error,
    },
    /// At a thread's software events.
    #[error(
        "software events could not be opened on the threads of {pid}: {source}; with very many threads raise the \
         limit of open files (`ulimit -n`); otherwise `pauselens check` tests each need by itself"
    )]
    Software {
        /// The target.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The object doesn't hold what the plan names: a fault of pauselens.
    #[error("the program `{0}` is not loaded; this is a fault of pauselens, please report it")]
    Missing(&'static str),
}

/// Attaches every step of the plan. `executable` is the open file that the uprobes are placed in.
///
/// # Errors
/// See [`AttachError`]. What had been attached by then is taken away again.
pub fn attach(loaded: Loaded, plan: &Plan, pid: u32, executable: &File) -> Result<Attached, AttachError> {
    let Loaded { mut ebpf } = loaded;
    let mut events = Vec::new();
    let mut software = Vec::new();
    for step in &plan.steps {
        match &step.source {
            Source::Uprobe(site) => {
                let program = uprobe(&mut ebpf, step.program)?;
                attach_uprobe(program, step, site.file_offset.0, pid, executable)?;
            }
            Source::Tracepoint { id, .. } => {
                let program = program_fd(&ebpf, step.program)?;
                let event = attach_tracepoint(*id, program.as_fd()).map_err(|source| {
                    AttachError::Tracepoint { need: step.need, source_name: step.source.describe(), source }
                })?;
                events.push(event);
            }
            Source::Software(event) => software.push((*event, step.program)),
        }
    }
    let software = software
        .into_iter()
        .map(|(event, program)| Ok((event, program_fd(&ebpf, program)?.as_fd())))
        .collect::<Result<Vec<_>, AttachError>>()?;
    let (descriptors, threads) =
        attach_all(pid, &software).map_err(|source| AttachError::Software { pid, source })?;
    // The events on threads are closed before the tracepoints: see the order of fields in a drop.
    events.splice(0..0, descriptors);
    Ok(Attached { ebpf, threads, events })
}

fn uprobe<'a>(ebpf: &'a mut Ebpf, name: &'static str) -> Result<&'a mut UProbe, AttachError> {
    match ebpf.program_mut(name) {
        Some(Program::UProbe(program)) => Ok(program),
        _ => Err(AttachError::Missing(name)),
    }
}

fn program_fd<'a>(ebpf: &'a Ebpf, name: &'static str) -> Result<&'a ProgramFd, AttachError> {
    match ebpf.program(name) {
        Some(Program::TracePoint(program)) => program.fd().map_err(|_| AttachError::Missing(name)),
        Some(Program::PerfEvent(program)) => program.fd().map_err(|_| AttachError::Missing(name)),
        _ => Err(AttachError::Missing(name)),
    }
}

fn attach_uprobe(
    program: &mut UProbe,
    step: &Step,
    file_offset: u64,
    pid: u32,
    executable: &File,
) -> Result<(), AttachError> {
    let failed = |reason: String| AttachError::Uprobe {
        need: step.need,
        source_name: step.source.describe(),
        pid,
        reason,
    };
    // Through the open descriptor: the path may be gone, replaced, or of another mount namespace.
    let path = PathBuf::from(format!("/proc/self/fd/{}", executable.as_raw_fd()));
    let scope =
        NonZeroU32::new(pid).map(UProbeScope::OneProcess).ok_or_else(|| failed("pid 0".to_owned()))?;
    program.attach(file_offset, path, scope).map(drop).map_err(|error: ProgramError| failed(chain(&error)))
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
