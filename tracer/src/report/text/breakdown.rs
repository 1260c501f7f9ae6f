//! The worst windows one by one: what each consisted of.

use crate::report::model::{LongestFault, Pause, Report, State, Unit, Windows};
use crate::report::units;

use super::clean::shorten;
use super::page::{Page, Tone};
use super::{budget, call, memory, stack, stopping, touched, waits, words, workers};

/// How many pauses are taken apart unless everything is wanted.
const MOST: usize = 3;

/// A pause without faults that is shorter than one in so many of the longest is an ordinary one: it is not taken apart
/// unless everything is wanted.
const NOTABLE: u64 = 20;

/// What a line under a pause's title begins at.
const INDENT: usize = 2;

pub(super) fn write(page: &mut Page, report: &Report) {
    let longest_ns = report.pauses.iter().filter_map(|pause| pause.duration_ns).max().unwrap_or(0);
    let all = page.verbose();
    let to_tell = |pause: &&Pause| {
        let has_faults = pause.faults > 0 || !pause.stopping_faults.is_empty();
        let is_long = all || pause.duration_ns.is_none_or(|ns| ns >= longest_ns / NOTABLE);
        has_faults || (is_long && (pause.budget.is_some() || pause.stopping.is_some()))
    };
    for pause in report.pauses.iter().filter(to_tell).take(page.at_most(MOST)) {
        one(page, pause, &report.windows);
    }
}

fn one(page: &mut Page, pause: &Pause, windows: &Windows) {
    let unit = windows.unit;
    let length = match pause.duration_ns {
        Some(ns) => units::duration(ns),
        None => "length unknown".to_owned(),
    };
    let state = if pause.state == State::Complete {
        String::new()
    } else {
        format!(", {}", words::state(pause.state, unit))
    };
    page.heading(&format!("{} #{}: {}, {length}{state}", unit.title(), pause.id, words::reason(pause)));
    page.line(Tone::Plain, INDENT, INDENT + 2, &phases(pause, windows));
    if let Some(call) = &pause.call {
        call::write(page, call);
    }
    if let Some(frames) = &pause.requested_by {
        let asked = match unit {
            Unit::Pause => "asked for by",
            Unit::Call => "code path of the call",
            Unit::Window => "code path at its begin",
        };
        page.line(Tone::Plain, INDENT, INDENT + 2, asked);
        stack::frames(page, INDENT + 2, frames);
    }
    page.gap();
    budget::write(page, pause);
    waits::write(page, pause, unit);
    touched::write(page, pause);
    memory::write(page, pause);
    if let Some(longest) = &pause.longest_fault {
        page.line(Tone::Plain, INDENT, INDENT + 2, &longest_fault(longest));
    }
    workers::write(page, pause);
    stopping::write(page, pause);
    bystanders(page, pause, unit);
    details(page, pause);
    stack::write(page, pause);
}

/// When it began and ended, and what it consisted of, as far as this sort of window has marks for that.
fn phases(pause: &Pause, windows: &Windows) -> String {
    let between = |from: Option<i64>, to: Option<i64>| -> String {
        let ns = from.zip(to).and_then(|(from, to)| u64::try_from(i128::from(to) - i128::from(from)).ok());
        units::duration_or_unknown(ns)
    };
    let unit = windows.unit;
    let mut text =
        format!("{} at {} by thread {}", unit.begun(), words::moment(pause.requested_ns), pause.driver_tid);
    if unit == Unit::Pause {
        let stopping = units::duration_or_unknown(pause.stopping_ns);
        let restarting = between(pause.restarting_ns, pause.resumed_ns);
        match (windows.has_stopped, windows.has_restarting) {
            (true, true) => text.push_str(&format!(
                "; stopping {stopping}, stopped {}, restarting {restarting}",
                between(pause.stopped_ns, pause.restarting_ns)
            )),
            (true, false) => text.push_str(&format!(
                "; stopping {stopping}, stopped and restarting {}",
                between(pause.stopped_ns, pause.resumed_ns)
            )),
            (false, true) => text.push_str(&format!(
                "; stopping and stopped {}, restarting {restarting}",
                between(pause.requested_ns, pause.restarting_ns)
            )),
            (false, false) => {}
        }
    }
    if let Some(tid) = pause.resumed_by_tid {
        text.push_str(&format!("; {} by thread {tid}", unit.ended()));
    }
    text
}

fn longest_fault(longest: &LongestFault) -> String {
    let mapping = match &longest.mapping {
        Some(mapping) => format!("in {}", shorten(mapping, words::NAME_LENGTH)),
        None => "mapping unknown".to_owned(),
    };
    format!(
        "longest single fault: {}, {} at {}, {mapping}",
        units::duration(longest.ns),
        longest.kind.word(),
        shorten(&longest.address, words::NAME_LENGTH),
    )
}

fn bystanders(page: &mut Page, pause: &Pause, unit: Unit) {
    let others = &pause.bystanders;
    if others.faults == 0 && others.sum_ns == 0 {
        return;
    }
    let mut text = format!(
        "other threads during the {}: {} ({} major), {} summed over threads",
        unit.one(),
        units::counted(others.faults, "fault", "faults"),
        units::count(others.major),
        units::duration(others.sum_ns),
    );
    if !others.by_kind.is_empty() {
        text.push_str(&format!(": {}", words::kind_counts(&others.by_kind)));
    }
    page.line(Tone::Plain, INDENT, INDENT + 2, &text);
}

fn details(page: &mut Page, pause: &Pause) {
    let part = pause.fault_details;
    if part.have < part.of {
        let text = format!(
            "details of {} of {} arrived: counts and times are whole, code paths are not",
            units::count(part.have),
            units::counted(part.of, "fault", "faults"),
        );
        page.line(Tone::Warning, INDENT, INDENT + 2, &text);
    }
}
