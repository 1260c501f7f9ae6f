//! Why a probe could not be attached.

use std::io;

use aya::{
    Ebpf,
    programs::{Program, ProgramFd},
};
use thiserror::Error;

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

/// The program of that name, as the kernel knows it.
///
/// # Errors
/// It is not loaded.
pub(super) fn program_fd<'a>(ebpf: &'a Ebpf, name: &'static str) -> Result<&'a ProgramFd, AttachError> {
    match ebpf.program(name) {
        Some(Program::TracePoint(program)) => program.fd().map_err(|_| AttachError::Missing(name)),
        Some(Program::PerfEvent(program)) => program.fd().map_err(|_| AttachError::Missing(name)),
        _ => Err(AttachError::Missing(name)),
    }
}
