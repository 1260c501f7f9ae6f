//! What is missing from a result, in words. An empty list means that everything was seen.

use tracer_common::loss::Loss;

use super::context::Context;
use crate::{
    report::{
        model::Summary,
        units::{count, duration},
    },
    session::{Ended, Outcome},
};

pub(super) fn incomplete(outcome: &Outcome, summary: &Summary, context: &Context<'_>) -> Vec<String> {
    let mut missing = Vec::new();
    let unit = context.recognised.rules.unit;
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
    let copies = lost(Loss::StackCopyRingFull);
    if copies > 0 {
        missing.push(format!(
            "the ring buffer was full: the stacks of {copies} faults could not be unwound and are as far as frame pointers \
             tell; a larger --ring-size or a smaller --stack-bytes holds more"
        ));
    }
    if summary.records_lost > 0 {
        missing.push(format!(
            "{} came faster than they could be read: they are in the sums, but not in the quantiles, kinds and the list",
            unit.counted(summary.records_lost)
        ));
    }
    let given_up = outcome.collected.given_up;
    if given_up > 0 {
        missing.push(format!(
            "the details of {given_up} faults were given up, because the ends of their {} had not been told; counts and times \
             are exact all the same",
            unit.many()
        ));
    }
    if lost(Loss::ThreadTableFull) > 0 {
        missing.push(format!(
            "the thread table was full {} times: faults of some threads were not seen; --max-threads makes it larger",
            lost(Loss::ThreadTableFull)
        ));
    }
    if outcome.collected.explained_partly {
        missing.push(format!(
            "more faults fell into a {} than are kept one by one: how much of it faults of other threads explain is not known exactly",
            unit.one()
        ));
    }
    if outcome.program_replaced {
        missing.push(format!(
            "the process has replaced its program (exec) during the trace: {} of the new one were not seen; attach again",
            unit.many()
        ));
    }
    if lost(Loss::WindowTableFull) > 0 {
        missing.push(format!(
            "{} found no room, because too many were open at the same time: they are in no number; a trace of fewer \
             processes or functions leaves room",
            unit.counted(lost(Loss::WindowTableFull))
        ));
    }
    if let Some(per_second) = outcome.too_often {
        missing.push(format!(
            "the trace was stopped: {} {} began in a second, and each costs the target at least two traps; \
             --sample 5% traces in a part of the time only, --max-rate {} goes on all the same",
            count(per_second),
            unit.many(),
            per_second.saturating_mul(2)
        ));
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
            format!(
                "the kernel side's sums and the {}' records disagree; this is a fault of pauselens, please report it",
                unit.many()
            ),
        );
    }
    missing
}

/// Two independent sums of the same things.
fn sums_disagree(outcome: &Outcome) -> bool {
    let told = outcome.collected.told();
    (outcome.totals.completed, outcome.totals.paused_ns, outcome.totals.faults, outcome.totals.in_faults_ns)
        != (told.count, told.ns, told.faults, told.in_faults_ns)
}
