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
        file: 0,
        elf_address: ElfAddress(0x40_0000 + place),
        file_offset: FileOffset(place),
        source: SymbolSource::Symtab,
        kind,
        semaphore: None,
        arguments: None,
    };
    PauseSites {
        requested: vec![site("stop", 0x1000, SiteKind::Entry)],
        stopped: (0..stops).map(|n| site("stop", 0x1010 + n, SiteKind::Return)).collect(),
        restarting: vec![site("start", 0x2000, SiteKind::Entry)],
        resumed: (0..resumes).map(|n| site("start", 0x2010 + n, SiteKind::Return)).collect(),
        ..PauseSites::default()
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
        "clone_flags",
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
fn new_processes_are_noticed_only_when_asked_for_and_never_by_half() {
    let all = facts(&[]);
    let host = plan_host(&all).expect("a plan");
    assert!(!programs(&host).iter().any(|program| ["task_made", "program_begun"].contains(program)));
    let with = host.with_lineage(&all, 3).expect("a plan");
    assert_eq!(programs(&with)[with.steps.len() - 3..], ["program_begun", "followed_ends", "task_made"]);
    assert!(with.lineage == Some(3) && with.field_offsets.iter().any(|(name, _)| *name == names::TASK_PID));
    for event in ["task:task_newtask", "sched:sched_process_exec"] {
        let lacking = facts(&[event]);
        let host = plan_host(&lacking).expect("a process alone can be traced all the same");
        let error = host.with_lineage(&lacking, 1).expect_err("nothing else serves this").to_string();
        assert!(error.contains(event) && error.contains("--follow-forks"), "{error}");
    }
}

#[test]
fn a_process_has_its_own_places_and_the_host_s_tracepoints() {
    let host = plan_host(&facts(&[])).expect("a plan");
    let process = host.for_process(&sites(1, 2), Stopped::Probe);
    let own = |plan: &Plan| plan.steps.iter().filter(|step| step.source.belongs_to_process()).count();
    assert_eq!(process.steps.len() - host.steps.len(), 5);
    assert_eq!(own(&process) - own(&host), 5);
    assert!(own(&host) > 0, "software events");
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
