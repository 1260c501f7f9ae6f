//! Pauses that were not seen whole, by name: they are shown, and are in no length or share.

use crate::report::model::{Pause, Report, State};
use crate::report::units;

use super::page::{Page, Tone};
use super::words;

/// How many of them are described unless everything is wanted.
const MOST: usize = 5;

pub(super) fn write(page: &mut Page, report: &Report) {
    let states: Vec<(State, u64)> = report
        .summary
        .by_state
        .iter()
        .map(|(&state, &n)| (state, n))
        .filter(|&(state, n)| state != State::Complete && n > 0)
        .collect();
    let pauses: Vec<&Pause> = report.pauses.iter().filter(|pause| pause.state != State::Complete).collect();
    if states.is_empty() && pauses.is_empty() {
        return;
    }
    page.heading("Pauses not seen whole (in none of the lengths and shares)");
    for (state, n) in states {
        page.line(Tone::Plain, 2, 4, &format!("{} {}", units::count(n), words::state(state)));
    }
    let most = page.at_most(MOST);
    for pause in pauses.iter().take(most) {
        page.line(Tone::Plain, 2, 4, &describe(pause));
    }
    if pauses.len() > most {
        page.line(Tone::Faint, 2, 4, &format!("… {} more", pauses.len() - most));
    }
}

fn describe(pause: &Pause) -> String {
    let moments = [
        ("requested", pause.requested_ns),
        ("stopped", pause.stopped_ns),
        ("restarting", pause.restarting_ns),
        ("resumed", pause.resumed_ns),
    ]
    .map(|(name, ns)| match ns {
        Some(_) => format!("{name} at {}", words::moment(ns)),
        None => format!("{name} unknown"),
    });
    format!(
        "#{} {}, {}: {}; {} seen, {} in them",
        pause.id,
        words::reason(pause),
        words::state(pause.state),
        moments.join(", "),
        units::counted(pause.faults, "fault", "faults"),
        units::duration(pause.in_faults_ns),
    )
}
