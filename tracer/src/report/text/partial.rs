//! Pauses that were not seen whole, by name: they are shown, and are in no length or share.

use crate::report::model::{Pause, Report, State, Unit, Windows};
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
        .filter(|&(state, n)| !matches!(state, State::Complete | State::Discarded) && n > 0)
        .collect();
    let pauses: Vec<&Pause> = report.pauses.iter().filter(|pause| pause.state != State::Complete).collect();
    if states.is_empty() && pauses.is_empty() {
        return;
    }
    let unit = report.windows.unit;
    page.heading(&format!("{} not seen whole (in none of the lengths and shares)", unit.titles()));
    for (state, n) in states {
        page.line(Tone::Plain, 2, 4, &format!("{} {}", units::count(n), words::state(state, unit)));
    }
    let most = page.at_most(MOST);
    for pause in pauses.iter().take(most) {
        page.line(Tone::Plain, 2, 4, &describe(pause, &report.windows));
    }
    if pauses.len() > most {
        page.line(Tone::Faint, 2, 4, &format!("… {} more", pauses.len() - most));
    }
}

fn describe(pause: &Pause, windows: &Windows) -> String {
    let unit = windows.unit;
    // Of marks that this sort of window does not have nothing can be missing.
    let of_pauses = |has: bool| unit == Unit::Pause && has;
    let moments: Vec<String> = [
        (unit.begun(), pause.requested_ns, true),
        ("stopped", pause.stopped_ns, of_pauses(windows.has_stopped)),
        ("restarting", pause.restarting_ns, of_pauses(windows.has_restarting)),
        (unit.ended(), pause.resumed_ns, pause.state != State::LeftWithoutReturn),
    ]
    .into_iter()
    .filter(|&(_, ns, has)| has || ns.is_some())
    .map(|(name, ns, _)| match ns {
        Some(_) => format!("{name} at {}", words::moment(ns)),
        None => format!("{name} unknown"),
    })
    .collect();
    // What can have made it leave stands above, with their number.
    let state = match pause.state {
        State::LeftWithoutReturn => "left without a return",
        state => words::state(state, unit),
    };
    format!(
        "#{} {}, {state}: {}; {} seen, {} in them",
        pause.id,
        words::reason(pause),
        moments.join(", "),
        units::counted(pause.faults, "fault", "faults"),
        units::duration(pause.in_faults_ns),
    )
}
