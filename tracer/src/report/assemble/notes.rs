//! Things to know that don't make a result incomplete.

use tracer_common::loss::Loss;

use super::context::Context;
use crate::{
    report::units::{count, counted},
    session::Outcome,
};

/// From this rate on the traps of the probes are worth a word.
const MANY_PAUSES_A_SECOND: u64 = 1000;

/// What the session, the caller and the numbers have to say.
pub(super) fn notes(outcome: &Outcome, context: &Context<'_>) -> Vec<String> {
    let mut notes = outcome.notes.clone();
    notes.extend(context.notes.iter().cloned());
    let seconds = outcome.closed_ns.saturating_sub(outcome.opened_ns).div_ceil(1_000_000_000).max(1);
    let rate = outcome.totals.completed / seconds;
    if rate >= MANY_PAUSES_A_SECOND {
        notes.push(format!(
            "{} pauses a second: each costs the target a trap for every probe in it, so this trace slows it down; a \
             shorter --duration shows as much",
            count(rate)
        ));
    }
    let untold = outcome.losses.of(Loss::SwitchUntold);
    if untold > 0 {
        notes.push(format!(
            "{} of the target's threads were not told by the kernel: when they got their CPU was found by its account of \
             running time, or when they were next seen to run",
            counted(untold, "switch", "switches")
        ));
    }
    notes
}
