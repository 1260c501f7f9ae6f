//! Attaching the plan's probes, all through file descriptors: when the tracer is gone, so are they.

use std::{
    fs::File,
    io,
    num::NonZeroU32,
    os::fd::{AsFd as _, AsRawFd as _, OwnedFd},
    path::PathBuf,
    thread::JoinHandle,
};

use aya::{
    Ebpf,
    programs::{
        Program, ProgramFd, UProbe,
        raw_trace_point::RawTracePointLink,
        uprobe::{UProbeLink, UProbeScope},
    },
};
use thiserror::Error;

use super::{
    load::Loaded,
    perf_event::attach_tracepoint,
    plan::{Plan, Source, Step},
    software::attach_all,
};
use crate::message::message;

/// Everything in place. Dropping it takes the probes away.
#[derive(Debug)]
pub struct Attached {
    /// Programs and maps.
    pub ebpf: Ebpf,
    /// How many threads have their events.
    pub threads: usize,
    placed: Placed,
}

impl Attached {
    /// Begins to take the probes away, and leaves programs and maps behind to be read.
    #[must_use]
    pub fn detach(self) -> (Ebpf, Detaching) {
        let Self { ebpf, placed, .. } = self;
        let Placed { software, raw_tracepoints, tracepoints, uprobes } = placed;
        let others = std::thread::spawn(move || {
            drop(software);
            drop(raw_tracepoints);
            // The kernel takes these away one at a time, tens of milliseconds each.
            drop(tracepoints);
        });
        (ebpf, Detaching { uprobes, others: Some(others) })
    }
}

/// Probes that are being taken away. They are gone when this has been dropped.
#[derive(Debug)]
pub struct Detaching {
    uprobes: Vec<UProbeLink>,
    others: Option<JoinHandle<()>>,
}

impl Detaching {
    /// Leaves what is still there to the end of this process: the safe way for a program that can be killed.
    ///
    /// Whoever is killed while it takes a uprobe away leaves the breakpoint in the target: the kernel doesn't get at
    /// the target's page while a fatal signal is pending (Linux `__get_user_pages`; it logs "failed to unregister,
    /// leaking uprobe"). At a process's end, however it came, none is pending any more.
    pub fn at_exit(self) {
        std::mem::forget(self);
    }
}

impl Drop for Detaching {
    /// Taking a uprobe away waits until no CPU can be inside its program any more: they wait side by side.
    fn drop(&mut self) {
        std::thread::scope(|scope| {
            for link in self.uprobes.drain(..) {
                scope.spawn(move || drop(link));
            }
        });
        if let Some(others) = self.others.take() {
            // It only closes descriptors; if it failed the kernel closes them at our end.
            let _ = others.join();
        }
    }
}

/// What is attached, apart from the programs themselves. Dropped in this order: first what costs the most.
#[derive(Debug, Default)]
struct Placed {
    software: Vec<OwnedFd>,
    raw_tracepoints: Vec<RawTracePointLink>,
    tracepoints: Vec<OwnedFd>,
    uprobes: Vec<UProbeLink>,
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
    /// At a tracepoint, by name.
    #[error(
        "`{need}` ({source_name}) could not be attached: {reason}; `pauselens check` tests each need by itself"
    )]
    RawTracepoint {
        /// What it was for.
        need: &'static str,
        /// Where.
        source_name: String,
        /// What the system said.
        reason: String,
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
    let mut placed = Placed::default();
    let mut software = Vec::new();
    for step in &plan.steps {
        match &step.source {
            Source::Uprobe(site) => {
                let program = uprobe(&mut ebpf, step.program)?;
                placed.uprobes.push(attach_uprobe(program, step, site.file_offset.0, pid, executable)?);
            }
            Source::Tracepoint { id, .. } => {
                let program = program_fd(&ebpf, step.program)?;
                let event = attach_tracepoint(*id, program.as_fd()).map_err(|source| {
                    AttachError::Tracepoint { need: step.need, source_name: step.source.describe(), source }
                })?;
                placed.tracepoints.push(event);
            }
            Source::RawTracepoint { event } => {
                let program = match ebpf.program_mut(step.program) {
                    Some(Program::RawTracePoint(program)) => program,
                    _ => return Err(AttachError::Missing(step.program)),
                };
                let name = event.split_once(':').map_or(*event, |(_, name)| name);
                let link = program.attach(name).and_then(|link| program.take_link(link));
                placed.raw_tracepoints.push(link.map_err(|error| AttachError::RawTracepoint {
                    need: step.need,
                    source_name: step.source.describe(),
                    reason: message(&error),
                })?);
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
    placed.software = descriptors;
    Ok(Attached { ebpf, threads, placed })
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
) -> Result<UProbeLink, AttachError> {
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
    let link = program.attach(file_offset, path, scope).and_then(|link| program.take_link(link));
    link.map_err(|error| failed(message(&error)))
}
