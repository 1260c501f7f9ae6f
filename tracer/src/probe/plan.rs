//! The plan: which probe serves which need on this host. A pure function of facts, tested as a table without root.

mod needs;

use thiserror::Error;

use super::host::{Facts, PidNamespace};
use crate::runtime::{PauseSites, Site, SiteKind};

/// What will be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Probes to attach, in this order.
    pub steps: Vec<Step>,
    /// What would have been better, or is missing, and why.
    pub skipped: Vec<Skipped>,
    /// How a fault's begin is seen.
    pub fault_begin: FaultBegin,
    /// A fault's kind comes from the kernel's counters; otherwise it is inferred.
    pub kinds_exact: bool,
    /// Switches and wake-ups are seen: a pause's budget and its stopping phase can be told.
    pub schedule_seen: bool,
    /// Requests to block devices are seen.
    pub devices_seen: bool,
    /// Which new processes are told of: bits of [`tracer_common::lineage::tell`].
    pub lineage: Option<u32>,
    /// NUMA balancing is on.
    pub numa_balancing: bool,
    /// The tracer's pid namespace, unless it is the initial one.
    pub pid_namespace: Option<PidNamespace>,
    /// Field offsets to patch into the object: global name and value.
    pub field_offsets: Vec<(&'static str, u32)>,
}

/// How a fault's begin is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultBegin {
    /// By `exceptions:page_fault_user`, which gives the hardware's error code, and the software event for faults
    /// from kernel mode.
    Tracepoint,
    /// By the software event alone.
    Software,
}

/// One probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is needed.
    pub need: &'static str,
    /// The program's name in the object.
    pub program: &'static str,
    /// Where it is attached.
    pub source: Source,
    /// Why this source.
    pub why: &'static str,
}

/// Where a program is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// At an instruction of the target's executable.
    Uprobe(Site),
    /// At a kernel tracepoint, `category:name`, with its number.
    Tracepoint {
        /// `category:name`.
        event: String,
        /// The kernel's number for it.
        id: u64,
    },
    /// At a kernel tracepoint whose fields are not read, by its name alone: cheaper for everybody, and taken away at once.
    RawTracepoint {
        /// `category:name`.
        event: &'static str,
    },
    /// At a software event of every thread of the target.
    Software(SoftwareEvent),
}

/// A per-thread software event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoftwareEvent {
    /// Every fault's begin.
    PageFaults,
    /// Begin of faults from kernel mode only.
    PageFaultsKernelMode,
    /// End of a minor fault.
    PageFaultsMinor,
    /// End of a major fault.
    PageFaultsMajor,
}

impl Source {
    /// In words, for the report.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Uprobe(site) => format!("uprobe {}", describe_site(site)),
            Self::Tracepoint { event, .. } => format!("tracepoint {event}"),
            Self::RawTracepoint { event } => format!("raw tracepoint {event}"),
            Self::Software(event) => format!("software event {} of each thread", event.name()),
        }
    }
}

/// `runtime.startTheWorldWithSema+0x1c3 (return)`, or the name alone for an entry.
fn describe_site(site: &Site) -> String {
    let what = match site.kind {
        SiteKind::Entry | SiteKind::Usdt | SiteKind::Given => " at",
        SiteKind::Return => ", return at",
        SiteKind::TailJump => ", jump out of it at",
    };
    format!("{}{what} file offset {:#x}", site.function, site.file_offset)
}

impl SoftwareEvent {
    fn name(self) -> &'static str {
        match self {
            Self::PageFaults => "PAGE_FAULTS",
            Self::PageFaultsKernelMode => "PAGE_FAULTS (kernel mode)",
            Self::PageFaultsMinor => "PAGE_FAULTS_MIN",
            Self::PageFaultsMajor => "PAGE_FAULTS_MAJ",
        }
    }
}

/// A source that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// What it would have served.
    pub need: &'static str,
    /// The source.
    pub source: &'static str,
    /// Why it is not used, and what that means for the result.
    pub why: &'static str,
}

/// A need that nothing on this host serves.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "the kernel ({release}) has no tracepoint {event}, which is needed to {need}; `pauselens check` shows what else \
     is missing"
)]
pub struct PlanError {
    event: &'static str,
    need: &'static str,
    release: String,
}

/// Where the moment at which the world has stopped is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Probes at the return instructions of the stopping function.
    Probe,
    /// The runtime's own stamp, which arrives with the restart.
    Stamp,
}

/// Decides for one process: what the host's part is, and this process's.
///
/// # Errors
/// When something that can't be done without is missing.
pub fn plan(facts: &Facts, sites: &PauseSites, stopped: Stopped) -> Result<Plan, PlanError> {
    Ok(plan_host(facts)?.for_process(sites, stopped))
}

/// Decides what does not depend on a process's program: everything but the places in it. The tracepoints of this plan are
/// attached once, its software events on every process that is traced.
///
/// # Errors
/// When something that can't be done without is missing.
pub fn plan_host(facts: &Facts) -> Result<Plan, PlanError> {
    let mut plan = Plan {
        steps: Vec::new(),
        skipped: Vec::new(),
        fault_begin: FaultBegin::Software,
        kinds_exact: false,
        schedule_seen: false,
        devices_seen: false,
        lineage: None,
        numa_balancing: facts.numa_balancing,
        pid_namespace: facts.pid_namespace,
        field_offsets: Vec::new(),
    };
    needs::plan_thread_ends(&mut plan, facts)?;
    needs::plan_fault_ends(&mut plan, facts);
    needs::plan_kinds(&mut plan, facts);
    needs::plan_schedule(&mut plan, facts);
    needs::plan_freeing(&mut plan, facts);
    needs::plan_devices(&mut plan, facts);
    needs::plan_fault_begins(&mut plan, facts);
    Ok(plan)
}

impl Plan {
    /// This plan with what notices new processes. `tell`: bits of [`tracer_common::lineage::tell`].
    ///
    /// # Errors
    /// When the kernel lacks what it takes.
    pub fn with_lineage(mut self, facts: &Facts, tell: u32) -> Result<Self, PlanError> {
        needs::plan_lineage(&mut self, facts)?;
        self.lineage = Some(tell);
        Ok(self)
    }

    /// This plan with the places of a process's program, which come first.
    #[must_use]
    pub fn for_process(&self, sites: &PauseSites, stopped: Stopped) -> Self {
        let mut plan = Self { steps: Vec::new(), skipped: Vec::new(), ..self.clone() };
        needs::plan_windows(&mut plan, sites, stopped);
        plan.steps.extend(self.steps.iter().cloned());
        plan.skipped.extend(self.skipped.iter().cloned());
        plan
    }
}

impl Source {
    /// Whether it is attached to a process. The others are attached once for the whole host.
    #[must_use]
    pub fn belongs_to_process(&self) -> bool {
        match self {
            Self::Uprobe(_) | Self::Software(_) => true,
            Self::Tracepoint { .. } | Self::RawTracepoint { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests;
