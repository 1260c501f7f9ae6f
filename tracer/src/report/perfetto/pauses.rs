//! Pauses as slices, their phases inside them, and their budgets.

use super::{
    packets::{Argument, Given, Happening, Packets},
    tracks::{Counter, Ids, Sort, Tracks},
};
use crate::report::{
    model::{ByKind, Pause, State, Unit, Windows},
    samples::Total,
};

/// Before every part of the budget in the names of arguments.
const BUDGET: &str = "budget_";

/// The pauses of a process so far.
#[derive(Debug, Default)]
pub(super) struct SoFar {
    /// Faults of the complete ones.
    total: Total,
    /// When the last of them ended.
    last_ns: i64,
}

impl SoFar {
    /// Writes a pause.
    pub(super) fn add(
        &mut self,
        pause: &Pause,
        windows: &Windows,
        tracks: &mut Tracks,
        ids: &mut Ids,
        packets: &mut Packets<'_>,
    ) {
        let name = name(pause, windows);
        match (pause.state, pause.requested_ns, pause.resumed_ns) {
            (State::Complete, Some(requested_ns), Some(resumed_ns)) if requested_ns <= resumed_ns => {
                whole(pause, name, (requested_ns, resumed_ns), tracks, ids, packets);
                self.count(pause, resumed_ns, tracks, ids, packets);
            }
            _ => in_part(pause, name, tracks, ids, packets),
        }
    }

    fn count(
        &mut self,
        pause: &Pause,
        at_ns: i64,
        tracks: &mut Tracks,
        ids: &mut Ids,
        packets: &mut Packets<'_>,
    ) {
        self.total.add(Total { count: pause.faults, ns: pause.in_faults_ns });
        // Windows that overlap can be recorded in another order than they ended in: the sums never go back in time.
        self.last_ns = self.last_ns.max(at_ns);
        for (counter, value) in [(Counter::Faults, self.total.count), (Counter::InFaults, self.total.ns)] {
            let track = tracks.counter(counter, ids, packets);
            packets.counter(self.last_ns, track, value);
        }
    }
}

/// The reason, or what the window is of.
fn name<'a>(pause: &'a Pause, windows: &'a Windows) -> &'a str {
    let unit = match windows.unit {
        Unit::Pause => "pause",
        Unit::Call => "call",
        Unit::Window => "window",
    };
    if pause.reason.is_empty() { windows.of.as_deref().unwrap_or(unit) } else { &pause.reason }
}

fn whole(
    pause: &Pause,
    name: &str,
    (begin_ns, end_ns): (i64, i64),
    tracks: &mut Tracks,
    ids: &mut Ids,
    packets: &mut Packets<'_>,
) {
    let budget_names: Vec<(String, u64)> = pause
        .budget
        .iter()
        .flat_map(|budget| budget.parts())
        .map(|part| (format!("{BUDGET}{}_ns", part.name), part.ns))
        .collect();
    let kinds = kinds(&pause.by_kind);
    let mut arguments = vec![
        ("pause", Given::Number(pause.id)),
        ("driver_tid", Given::Number(u64::from(pause.driver_tid))),
        ("faults", Given::Number(pause.faults)),
        ("major", Given::Number(pause.major)),
        ("minor", Given::Number(pause.minor)),
        ("in_faults_ns", Given::Number(pause.in_faults_ns)),
        ("explained_by_faults_ns", Given::Number(pause.explained_by_faults_ns)),
        ("reclaim_ns", Given::Number(pause.reclaim_ns)),
    ];
    arguments.extend(pause.is_gc.map(|is_gc| ("is_gc", Given::Flag(is_gc))));
    arguments.extend(kinds.iter().map(|(name, value)| (name.as_str(), Given::Number(*value))));
    arguments.extend(budget_names.iter().map(|(name, value)| (name.as_str(), Given::Number(*value))));
    let track = tracks.slice(Sort::Pauses, (begin_ns, end_ns), ids, packets);
    packets.begin(begin_ns, &Happening { track, category: "pause", name, arguments: &arguments });
    for (name, begin_ns, end_ns) in phases(pause, begin_ns, end_ns) {
        packets.slice(begin_ns, end_ns, &Happening { track, category: "phase", name, arguments: &[] });
    }
    packets.end(end_ns, track);
    budget(pause, begin_ns, tracks, ids, packets);
}

/// stopping, stopped, restarting: as many as are known, in order and within the pause.
fn phases(pause: &Pause, begin_ns: i64, end_ns: i64) -> Vec<(&'static str, i64, i64)> {
    let mut phases = Vec::new();
    let mut from_ns = begin_ns;
    let within = |at_ns: i64, from_ns: i64| at_ns.clamp(from_ns, end_ns);
    if let Some(stopped_ns) = pause.stopped_ns {
        let to_ns = within(stopped_ns, from_ns);
        phases.push(("stopping", from_ns, to_ns));
        from_ns = to_ns;
        let to_ns = within(pause.restarting_ns.unwrap_or(end_ns), from_ns);
        phases.push(("stopped", from_ns, to_ns));
        from_ns = to_ns;
    }
    if let Some(restarting_ns) = pause.restarting_ns {
        phases.push(("restarting", within(restarting_ns, from_ns), end_ns));
    }
    phases
}

/// The parts of the budget, one after the other: only their sums are known, not when they were.
fn budget(pause: &Pause, begin_ns: i64, tracks: &mut Tracks, ids: &mut Ids, packets: &mut Packets<'_>) {
    let Some(budget) = &pause.budget else { return };
    let parts: Vec<_> = budget.parts().into_iter().filter(|part| part.ns > 0).collect();
    let sum_ns = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.ns));
    let track = tracks.slice(Sort::Budget, (begin_ns, after(begin_ns, sum_ns)), ids, packets);
    let mut at_ns = begin_ns;
    for part in parts {
        let to_ns = after(at_ns, part.ns);
        let arguments: &[Argument<'_>] =
            &[("pause", Given::Number(pause.id)), ("part", Given::Text(part.name))];
        packets.slice(at_ns, to_ns, &Happening { track, category: "budget", name: part.words, arguments });
        at_ns = to_ns;
    }
}

fn kinds(by_kind: &ByKind) -> Vec<(String, u64)> {
    let fields = |(kind, total): (&crate::report::model::Kind, &crate::report::model::KindTotal)| {
        let name = |field| format!("by_kind_{}_{field}", kind.word());
        [(name("faults"), total.count), (name("ns"), total.ns), (name("inferred"), total.inferred)]
    };
    by_kind.iter().flat_map(fields).collect()
}

/// A pause that was not seen whole is a moment: its length is not known.
fn in_part(pause: &Pause, name: &str, tracks: &mut Tracks, ids: &mut Ids, packets: &mut Packets<'_>) {
    let moments = [pause.requested_ns, pause.stopped_ns, pause.restarting_ns, pause.resumed_ns];
    // Without any moment there is no place for it.
    let Some(at_ns) = moments.into_iter().flatten().next() else { return };
    let arguments = [
        ("pause", Given::Number(pause.id)),
        ("state", Given::Text(word(pause.state))),
        ("driver_tid", Given::Number(u64::from(pause.driver_tid))),
        ("faults", Given::Number(pause.faults)),
        ("in_faults_ns", Given::Number(pause.in_faults_ns)),
    ];
    let track = tracks.moments(ids, packets);
    packets.instant(at_ns, &Happening { track, category: "incomplete", name, arguments: &arguments });
}

fn word(state: State) -> &'static str {
    match state {
        State::Complete => "complete",
        State::OpenAtAttach => "open_at_attach",
        State::CutOff => "cut_off",
        State::TargetExited => "target_exited",
        State::EndMissed => "end_missed",
        State::LeftWithoutReturn => "left_without_return",
        State::Discarded => "discarded",
    }
}

fn after(at_ns: i64, ns: u64) -> i64 {
    at_ns.saturating_add(i64::try_from(ns).unwrap_or(i64::MAX))
}
