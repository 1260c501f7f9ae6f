//! Attaching one process's part of a plan: the places in its program, and the software events of its threads.

use std::{
    fs::File,
    num::NonZeroU32,
    os::fd::{AsFd as _, AsRawFd as _, OwnedFd},
    path::PathBuf,
    sync::Arc,
};

use aya::{
    Ebpf,
    programs::{
        Program, ProgramFd, UProbe,
        uprobe::{UProbeLink, UProbeScope},
    },
};

use super::{
    attach_error::{AttachError, program_fd},
    perf_event::attach_uprobe_event,
    plan::{Plan, Source, Step},
    software::attach_all,
};
use crate::{elf::Image, message::message, runtime::Site};

/// A process's probes in place. Dropping it takes them away. Dropped in this order: first what costs the most.
#[derive(Debug)]
pub struct ProcessProbes {
    /// How many threads have their events.
    pub threads: usize,
    pub(super) software: Vec<OwnedFd>,
    pub(super) uprobes: Vec<UProbeLink>,
    /// Tracepoints whose counters are raised while these are open.
    pub(super) semaphored: Vec<OwnedFd>,
}

impl ProcessProbes {
    /// Takes the probes of windows away for a while, and leaves those of the threads.
    pub fn take_windows_away(&mut self) {
        self.uprobes.clear();
        self.semaphored.clear();
    }

    /// Places the probes of windows again.
    ///
    /// # Errors
    /// See [`AttachError`].
    pub fn place_windows(
        &mut self,
        ebpf: &mut Ebpf,
        plan: &Plan,
        pid: u32,
        files: &[Arc<Image>],
    ) -> Result<(), AttachError> {
        (self.uprobes, self.semaphored) = attach_windows(ebpf, plan, pid, files)?;
        Ok(())
    }

    /// Takes away the probes of a program that has ended, on a thread of its own: the kernel takes its time. Nothing can
    /// be left behind in a program that is gone.
    pub fn forget_ended(self) {
        std::thread::spawn(move || self.take_away());
    }

    /// Takes the probes away. The kernel waits with each until no CPU can be inside its program any more: they wait side
    /// by side.
    pub fn take_away(self) {
        let Self { software, uprobes, semaphored, .. } = self;
        drop(software);
        std::thread::scope(|scope| {
            for link in uprobes {
                scope.spawn(move || drop(link));
            }
            for descriptor in semaphored {
                scope.spawn(move || drop(descriptor));
            }
        });
    }
}

/// Attaches the steps of the plan that belong to a process. `files` are the open files that the uprobes are placed in, as
/// their sites count them; the programs are loaded already.
///
/// # Errors
/// See [`AttachError`]. What had been attached by then is taken away again.
pub fn attach_process(
    ebpf: &mut Ebpf,
    plan: &Plan,
    pid: u32,
    files: &[Arc<Image>],
) -> Result<ProcessProbes, AttachError> {
    let (uprobes, semaphored) = attach_windows(ebpf, plan, pid, files)?;
    let mut software = Vec::new();
    for step in &plan.steps {
        // The rest is the host's: see `attach_host`.
        if let Source::Software(event) = &step.source {
            software.push((*event, step.program));
        }
    }
    let software = software
        .into_iter()
        .map(|(event, program)| Ok((event, program_fd(ebpf, program)?.as_fd())))
        .collect::<Result<Vec<_>, AttachError>>()?;
    let (software, threads) =
        attach_all(pid, &software).map_err(|source| AttachError::Software { pid, source })?;
    Ok(ProcessProbes { threads, software, uprobes, semaphored })
}

/// The probes in the process's code.
fn attach_windows(
    ebpf: &mut Ebpf,
    plan: &Plan,
    pid: u32,
    files: &[Arc<Image>],
) -> Result<(Vec<UProbeLink>, Vec<OwnedFd>), AttachError> {
    let (mut uprobes, mut semaphored) = (Vec::new(), Vec::new());
    for step in &plan.steps {
        let Source::Uprobe(site) = &step.source else { continue };
        let file = files.get(site.file).ok_or(AttachError::Missing(step.program))?.file();
        if site.semaphore.is_some() {
            let program = uprobe_fd(ebpf, step.program)?;
            semaphored.push(attach_semaphored(program, step, site, pid, file)?);
        } else {
            let program = uprobe(ebpf, step.program)?;
            uprobes.push(attach_uprobe(program, step, site.file_offset.0, pid, file)?);
        }
    }
    Ok((uprobes, semaphored))
}

fn uprobe<'a>(ebpf: &'a mut Ebpf, name: &'static str) -> Result<&'a mut UProbe, AttachError> {
    match ebpf.program_mut(name) {
        Some(Program::UProbe(program)) => Ok(program),
        _ => Err(AttachError::Missing(name)),
    }
}

fn uprobe_fd<'a>(ebpf: &'a Ebpf, name: &'static str) -> Result<&'a ProgramFd, AttachError> {
    match ebpf.program(name) {
        Some(Program::UProbe(program)) => program.fd().map_err(|_| AttachError::Missing(name)),
        _ => Err(AttachError::Missing(name)),
    }
}

/// A tracepoint whose counter the kernel raises while the probe is there, and lowers when the descriptor is closed.
fn attach_semaphored(
    program: &ProgramFd,
    step: &Step,
    site: &Site,
    pid: u32,
    file: &File,
) -> Result<OwnedFd, AttachError> {
    let semaphore = site.semaphore.map_or(0, |offset| offset.0);
    attach_uprobe_event(program.as_fd(), file, site.file_offset.0, semaphore, pid).map_err(|source| {
        AttachError::Uprobe {
            need: step.need,
            source_name: step.source.describe(),
            pid,
            reason: source.to_string(),
        }
    })
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
