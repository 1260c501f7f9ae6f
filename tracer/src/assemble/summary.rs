//! What all pauses add up to.

use crate::{
    report::{
        described::{Devices, bystanders, totals},
        model::{StoppingTotal, Summary},
    },
    session::Outcome,
};

/// Sums come from the pauses' records; when records were lost, those sums that the kernel side keeps for the whole
/// process replace them.
pub(super) fn summary(outcome: &mut Outcome, devices: &Devices) -> Summary {
    let collected = &mut outcome.collected;
    let records_lost = outcome.totals.completed.saturating_sub(collected.told().count);
    let kinds = totals(&collected.by_kind);
    let faults: u64 = kinds.values().map(|kind| kind.count).sum();
    let (paused_ns, in_faults_ns, faults) = if records_lost > 0 {
        (outcome.totals.paused_ns, outcome.totals.in_faults_ns, outcome.totals.faults)
    } else {
        let short = collected.short;
        (collected.paused_ns + short.ns, collected.in_faults_ns + short.in_faults_ns, faults + short.faults)
    };
    Summary {
        pauses: records_lost + collected.complete() + collected.short.count,
        collections: collected.collections,
        other_stops: collected.other_stops,
        by_reason: collected.by_reason.clone(),
        by_state: collected.by_state.clone(),
        records_lost,
        median_ns: collected.durations.quantile(0.5),
        p90_ns: collected.durations.quantile(0.9),
        p99_ns: collected.durations.quantile(0.99),
        worst_ns: collected.worst_ns,
        quantiles_exact: collected.durations.is_exact(),
        paused_ns,
        in_faults_ns,
        explained_by_faults_ns: collected.explained_ns.max(in_faults_ns),
        faults,
        major: collected.major,
        minor: collected.minor,
        by_kind: kinds,
        by_region: totals(&collected.by_region),
        reclaim_ns: collected.reclaim_ns,
        tracing_ns: collected.tracing_ns,
        stopping_ns: collected.stopping_ns,
        waited_for_workers_ns: collected.waited_for_workers_ns,
        budget: collected.budget,
        stopping: collected.stopping.map(|(pauses, ns, budget)| StoppingTotal { pauses, ns, budget }),
        reads: devices.named(&collected.reads),
        throttling: outcome.throttling.clone(),
        memory_limit: outcome.memory_pressure.clone(),
        bystanders: bystanders(&collected.others_by_kind, collected.others_major, collected.others_minor),
    }
}
