//! Each need, and what serves it on this host.

use std::slice;

use tracer_common::settings::{UNKNOWN_OFFSET, names};

use super::{FaultBegin, Plan, PlanError, Skipped, SoftwareEvent, Source, Step, Stopped};
use crate::{
    probe::host::Facts,
    runtime::{GoroutineSites, PauseSites, Site, SiteKind},
};

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

pub(super) fn plan_windows(plan: &mut Plan, sites: &PauseSites, stopped: Stopped) {
    let mut steps = |need, program, sites: &[Site]| {
        for site in sites {
            plan.step(need, program, Source::Uprobe(site.clone()), why(site.kind));
        }
    };
    steps("pause requested", "pause_requested", &sites.requested);
    if stopped == Stopped::Probe {
        steps("pause stopped", "pause_stopped", &sites.stopped);
    }
    steps("pause told", "pause_told", &sites.told);
    steps("pause restarting", "pause_restarting", &sites.restarting);
    steps("pause resumed", "pause_resumed", &sites.resumed);
    steps("call ends", "call_jumps", &sites.tail_jumps);
    if let Some(GoroutineSites { leaves, enters, ends }) = &sites.goroutines {
        steps("goroutine leaves its thread", "goroutine_leaves", slice::from_ref(leaves));
        steps("goroutine gets a thread", "goroutine_enters", slice::from_ref(enters));
        steps("goroutine ends", "goroutine_ends", slice::from_ref(ends));
    }
    if stopped == Stopped::Stamp {
        plan.skipped.push(Skipped {
            need: "pause stopped",
            source: "uprobe at the stopping function's return",
            why: "the runtime passes its own stamp on, which spares the target a trap in each pause (--cross-check \
                  probes all the same and compares)",
        });
    }
}

fn why(kind: SiteKind) -> &'static str {
    match kind {
        SiteKind::Entry => "entry of the function, where the kernel need not step the probed instruction",
        SiteKind::Return => {
            "return instruction, decoded: a return probe would break a runtime that moves stacks"
        }
        SiteKind::TailJump => "jump to another function, decoded: the call ends there",
        SiteKind::Usdt => "user-space tracepoint, from the file's notes",
        SiteKind::Given => "as given",
    }
}

pub(super) fn plan_thread_ends(plan: &mut Plan, facts: &Facts) -> Result<(), PlanError> {
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

pub(super) fn plan_lineage(plan: &mut Plan, facts: &Facts) -> Result<(), PlanError> {
    let missing = |event| {
        let need = "notice new processes (--exe, --cgroup, --follow-forks)";
        Err(PlanError { event, need, release: facts.kernel_release.clone() })
    };
    let exec = "sched:sched_process_exec";
    let why = "a process runs another program from now on; two look-ups for other processes";
    if !plan.raw_tracepoint(facts, ("program begun", "program_begun", exec, why)) {
        return missing(exec);
    }
    let exit = "sched:sched_process_exit";
    if !plan.raw_tracepoint(facts, ("descendant ended", "followed_ends", exit, "forgets those that end")) {
        return missing(exit);
    }
    let made = "task:task_newtask";
    let why = "children of the target; two look-ups for other processes' new threads";
    let fields = [(names::TASK_PID, "pid"), (names::TASK_CLONE_FLAGS, "clone_flags")];
    if !plan.tracepoint(facts, ("process made", "task_made", made, why), &fields) {
        return missing(made);
    }
    Ok(())
}

pub(super) fn plan_fault_ends(plan: &mut Plan, facts: &Facts) {
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

pub(super) fn plan_kinds(plan: &mut Plan, facts: &Facts) {
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

pub(super) fn plan_schedule(plan: &mut Plan, facts: &Facts) {
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

pub(super) fn plan_freeing(plan: &mut Plan, facts: &Facts) {
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

pub(super) fn plan_devices(plan: &mut Plan, facts: &Facts) {
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
pub(super) fn plan_fault_begins(plan: &mut Plan, facts: &Facts) {
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
