//! The kernel side that all traced processes share: the loaded object, the host's probes, the rings, the stacks' names.

use std::{collections::BTreeMap, os::fd::OwnedFd};

use aya::sys::Stats;

use super::{
    drain::Rings, error::SessionError, kernel_log::KernelLog, leftovers, options::Options,
    outcome::ProgramCost, process::Process,
};
use crate::{
    pause::{KernelStacks, Losses},
    probe::{Attached, Facts, Plan, Tracefs, attach_host, gather, load, load_for_newcomers, plan_host},
    symbols::KernelNamer,
};

/// Loaded and attached; no process is let through the gate yet.
pub(super) struct KernelSide {
    pub(super) attached: Attached,
    /// The host's part of every process's plan.
    pub(super) plan: Plan,
    pub(super) kernel_release: String,
    pub(super) names_missing: Option<String>,
    pub(super) kernel_stacks: KernelStacks,
    rings: Rings,
    log: KernelLog,
    names: Option<KernelNamer>,
    program_stats: Option<OwnedFd>,
}

impl KernelSide {
    /// Loads the object and attaches the host's probes. `tell`: which new processes are told of, if any; `later`: whether
    /// processes may come later.
    pub(super) fn start(options: &Options, tell: Option<u32>, later: bool) -> Result<Self, SessionError> {
        let mut facts: Facts = gather(&Tracefs::open()?);
        facts.tracepoints.retain(|event, _| !options.without.contains(event));
        let mut plan = plan_host(&facts)?;
        if let Some(tell) = tell {
            plan = plan.with_lineage(&facts, tell)?;
        }
        let mut loaded = load(&plan, options.sizes, &facts.kernel_release)?;
        if later {
            load_for_newcomers(&mut loaded.ebpf, &facts.kernel_release)?;
        }
        let mut attached = attach_host(loaded, &plan)?;
        let (names, names_missing) = match KernelNamer::new() {
            Ok(mut namer) => {
                if later {
                    // It reads the kernel's symbols when it is first asked: now, and not when a process comes.
                    namer.stack(&[u64::MAX]);
                }
                (Some(namer), None)
            }
            Err(reason) => (None, Some(reason)),
        };
        Ok(Self {
            rings: Rings::take(&mut attached.ebpf)?,
            log: KernelLog::open(&mut attached.ebpf, options.sizes.log_level),
            program_stats: options
                .measure_programs
                .then(|| aya::sys::enable_stats(Stats::RunTime).ok())
                .flatten(),
            attached,
            plan,
            kernel_release: facts.kernel_release,
            names,
            names_missing,
            kernel_stacks: KernelStacks::default(),
        })
    }

    /// Empties the rings: each record goes to its process.
    pub(super) fn drain(&mut self, processes: &mut BTreeMap<u32, Process>) {
        self.log.flush();
        self.rings.drain(processes, &mut self.names, &mut self.kernel_stacks);
    }

    /// What was dropped so far, of all processes.
    pub(super) fn losses(&self) -> Losses {
        leftovers::losses(&self.attached.ebpf).unwrap_or_default()
    }

    /// What the kernel-side programs have cost since their statistics were switched on; `None` when they were not.
    pub(super) fn program_cost(&self) -> Option<ProgramCost> {
        self.program_stats.as_ref()?;
        let mut cost = ProgramCost::default();
        for (_, program) in self.attached.ebpf.programs() {
            if let Ok(info) = program.info() {
                cost.run_ns += u64::try_from(info.run_time().as_nanos()).unwrap_or(u64::MAX);
                cost.runs += info.run_count();
            }
        }
        Some(cost)
    }
}
