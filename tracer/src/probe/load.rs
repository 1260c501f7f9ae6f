//! Loading: the object with the plan's values patched in, and of its programs only those that the plan names.

use std::collections::BTreeSet;

use aya::{Ebpf, EbpfError, EbpfLoader, VerifierLogLevel, programs::Program, programs::ProgramError};
use thiserror::Error;
use tracer_common::settings::names;

use super::plan::Plan;

/// The kernel side, compiled by `build.rs`.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/pauselens-ebpf"));

/// Sizes that are chosen when the object is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The ring buffer of fault details: a power of two, at least one page.
    pub ring_bytes: u32,
    /// How many threads can be followed at once.
    pub threads: u32,
    /// aya-log's level of kernel-side diagnostics; 0 is off and costs nothing.
    pub log_level: u8,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { ring_bytes: 8 << 20, threads: 32768, log_level: 0 }
    }
}

/// Maps made and programs loaded, nothing attached.
#[derive(Debug)]
pub struct Loaded {
    /// aya's handle of all of it.
    pub ebpf: Ebpf,
}

/// Loading failed.
#[derive(Debug, Error)]
pub enum LoadError {
    /// Maps could not be made.
    #[error(
        "the kernel ({release}) refused the maps: {source}; this needs root, or CAP_BPF and CAP_PERFMON; \
         `pauselens check` tests each need by itself"
    )]
    Maps {
        /// `uname -r`.
        release: String,
        /// What aya said.
        source: Box<EbpfError>,
    },
    /// A program was refused.
    #[error(
        "the kernel ({release}) refused the program `{program}`: {reason}; please report this with the lines above"
    )]
    Program {
        /// The program.
        program: String,
        /// `uname -r`.
        release: String,
        /// The verifier's last lines, or the system's error.
        reason: String,
    },
    /// The object doesn't hold what the plan names: a fault of pauselens.
    #[error("the built-in object has no program `{0}`; this is a fault of pauselens, please report it")]
    Missing(String),
}

/// Loads what the plan names.
///
/// # Errors
/// See [`LoadError`].
pub fn load(plan: &Plan, sizes: Sizes, release: &str) -> Result<Loaded, LoadError> {
    let exact = u32::from(plan.kinds_exact);
    let (device, inode) = plan.pid_namespace.map_or((0, 0), |namespace| (namespace.device, namespace.inode));
    let mut loader = EbpfLoader::new();
    // No kernel structure is read by its layout, so the kernel's type information is not needed.
    loader
        .btf(None)
        .verifier_log_level(VerifierLogLevel::STATS)
        .map_max_entries("DETAILS", sizes.ring_bytes)
        .map_max_entries("THREADS", sizes.threads)
        .override_global(aya_log::LEVEL, &sizes.log_level, false)
        .override_global(names::RSS_EXACT, &exact, true)
        .override_global(names::PID_NAMESPACE_DEVICE, &device, true)
        .override_global(names::PID_NAMESPACE_INODE, &inode, true);
    for (global, offset) in &plan.field_offsets {
        loader.override_global(global, offset, true);
    }
    let mut ebpf = loader
        .load(OBJECT)
        .map_err(|source| LoadError::Maps { release: release.to_owned(), source: Box::new(source) })?;
    let wanted: BTreeSet<&str> = plan.steps.iter().map(|step| step.program).collect();
    for name in wanted {
        let program = ebpf.program_mut(name).ok_or_else(|| LoadError::Missing(name.to_owned()))?;
        let loaded = match program {
            Program::UProbe(program) => program.load(),
            Program::TracePoint(program) => program.load(),
            Program::RawTracePoint(program) => program.load(),
            Program::PerfEvent(program) => program.load(),
            _ => return Err(LoadError::Missing(name.to_owned())),
        };
        loaded.map_err(|error| LoadError::Program {
            program: name.to_owned(),
            release: release.to_owned(),
            reason: reason(&error),
        })?;
    }
    Ok(Loaded { ebpf })
}

/// The verifier's last lines, which name the instruction and the objection.
fn reason(error: &ProgramError) -> String {
    const LINES: usize = 12;
    match error {
        ProgramError::LoadError { io_error, verifier_log } => {
            let log = verifier_log.to_string();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines[lines.len().saturating_sub(LINES)..].join("\n");
            format!("{io_error}\n{last}\n")
        }
        other => other.to_string(),
    }
}
