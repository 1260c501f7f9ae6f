//! What is missing from a result, in words. An empty list means that everything was seen.

use tracer_common::loss::Loss;

use super::context::Context;
use crate::{
    report::{model::Summary, units::duration},
    session::{Ended, Outcome},
};

pub(super) fn incomplete(outcome: &Outcome, summary: &Summary, context: &Context<'_>) -> Vec<String> {
    let mut missing = Vec::new();
    let lost = |loss| outcome.losses.of(loss);
    if lost(Loss::FaultRingFull) + lost(Loss::StackRingFull) > 0 {
        missing.push(format!(
            "the ring buffer was full: {} faults without details, {} stacks lost; counts and times are exact all the \
             same; a larger --ring-size holds more",
            lost(Loss::FaultRingFull),
            lost(Loss::StackRingFull)
        ));
    }
    let intervals = lost(Loss::IntervalRingFull);
    if intervals + lost(Loss::WorkerRingFull) > 0 {
        missing.push(format!(
            "the ring buffer was full: {intervals} times it is not known what a thread was blocked on or waited for, {} \
             times what a worker did; the budgets' sums are exact all the same; a larger --ring-size holds more",
            lost(Loss::WorkerRingFull)
        ));
    }
    if summary.records_lost > 0 {
        missing.push(format!(
            "{} pauses came faster than they could be read: they are in the sums, but not in the quantiles, kinds and \
             the list",
            summary.records_lost
        ));
    }
    if lost(Loss::ThreadTableFull) > 0 {
        missing.push(format!(
            "the thread table was full {} times: faults of some threads were not seen; --max-threads makes it larger",
            lost(Loss::ThreadTableFull)
        ));
    }
    if outcome.collected.explained_partly {
        missing.push(
            "more faults of other threads fell into a stopping phase than are kept: the time explained by faults is a \
             lower bound"
                .to_owned(),
        );
    }
    if outcome.program_replaced {
        missing.push(
            "the process has replaced its program (exec) during the trace: pauses of the new one were not seen; attach \
             again"
                .to_owned(),
        );
    }
    let duration_ns = outcome.closed_ns.saturating_sub(outcome.opened_ns);
    if let (Ended::TargetExited, Some(asked_ns)) = (outcome.ended, context.asked_ns) {
        missing.push(format!(
            "the target ended after {} of the {} asked for",
            duration(duration_ns),
            duration(asked_ns)
        ));
    }
    if summary.records_lost == 0 && sums_disagree(outcome) {
        missing.push(
            "the kernel side's sums and the pauses' records disagree; this is a fault of pauselens, please report it"
                .to_owned(),
        );
    }
    missing
}

/// Two independent sums of the same things.
fn sums_disagree(outcome: &Outcome) -> bool {
    let faults: u64 = outcome.collected.by_kind.values().map(|kind| kind.count).sum();
    (outcome.totals.completed, outcome.totals.paused_ns, outcome.totals.faults, outcome.totals.in_faults_ns)
        != (outcome.collected.complete(), outcome.collected.paused_ns, faults, outcome.collected.in_faults_ns)
}
