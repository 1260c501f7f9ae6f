//! The plan: which probe serves which need on this host. A pure function of facts, tested as a table without root.

use thiserror::Error;
use tracer_common::settings::{UNKNOWN_OFFSET, names};

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
    match site.kind {
        SiteKind::Entry => format!("{} at file offset {:#x}", site.function, site.file_offset),
        SiteKind::Return => format!("{}, return at file offset {:#x}", site.function, site.file_offset),
    }
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

/// Decides.
///
/// # Errors
/// When something that can't be done without is missing.
pub fn plan(facts: &Facts, sites: &PauseSites, stopped: Stopped) -> Result<Plan, PlanError> {
    let mut plan = Plan {
        steps: Vec::new(),
        skipped: Vec::new(),
        fault_begin: FaultBegin::Software,
        kinds_exact: false,
        schedule_seen: false,
        devices_seen: false,
        numa_balancing: facts.numa_balancing,
        pid_namespace: facts.pid_namespace,
        field_offsets: Vec::new(),
    };
    plan_windows(&mut plan, sites, stopped);
    plan_thread_ends(&mut plan, facts)?;
    plan_fault_ends(&mut plan, facts);
    plan_kinds(&mut plan, facts);
    plan_schedule(&mut plan, facts);
    plan_freeing(&mut plan, facts);
    plan_devices(&mut plan, facts);
    plan_fault_begins(&mut plan, facts);
    Ok(plan)
}

impl Plan {
    fn step(&mut self, need: &'static str, program: &'static str, source: Source, why: &'static str) {
        self.steps.push(Step { need, program, source, why });
    }

    /// Adds a tracepoint with the fields that its program reads. `false`: the kernel lacks it, or a field.
    fn tracepoint(
        &mut self,
        facts: &Facts,
        (need, program, event, why): (&'static str, &'static str, &str, &'static str),
        fields: &[(&'static str, &str)],
    ) -> bool {
        let Some(format) = facts.tracepoints.get(event) else { return false };
        let offsets: Vec<_> =
            fields.iter().map(|(global, field)| (*global, format.offset_bytes(field))).collect();
        if offsets.iter().any(|(_, offset)| offset.is_none()) {
            return false;
        }
        self.field_offsets
            .extend(offsets.into_iter().map(|(global, offset)| (global, offset.unwrap_or(UNKNOWN_OFFSET))));
        self.step(need, program, Source::Tracepoint { event: event.to_owned(), id: format.id }, why);
        true
    }
}

impl Plan {
    /// Adds a tracepoint whose fields are not read. `false`: the kernel lacks it.
    fn raw_tracepoint(
        &mut self,
        facts: &Facts,
        (need, program, event, why): (&'static str, &'static str, &'static str, &'static str),
    ) -> bool {
        let known = facts.tracepoints.contains_key(event);
        if known {
            self.step(need, program, Source::RawTracepoint { event }, why);
        }
        known
    }
}

fn plan_windows(plan: &mut Plan, sites: &PauseSites, stopped: Stopped) {
    let entry = "entry of the function, where the kernel need not step the probed instruction";
    let exit = "return instruction, decoded: a return probe would break a runtime that moves stacks";
    plan.step("pause requested", "pause_requested", Source::Uprobe(sites.requested.clone()), entry);
    match stopped {
        Stopped::Probe => {
            for site in &sites.stopped {
                plan.step("pause stopped", "pause_stopped", Source::Uprobe(site.clone()), exit);
            }
        }
        Stopped::Stamp => plan.skipped.push(Skipped {
            need: "pause stopped",
            source: "uprobe at the stopping function's return",
            why: "the runtime passes its own stamp on, which spares the target a trap in each pause (--cross-check \
                  probes all the same and compares)",
        }),
    }
    plan.step("pause restarting", "pause_restarting", Source::Uprobe(sites.restarting.clone()), entry);
    for site in &sites.resumed {
        plan.step("pause resumed", "pause_resumed", Source::Uprobe(site.clone()), exit);
    }
}

fn plan_thread_ends(plan: &mut Plan, facts: &Facts) -> Result<(), PlanError> {
    let event = "sched:sched_process_exit";
    let why = "keeps the totals of threads that end";
    let added = plan.raw_tracepoint(facts, ("thread end", "thread_exit", event, why));
    let why = "keeps the thread table small, and no thread's name for another's";
    let freed = "sched:sched_process_free";
    let event = if added { freed } else { event };
    let added = added && plan.raw_tracepoint(facts, ("thread forgotten", "thread_freed", freed, why));
    if added {
        Ok(())
    } else {
        let need = "follow threads that end";
        Err(PlanError { event, need, release: facts.kernel_release.clone() })
    }
}

fn plan_fault_ends(plan: &mut Plan, facts: &Facts) {
    let why = "fires when the fault has been handled; costs other processes nothing";
    let minor = Source::Software(SoftwareEvent::PageFaultsMinor);
    plan.step("fault end, minor", "fault_end_minor", minor, why);
    let major = Source::Software(SoftwareEvent::PageFaultsMajor);
    plan.step("fault end, major", "fault_end_major", major, why);
    let signal = (
        "fault end, signal",
        "signal_sent",
        "signal:signal_generate",
        "faults that end in a signal have no other end",
    );
    if !plan.tracepoint(facts, signal, &[(names::SIGNAL_NUMBER, "sig"), (names::SIGNAL_CODE, "code")]) {
        plan.skipped.push(Skipped {
            need: signal.0,
            source: "tracepoint signal:signal_generate",
            why: "not in this kernel, or left out: faults that end in a signal are counted as fault_end_missing",
        });
    }
    let why = "ends faults that the kernel gave up for a signal";
    let delivered = ("fault end, given up", "signal_delivered", "signal:signal_deliver", why);
    if !plan.raw_tracepoint(facts, delivered) {
        plan.skipped.push(Skipped {
            need: delivered.0,
            source: "tracepoint signal:signal_deliver",
            why: "not in this kernel, or left out: faults that are given up for a signal are counted as fault_end_missing",
        });
    }
}

fn plan_kinds(plan: &mut Plan, facts: &Facts) {
    let need = "fault kind";
    let source = "tracepoint kmem:rss_stat";
    if !facts.counters_exact {
        plan.skipped.push(Skipped {
            need,
            source,
            why: "before Linux 6.2 the counters are batched: kinds are inferred from the mapping and the major flag",
        });
        return;
    }
    let tracepoint =
        (need, "resident_changed", "kmem:rss_stat", "tells which counters a fault changed: exact");
    plan.kinds_exact = plan.tracepoint(
        facts,
        tracepoint,
        &[(names::RSS_CURR, "curr"), (names::RSS_MEMBER, "member"), (names::RSS_SIZE, "size")],
    );
    if !plan.kinds_exact {
        plan.skipped.push(Skipped {
            need,
            source,
            why: "not in this kernel, or left out: kinds are inferred from the mapping and the major flag",
        });
    }
}

fn plan_schedule(plan: &mut Plan, facts: &Facts) {
    let switched = if facts.switch_tells_state { "switched" } else { "switched_without_state" };
    let switch = (
        "switches",
        switched,
        "sched:sched_switch",
        "who has a CPU: the budget, the stopping phase, and faults that wait; two look-ups for other processes' switches",
    );
    let waking = (
        "wake-ups",
        "waking",
        "sched:sched_waking",
        "when a blocked thread became ready to run, and who woke it; one look-up for other processes' wake-ups",
    );
    plan.schedule_seen = plan.raw_tracepoint(facts, switch) && plan.raw_tracepoint(facts, waking);
    let runtime = (
        "running time",
        "ran",
        "sched:sched_stat_runtime",
        "when a thread got a CPU, where the kernel did not tell the switch; one look-up whenever it accounts for others",
    );
    if plan.schedule_seen && !plan.raw_tracepoint(facts, runtime) {
        plan.skipped.push(Skipped {
            need: "running time",
            source: "tracepoint sched:sched_stat_runtime",
            why: "not in this kernel, or left out: where a switch is not told, waiting for a CPU can end too late",
        });
    }
    if !plan.schedule_seen {
        plan.skipped.push(Skipped {
            need: "budget",
            source: "tracepoints sched:sched_switch and sched:sched_waking",
            why: "not both in this kernel, or left out: no budget of pauses, no stopping phase by thread, and faults that userfaultfd \
                  answered can look like reads of fresh memory",
        });
    }
}

fn plan_freeing(plan: &mut Plan, facts: &Facts) {
    let why = "time that is spent reclaiming or compacting memory";
    let mut missing = false;
    for (need, begin, end, programs) in [
        (
            "reclaim",
            "vmscan:mm_vmscan_direct_reclaim_begin",
            "vmscan:mm_vmscan_direct_reclaim_end",
            ("reclaim_begin", "reclaim_end"),
        ),
        (
            "reclaim",
            "vmscan:mm_vmscan_memcg_reclaim_begin",
            "vmscan:mm_vmscan_memcg_reclaim_end",
            ("reclaim_begin", "reclaim_end"),
        ),
        (
            "compaction",
            "compaction:mm_compaction_begin",
            "compaction:mm_compaction_end",
            ("compact_begin", "compact_end"),
        ),
    ] {
        // Never half a pair: a begin without its end would swallow what comes after it.
        if facts.tracepoints.contains_key(begin) && facts.tracepoints.contains_key(end) {
            plan.raw_tracepoint(facts, (need, programs.1, end, why));
            plan.raw_tracepoint(facts, (need, programs.0, begin, why));
        } else {
            missing = true;
        }
    }
    if missing {
        plan.skipped.push(Skipped {
            need: "reclaim",
            source: "tracepoints vmscan:mm_vmscan_*_reclaim_*, compaction:mm_compaction_*",
            why: "not all in this kernel, or left out: reclaim and compaction are not whole, the rest of them counts as \
                  on CPU or blocked",
        });
    }
}

fn plan_devices(plan: &mut Plan, facts: &Facts) {
    let queued = (
        "device",
        "request_queued",
        "block:block_bio_queue",
        "which device a fault reads from, and how much; one early return for other processes' requests",
    );
    let fields = [(names::BIO_DEVICE, "dev"), (names::BIO_SECTORS, "nr_sector"), (names::BIO_FLAGS, "rwbs")];
    plan.devices_seen = plan.tracepoint(facts, queued, &fields);
    if !plan.devices_seen {
        plan.skipped.push(Skipped {
            need: queued.0,
            source: "tracepoint block:block_bio_queue",
            why: "not in this kernel, or left out: the devices that faults read from are not told",
        });
    }
}

/// Last, so that no fault begins before everything that ends one is in place.
fn plan_fault_begins(plan: &mut Plan, facts: &Facts) {
    let tracepoint = (
        "fault begin",
        "fault_begin_user",
        "exceptions:page_fault_user",
        "gives address, instruction and the hardware's error code; one early return for other processes",
    );
    let fields =
        [(names::FAULT_ADDRESS, "address"), (names::FAULT_IP, "ip"), (names::FAULT_ERROR_CODE, "error_code")];
    if plan.tracepoint(facts, tracepoint, &fields) {
        plan.fault_begin = FaultBegin::Tracepoint;
        let kernel_mode = Source::Software(SoftwareEvent::PageFaultsKernelMode);
        let why = "the kernel's own accesses on the program's behalf";
        plan.step("fault begin, kernel mode", "fault_begin_software", kernel_mode, why);
    } else {
        plan.skipped.push(Skipped {
            need: tracepoint.0,
            source: "tracepoint exceptions:page_fault_user",
            why: "not on this kernel or processor, or left out: no error code, so copy-on-write is told by the counters alone",
        });
        let all = Source::Software(SoftwareEvent::PageFaults);
        plan.step(tracepoint.0, "fault_begin_software", all, "works on every kernel and processor");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        elf::{ElfAddress, FileOffset, SymbolSource},
        probe::{event_format::EventFormat, host::TRACEPOINTS},
    };

    fn sites(stops: u64, resumes: u64) -> PauseSites {
        let site = |function: &str, place: u64, kind| Site {
            function: function.to_owned(),
            elf_address: ElfAddress(0x40_0000 + place),
            file_offset: FileOffset(place),
            source: SymbolSource::Symtab,
            kind,
        };
        PauseSites {
            requested: site("stop", 0x1000, SiteKind::Entry),
            stopped: (0..stops).map(|n| site("stop", 0x1010 + n, SiteKind::Return)).collect(),
            restarting: site("start", 0x2000, SiteKind::Entry),
            resumed: (0..resumes).map(|n| site("start", 0x2010 + n, SiteKind::Return)).collect(),
        }
    }

    fn facts(without: &[&str]) -> Facts {
        let fields = [
            "address",
            "ip",
            "error_code",
            "curr",
            "member",
            "size",
            "sig",
            "code",
            "prev_state",
            "prev_pid",
            "prev_comm",
            "next_pid",
            "pid",
            "runtime",
            "dev",
            "nr_sector",
            "rwbs",
        ];
        let format = |id| EventFormat {
            id,
            offsets_bytes: fields.iter().zip(1..).map(|(field, n)| ((*field).to_owned(), n * 8)).collect(),
        };
        Facts {
            kernel_release: "6.18.0".to_owned(),
            tracepoints: TRACEPOINTS
                .iter()
                .zip(100..)
                .filter(|(event, _)| !without.contains(event))
                .map(|(event, id)| ((*event).to_owned(), format(id)))
                .collect(),
            counters_exact: true,
            switch_tells_state: true,
            pid_namespace: None,
            numa_balancing: false,
        }
    }

    fn programs(plan: &Plan) -> Vec<&'static str> {
        plan.steps.iter().map(|step| step.program).collect()
    }

    #[test]
    fn a_full_host_gets_everything_and_begins_come_last() {
        let plan = plan(&facts(&[]), &sites(2, 1), Stopped::Probe).expect("a plan");
        assert_eq!(
            programs(&plan),
            [
                "pause_requested",
                "pause_stopped",
                "pause_stopped",
                "pause_restarting",
                "pause_resumed",
                "thread_exit",
                "thread_freed",
                "fault_end_minor",
                "fault_end_major",
                "signal_sent",
                "signal_delivered",
                "resident_changed",
                "switched",
                "waking",
                "ran",
                "reclaim_end",
                "reclaim_begin",
                "reclaim_end",
                "reclaim_begin",
                "compact_end",
                "compact_begin",
                "request_queued",
                "fault_begin_user",
                "fault_begin_software"
            ]
        );
        assert!(plan.skipped.is_empty() && plan.kinds_exact);
        assert_eq!(plan.fault_begin, FaultBegin::Tracepoint);
        assert!(plan.field_offsets.contains(&(names::FAULT_ERROR_CODE, 24)));
    }

    #[test]
    fn each_missing_piece_changes_the_plan_and_is_named() {
        let sites = sites(1, 1);
        let without = |event| plan(&facts(&[event]), &sites, Stopped::Probe);

        let software = without("exceptions:page_fault_user").expect("a plan");
        assert_eq!(software.fault_begin, FaultBegin::Software);
        assert_eq!(
            software.steps.last().map(|step| &step.source),
            Some(&Source::Software(SoftwareEvent::PageFaults))
        );
        assert_eq!(software.skipped.len(), 1);

        let inferred = without("kmem:rss_stat").expect("a plan");
        assert!(!inferred.kinds_exact && !programs(&inferred).contains(&"resident_changed"));

        let no_signals = without("signal:signal_generate").expect("a plan");
        assert!(no_signals.skipped[0].why.contains("fault_end_missing"));

        let no_reclaim = without("vmscan:mm_vmscan_memcg_reclaim_end").expect("a plan");
        assert_eq!(no_reclaim.skipped[0].need, "reclaim");

        let no_runtime = without("sched:sched_stat_runtime").expect("a plan");
        assert!(no_runtime.schedule_seen && !programs(&no_runtime).contains(&"ran"));
        assert_eq!(no_runtime.skipped[0].need, "running time");

        let error = without("sched:sched_process_exit").expect_err("nothing else serves this");
        assert!(error.to_string().contains("6.18.0") && error.to_string().contains("pauselens check"));
    }

    #[test]
    fn the_runtime_s_own_stamp_spares_a_probe() {
        let plan = plan(&facts(&[]), &sites(2, 1), Stopped::Stamp).expect("a plan");
        assert!(!programs(&plan).contains(&"pause_stopped"));
        assert_eq!(plan.skipped[0].need, "pause stopped");
    }

    #[test]
    fn an_older_kernel_s_batched_counters_are_not_used() {
        let plan = plan(&Facts { counters_exact: false, ..facts(&[]) }, &sites(1, 1), Stopped::Probe)
            .expect("a plan");
        assert!(!plan.kinds_exact && !programs(&plan).contains(&"resident_changed"));
        assert!(plan.skipped[0].why.contains("6.2"));
    }
}
