//! Attaching the host's part of a plan, all through file descriptors: when the tracer is gone, so are its probes.

use std::{
    os::fd::{AsFd as _, OwnedFd},
    thread::JoinHandle,
};

use aya::{
    Ebpf,
    programs::{Program, raw_trace_point::RawTracePointLink, uprobe::UProbeLink},
};

use super::{
    attach_error::{AttachError, program_fd},
    load::Loaded,
    perf_event::attach_tracepoint,
    plan::{Plan, Source},
    process::ProcessProbes,
};
use crate::message::message;

/// The host's probes in place. Dropping it takes them away.
#[derive(Debug)]
pub struct Attached {
    /// Programs and maps.
    pub ebpf: Ebpf,
    /// See [`Loaded::task_registers`].
    pub task_registers: bool,
    host: HostProbes,
}

/// What is attached once, apart from the programs themselves. Dropped in this order.
#[derive(Debug, Default)]
struct HostProbes {
    raw_tracepoints: Vec<RawTracePointLink>,
    // The kernel takes these away one at a time, tens of milliseconds each.
    tracepoints: Vec<OwnedFd>,
}

impl Attached {
    /// Begins to take all probes away, those of the processes as well. The programs and maps go with them.
    #[must_use]
    pub fn detach(self, processes: Vec<ProcessProbes>) -> Detaching {
        let Self { ebpf, host, .. } = self;
        let (mut software, mut uprobes, mut semaphored) = (Vec::new(), Vec::new(), Vec::new());
        for process in processes {
            software.extend(process.software);
            uprobes.extend(process.uprobes);
            semaphored.extend(process.semaphored);
        }
        let others = std::thread::spawn(move || {
            // First what costs the most.
            drop(software);
            drop(host);
            drop(ebpf);
        });
        Detaching { uprobes, semaphored, others: Some(others) }
    }
}

/// Probes that are being taken away. They are gone when this has been dropped.
#[derive(Debug)]
pub struct Detaching {
    uprobes: Vec<UProbeLink>,
    /// Uprobes as well: what is said below is true of them too.
    semaphored: Vec<OwnedFd>,
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
            for event in self.semaphored.drain(..) {
                scope.spawn(move || drop(event));
            }
        });
        if let Some(others) = self.others.take() {
            // It only closes descriptors; if it failed the kernel closes them at our end.
            let _ = others.join();
        }
    }
}

/// Attaches the tracepoints of the plan. They do nothing before a process is let through the gate.
///
/// # Errors
/// See [`AttachError`]. What had been attached by then is taken away again.
pub fn attach_host(loaded: Loaded, plan: &Plan) -> Result<Attached, AttachError> {
    let Loaded { mut ebpf, task_registers } = loaded;
    let mut host = HostProbes::default();
    for step in &plan.steps {
        match &step.source {
            Source::Tracepoint { id, .. } => {
                let program = program_fd(&ebpf, step.program)?;
                let event = attach_tracepoint(*id, program.as_fd()).map_err(|source| {
                    AttachError::Tracepoint { need: step.need, source_name: step.source.describe(), source }
                })?;
                host.tracepoints.push(event);
            }
            Source::RawTracepoint { event } => {
                let program = match ebpf.program_mut(step.program) {
                    Some(Program::RawTracePoint(program)) => program,
                    _ => return Err(AttachError::Missing(step.program)),
                };
                let name = event.split_once(':').map_or(*event, |(_, name)| name);
                let link = program.attach(name).and_then(|link| program.take_link(link));
                host.raw_tracepoints.push(link.map_err(|error| AttachError::RawTracepoint {
                    need: step.need,
                    source_name: step.source.describe(),
                    reason: message(&error),
                })?);
            }
            // Of a process: see `attach_process`.
            Source::Uprobe(_) | Source::Software(_) => {}
        }
    }
    Ok(Attached { ebpf, task_registers, host })
}
