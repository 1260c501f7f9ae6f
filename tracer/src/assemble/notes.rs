//! Things to know that don't make a result incomplete.

use tracer_common::loss::Loss;

use super::context::Context;
use crate::{
    report::units::{count, counted, duration},
    session::{Began, Outcome},
};

/// From this rate on the traps of the probes are worth a word.
const MANY_PAUSES_A_SECOND: u64 = 1000;

/// From when on the pauses are covered, where that is not the trace's start.
fn covered(outcome: &Outcome) -> Option<String> {
    let since_start = |ns: u64| duration(ns.saturating_sub(outcome.zero_ns));
    match outcome.began {
        Began::Before => None,
        Began::At(began_ns) => Some(format!(
            "the process (or the program that it runs) began {} after the trace did, and its pauses are covered from {} \
             after its begin on",
            since_start(began_ns),
            duration(outcome.opened_ns.saturating_sub(began_ns))
        )),
        Began::FoundAt(found_ns) => Some(format!(
            "pauses are covered from {} after the trace's start on: {} after it the process was found to be one to trace \
             (its runtime had been mapped by then, or it had joined the cgroup)",
            since_start(outcome.opened_ns),
            since_start(found_ns)
        )),
    }
}

/// What the session, the caller and the numbers have to say.
pub(super) fn notes(outcome: &Outcome, context: &Context<'_>) -> Vec<String> {
    let mut notes = outcome.notes.clone();
    notes.extend(context.recognised.notes.iter().chain(&context.notes).cloned());
    notes.extend(covered(outcome));
    let seconds = outcome.closed_ns.saturating_sub(outcome.opened_ns).div_ceil(1_000_000_000).max(1);
    let rate = outcome.totals.completed / seconds;
    if rate >= MANY_PAUSES_A_SECOND {
        notes.push(format!(
            "{} {} a second: each costs the target a trap for every probe in it, so this trace slows it down; a \
             shorter --duration shows as much",
            count(rate),
            context.recognised.rules.unit.many()
        ));
    }
    let untold = outcome.losses.of(Loss::SwitchUntold);
    // Of several processes it is not known whose they were.
    if untold > 0 && !outcome.others_traced {
        notes.push(format!(
            "{} of the target's threads were not told by the kernel: when they got their CPU was found by its account of \
             running time, or when they were next seen to run",
            counted(untold, "switch", "switches")
        ));
    }
    notes
}
