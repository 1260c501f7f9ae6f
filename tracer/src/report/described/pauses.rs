//! The list of pauses: longest first, their stacks named.

use std::collections::BTreeMap;

use tracer_common::pause::flag;

use super::{anatomy, known::Known};
use crate::{
    pause::{FinishedPause, Kind, KindCount, PlaceTotal, StackTotal},
    report::anatomy::Place,
    report::model::{
        ByKind, Bystanders, Call, KernelPath, KindTotal, LongestFault, Part, Pause, Stack, StoppingFault,
        WorkerFaults,
    },
};

/// Stands for the stacks past the bound of one pause.
const OTHER_STACKS: &str = "[further stacks, added up]";

/// The kept pauses: with a length, longest first; then the others in the order of time.
#[must_use]
pub fn pauses(kept: &[FinishedPause], known: &Known<'_>) -> Vec<Pause> {
    let mut kept: Vec<&FinishedPause> = kept.iter().collect();
    kept.sort_by_key(|pause| {
        (
            std::cmp::Reverse(pause.duration_ns().is_some()),
            std::cmp::Reverse(pause.duration_ns()),
            pause.record.window,
        )
    });
    kept.into_iter().map(|one| pause(one, known)).collect()
}

/// One pause as the report has it.
#[must_use]
pub fn pause(pause: &FinishedPause, known: &Known<'_>) -> Pause {
    let record = &pause.record;
    let since_start = |ns: u64| (ns != 0).then(|| signed_difference(ns, known.zero_ns));
    let faults = pause.faults();
    Pause {
        id: record.window,
        reason: pause.reason.name.clone(),
        is_gc: pause.reason.is_gc,
        state: pause.state,
        requested_ns: since_start(record.requested_ns),
        stopped_ns: since_start(record.stopped_ns),
        restarting_ns: since_start(record.restarting_ns),
        resumed_ns: since_start(record.resumed_ns),
        runtime_requested_ns: pause.stamps.requested_ns.and_then(since_start),
        runtime_stopped_ns: pause.stamps.stopped_ns.and_then(since_start),
        duration_ns: pause.duration_ns(),
        stopping_ns: pause.stopping_ns(),
        driver_tid: record.driver,
        requested_by: requested_by(pause, known),
        resumed_by_tid: (record.resumed_by != 0 && record.resumed_by != record.driver)
            .then_some(record.resumed_by),
        call: (record.depth_bytes != 0).then(|| Call {
            goroutine: (record.goroutine != 0).then_some(record.goroutine),
            resumptions: record.outside.unparked,
            moved: record.flags & flag::DRIVER_CHANGED != 0,
            inner_calls: record.inner,
            tail_call: record.flags & flag::TAIL_CALL != 0,
        }),
        faults,
        major: record.driver_totals.major,
        minor: record.driver_totals.minor,
        in_faults_ns: pause.in_faults_ns(),
        explained_by_faults_ns: pause.explained_ns,
        reclaim_ns: record.driver_totals.reclaim_ns,
        tracing_ns: record.driver_totals.tracing_ns,
        by_kind: totals(&pause.by_kind),
        by_region: totals(&pause.by_region),
        places: places(&pause.places),
        budget: pause.budget,
        workers: anatomy::workers(pause, known.pid),
        workers_unseen: pause.workers_unseen,
        waited_for_workers: anatomy::waited_for_workers(pause),
        worker_faults: pause.worker_faults.as_ref().map(|faults| WorkerFaults {
            faults: faults.faults,
            sum_ns: faults.sum_ns,
            fault_details: Part { of: faults.faults, have: faults.details },
            by_kind: totals(&faults.by_kind),
            by_region: totals(&faults.by_region),
            places: places(&faults.places),
            stacks: code_paths(&faults.stacks, known),
        }),
        blocked: anatomy::blocked(pause, known),
        cpu_waits: anatomy::cpu_waits(pause, known),
        throttling: pause.throttling.clone(),
        reads: known.devices.named(&pause.reads),
        fault_details: Part { of: faults + pause.other_faults(), have: pause.details },
        longest_fault: pause.longest.as_ref().map(|longest| LongestFault {
            kind: longest.kind,
            ns: longest.ns,
            address: format!("{:#x}", longest.address),
            mapping: longest.mapping.as_ref().map(|name| match name.to_string_lossy() {
                name if name.is_empty() => "anonymous memory".to_owned(),
                name => name.into_owned(),
            }),
        }),
        stacks: stacks(pause, known),
        stopping: pause.stopping.as_ref().map(|stopping| anatomy::stopping(stopping, known)),
        stopping_faults: pause
            .stopping_faults
            .iter()
            .map(|fault| StoppingFault {
                tid: fault.tid,
                kind: fault.kind,
                before_request_ns: fault.before_request_ns,
                full_ns: fault.full_ns,
                in_stopping_ns: fault.in_stopping_ns,
                frames: known.stack(fault.stack, false),
            })
            .collect(),
        bystanders: bystanders(&pause.others_by_kind, record.other_totals.major, record.other_totals.minor),
        memory: None,
    }
}

/// The code path that asked for the stop.
fn requested_by(pause: &FinishedPause, known: &Known<'_>) -> Option<Vec<String>> {
    let record = &pause.record;
    if record.requested_caller == 0 {
        return known
            .stacks
            .contains_key(&record.requested_stack)
            .then(|| known.stack(record.requested_stack, false));
    }
    let frames = pause.requested_frames(known.stacks)?;
    Some(known.names.at_entry(record.requested_stack, record.requested_caller, &frames))
}

/// The driver's code paths.
fn stacks(pause: &FinishedPause, known: &Known<'_>) -> Vec<Stack> {
    let mut stacks = code_paths(&pause.stacks, known);
    // Faults whose details were dropped belong to no stack that is known; the root stays whole.
    let missing = pause.faults().saturating_sub(stacks.iter().map(|stack| stack.faults).sum());
    if missing > 0 {
        let known_ns: u64 = stacks.iter().map(|stack| stack.ns).sum();
        stacks.push(Stack {
            frames: vec!["[details dropped]".to_owned()],
            faults: missing,
            ns: pause.in_faults_ns().saturating_sub(known_ns),
            by_kind: ByKind::new(),
            kernel: Vec::new(),
        });
    }
    stacks
}

/// Stacks that have the same names are one code path.
fn code_paths(stacks: &[(u64, StackTotal)], known: &Known<'_>) -> Vec<Stack> {
    let mut paths: BTreeMap<Vec<String>, (ByKind, Vec<KernelPath>)> = BTreeMap::new();
    for (stack, total) in stacks {
        let frames = if *stack == StackTotal::PAST_THE_BOUND {
            vec![OTHER_STACKS.to_owned()]
        } else {
            known.stack(*stack, total.cut)
        };
        let (kinds, kernel) = paths.entry(frames).or_default();
        anatomy::kernel_paths(total, known, kernel);
        for (kind, (count, ns, inferred)) in &total.by_kind {
            let sum = kinds.entry(*kind).or_default();
            sum.count += count;
            sum.ns += ns;
            sum.inferred += inferred;
        }
    }
    let mut stacks: Vec<Stack> = paths
        .into_iter()
        .map(|(frames, (by_kind, kernel))| Stack {
            frames,
            faults: by_kind.values().map(|kind| kind.count).sum(),
            ns: by_kind.values().map(|kind| kind.ns).sum(),
            by_kind,
            kernel,
        })
        .collect();
    stacks.sort_by_key(|stack| std::cmp::Reverse(stack.ns));
    stacks
}

/// What was touched; of files also where.
fn places(places: &[PlaceTotal]) -> Vec<Place> {
    let named = places.iter().map(|place| Place {
        region: place.region,
        what: match place.offsets {
            Some((from, to)) => format!("{}, offset {from:#x}..{to:#x}", place.what),
            None => place.what.to_string(),
        },
        total: total(&place.total),
    });
    named.collect()
}

/// By kind or region, as the report has it.
#[must_use]
pub fn totals<K: Copy + Ord>(kinds: &BTreeMap<K, KindCount>) -> BTreeMap<K, KindTotal> {
    kinds.iter().map(|(kind, count)| (*kind, total(count))).collect()
}

fn total(count: &KindCount) -> KindTotal {
    KindTotal { count: count.count, ns: count.ns, inferred: count.inferred }
}

/// The other threads' faults.
#[must_use]
pub fn bystanders(kinds: &BTreeMap<Kind, KindCount>, major: u64, minor: u64) -> Bystanders {
    Bystanders {
        faults: kinds.values().map(|kind| kind.count).sum(),
        major,
        minor,
        sum_ns: kinds.values().map(|kind| kind.ns).sum(),
        by_kind: totals(kinds),
    }
}

fn signed_difference(ns: u64, from_ns: u64) -> i64 {
    i64::try_from(i128::from(ns) - i128::from(from_ns)).unwrap_or(i64::MAX)
}
