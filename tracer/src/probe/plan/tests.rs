//! The plan as a table: what a host lacks, and what follows.

use tracer_common::settings::names;

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
    let plan =
        plan(&Facts { counters_exact: false, ..facts(&[]) }, &sites(1, 1), Stopped::Probe).expect("a plan");
    assert!(!plan.kinds_exact && !programs(&plan).contains(&"resident_changed"));
    assert!(plan.skipped[0].why.contains("6.2"));
}
