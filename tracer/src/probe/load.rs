//! Loading: the object with the plan's values patched in, and of its programs only those that the plan names.

use std::{
    collections::BTreeSet,
    num::NonZeroUsize,
    sync::{Mutex, PoisonError},
    thread,
};

use aya::{Ebpf, EbpfError, EbpfLoader, VerifierLogLevel, programs::Program, programs::ProgramError};
use thiserror::Error;
use tracer_common::settings::names;

use super::plan::Plan;

/// As many threads load programs.
const LOADERS: usize = 4;
/// Programs that take the kernel longest to verify.
const LONGEST_TO_VERIFY: [&str; 4] =
    ["pause_resumed", "switched", "switched_without_state", "pause_requested"];

/// The kernel side, compiled by `build.rs`.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/pauselens-ebpf"));

/// Sizes that are chosen when the object is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The ring buffer of fault details: a power of two, at least one page.
    pub ring_bytes: u32,
    /// How many threads can be followed at once.
    pub threads: u32,
    /// How many windows can be open at once.
    pub windows: u32,
    /// How much of a stack is copied, in bytes, in steps of [`tracer_common::stack_copy::CHUNK_BYTES`]; 0: none is.
    pub stack_copy_bytes: u32,
    /// aya-log's level of kernel-side diagnostics; 0 is off and costs nothing.
    pub log_level: u8,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { ring_bytes: 8 << 20, threads: 32768, windows: 1024, stack_copy_bytes: 0, log_level: 0 }
    }
}

/// Maps made and programs loaded, nothing attached.
#[derive(Debug)]
pub struct Loaded {
    /// aya's handle of all of it.
    pub ebpf: Ebpf,
    /// Stacks can be copied also where the kernel itself faulted on the program's behalf.
    pub task_registers: bool,
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
    if sizes.stack_copy_bytes > 0 {
        // A kernel that does not have the helper (`bpf_task_pt_regs`, since Linux 5.15) refuses the programs that call it.
        let loaded = load_with(plan, sizes, true, release);
        if loaded.is_ok() {
            return loaded;
        }
    }
    load_with(plan, sizes, false, release)
}

fn load_with(plan: &Plan, sizes: Sizes, task_registers: bool, release: &str) -> Result<Loaded, LoadError> {
    let given = u32::from(task_registers);
    let exact = u32::from(plan.kinds_exact);
    let (device, inode) = plan.pid_namespace.map_or((0, 0), |namespace| (namespace.device, namespace.inode));
    let lineage = plan.lineage.unwrap_or(0);
    let mut loader = EbpfLoader::new();
    // No kernel structure is read by its layout, so the kernel's type information is not needed.
    loader
        .btf(None)
        .verifier_log_level(VerifierLogLevel::STATS)
        .map_max_entries("DETAILS", sizes.ring_bytes)
        .map_max_entries("THREADS", sizes.threads)
        .map_max_entries("WINDOWS", sizes.windows)
        .map_max_entries("REQUEST_SCRATCH", sizes.windows)
        .override_global(aya_log::LEVEL, &sizes.log_level, false)
        .override_global(names::RSS_EXACT, &exact, true)
        .override_global(names::STACK_COPY_BYTES, &sizes.stack_copy_bytes, true)
        .override_global(names::TASK_REGISTERS, &given, true)
        .override_global(names::LINEAGE, &lineage, true)
        .override_global(names::PID_NAMESPACE_DEVICE, &device, true)
        .override_global(names::PID_NAMESPACE_INODE, &inode, true);
    for (global, offset) in &plan.field_offsets {
        loader.override_global(global, offset, true);
    }
    let mut ebpf = loader
        .load(OBJECT)
        .map_err(|source| LoadError::Maps { release: release.to_owned(), source: Box::new(source) })?;
    load_programs(&mut ebpf, plan, release)?;
    Ok(Loaded { ebpf, task_registers })
}

/// Loads what the plan names and is not loaded yet: another process can need programs that the first one did not.
///
/// # Errors
/// See [`LoadError`].
pub fn load_programs(ebpf: &mut Ebpf, plan: &Plan, release: &str) -> Result<(), LoadError> {
    let wanted: BTreeSet<&str> = plan.steps.iter().map(|step| step.program).collect();
    load_named(ebpf, wanted, release)
}

/// Loads what the windows of most runtimes need, for processes that come later: the kernel takes up to a second to verify
/// these programs, in which a process that is waiting for them is not covered.
///
/// # Errors
/// See [`LoadError`].
pub fn load_for_newcomers(ebpf: &mut Ebpf, release: &str) -> Result<(), LoadError> {
    let usual = ["pause_requested", "pause_stopped", "pause_told", "pause_restarting", "pause_resumed"];
    load_named(ebpf, usual, release)
}

/// The kernel takes most of the time to verify the programs, on the CPU of whoever loads: so several load.
fn load_named<'a>(
    ebpf: &mut Ebpf,
    names: impl IntoIterator<Item = &'a str>,
    release: &str,
) -> Result<(), LoadError> {
    let mut wanted: BTreeSet<&str> = names.into_iter().collect();
    let mut programs: Vec<(&str, &mut Program)> = Vec::new();
    for (name, program) in ebpf.programs_mut() {
        if wanted.remove(name) && program.fd().is_err() {
            programs.push((name, program));
        }
    }
    if let Some(name) = wanted.first() {
        return Err(LoadError::Missing((*name).to_owned()));
    }
    // Those that take longest begin first.
    programs.sort_by_key(|(name, _)| !LONGEST_TO_VERIFY.contains(name));
    let waiting = Mutex::new(programs.into_iter());
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let loads = || {
        while let Some((name, program)) = next() {
            if let Err(error) = load_one(name, program, release) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).push((name.to_owned(), error));
            }
        }
    };
    let helpers = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(LOADERS) - 1;
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(loads);
        }
        loads();
    });
    let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    // The same error each time, whoever was first.
    failed.sort_by(|(one, _), (other, _)| one.cmp(other));
    failed.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
}

fn load_one(name: &str, program: &mut Program, release: &str) -> Result<(), LoadError> {
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
    })
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
