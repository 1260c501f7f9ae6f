//! The worst windows as a table.

use crate::report::model::{Pause, Report, State, Unit, Windows};
use crate::report::units;

use super::page::{Page, Tone};
use super::table::{Column, Side, Tight, lay_out};
use super::{budget, words};

/// How many pauses the table lists unless everything is wanted.
const MOST: usize = 10;

/// The place of the column behind the length.
const BEHIND_LENGTH: usize = 5;

/// Reasons are shortened down to this when the table is too wide.
const LEAST_REASON: usize = 8;

pub(super) fn write(page: &mut Page, report: &Report) {
    let most = page.at_most(MOST);
    let pauses: Vec<&Pause> =
        report.pauses.iter().filter(|pause| pause.state == State::Complete).take(most).collect();
    if pauses.is_empty() {
        return;
    }
    let shown = units::count(pauses.len() as u64);
    let many = report.windows.unit.many();
    page.heading(&format!("Worst {many} ({shown} of {})", units::count(report.summary.pauses)));
    let table = lay_out(columns(&pauses, &report.windows), page.width());
    for (index, line) in table.lines.iter().enumerate() {
        page.line(if index < table.heads { Tone::Faint } else { Tone::Plain }, 0, 0, line);
    }
    if pauses.iter().any(|pause| mostly(pause).starts_with(words::INFERRED)) {
        page.line(Tone::Faint, 0, 2, &format!("{} {}", words::INFERRED, words::INFERRED_NOTE));
    }
}

fn columns(pauses: &[&Pause], windows: &Windows) -> Vec<Column> {
    let column = |head, side, when_tight, cell: &dyn Fn(&Pause) -> String| Column {
        head,
        side,
        when_tight,
        cells: pauses.iter().map(|pause| cell(pause)).collect(),
    };
    let mut rank = 0_u64;
    let ranks = pauses
        .iter()
        .map(|_| {
            rank += 1;
            units::count_column(rank)
        })
        .collect();
    // All calls have one reason, and so have windows unless an argument tells them apart.
    let one_reason = pauses.iter().all(|pause| pause.reason == pauses[0].reason);
    let subject = if windows.unit != Unit::Pause && one_reason {
        column(("", "thread"), Side::Right, Tight::Drop(5), &|pause| pause.driver_tid.to_string())
    } else {
        column(("", "reason"), Side::Left, Tight::Shorten(LEAST_REASON), &words::reason)
    };
    let mut columns = vec![
        Column { head: ("", "#"), side: Side::Right, when_tight: Tight::Drop(0), cells: ranks },
        column(("", "id"), Side::Right, Tight::Keep, &|pause| id(pause.id)),
        column(("", "at [s]"), Side::Right, Tight::Drop(3), &|pause| {
            pause.requested_ns.map_or_else(|| units::UNKNOWN.to_owned(), units::seconds)
        }),
        subject,
        column(("", "length"), Side::Right, Tight::Keep, &|pause| {
            units::duration_or_unknown(pause.duration_ns)
        }),
        column(("", "faults"), Side::Right, Tight::Keep, &|pause| units::count_column(pause.faults)),
        column(("", "major"), Side::Right, Tight::Drop(1), &|pause| units::count_column(pause.major)),
        column(("in", "faults"), Side::Right, Tight::Keep, &|pause| units::duration(pause.in_faults_ns)),
        column(("", "share"), Side::Right, Tight::Keep, &|pause| {
            pause.duration_ns.map_or_else(
                || units::UNKNOWN.to_owned(),
                |duration_ns| units::share(pause.in_faults_ns, duration_ns),
            )
        }),
        column(("", "mostly"), Side::Left, Tight::Drop(4), &mostly),
    ];
    if windows.has_stopping() {
        let stopping = column(("stop-", "ping"), Side::Right, Tight::Drop(2), &|pause| {
            units::duration_or_unknown(pause.stopping_ns)
        });
        columns.insert(BEHIND_LENGTH, stopping);
    }
    columns
}

/// Numbers of pauses are looked up in the JSON, so they stand without separators where they can.
fn id(id: u64) -> String {
    if id < 1_000_000 { id.to_string() } else { units::count_column(id) }
}

/// What most of the pause's time went to, in a word: the main kind of its faults, or what was outside them.
pub(super) fn mostly(pause: &Pause) -> String {
    let kind = || match words::by_time(&pause.by_kind).first() {
        Some(&(kind, total)) => words::kind_word(kind, total),
        None if pause.faults > 0 => "unknown".to_owned(),
        None => units::UNKNOWN.to_owned(),
    };
    let Some(budget) = &pause.budget else { return kind() };
    let inside = budget::longest_first(budget, |part| part.is_in_faults());
    let inside_ns = inside.iter().fold(0_u64, |sum, part| sum.saturating_add(part.ns));
    let outside = budget::longest_first(budget, |part| !part.is_in_faults());
    match (inside.first(), outside.iter().max_by_key(|part| part.ns)) {
        // The driver is blocked while it waits for the others to stop.
        (_, Some(part))
            if part.ns > inside_ns && part.name.starts_with("blocked") && mostly_stopping(pause, part.ns) =>
        {
            "stopping".to_owned()
        }
        (_, Some(part))
            if part.ns > inside_ns && part.name.starts_with("blocked") && mostly_workers(pause, part.ns) =>
        {
            "workers".to_owned()
        }
        (_, Some(part)) if part.ns > inside_ns => word(part.name).to_owned(),
        // Inside faults, these say more than the kind.
        (Some(part), _) if part.ns > inside_ns / 2 && !word(part.name).is_empty() => {
            word(part.name).to_owned()
        }
        (Some(_), _) => kind(),
        (None, _) => units::UNKNOWN.to_owned(),
    }
}

/// Whether the stopping phase can be most of so much time blocked.
fn mostly_stopping(pause: &Pause, blocked_ns: u64) -> bool {
    pause.stopping_ns.is_some_and(|stopping_ns| stopping_ns > blocked_ns / 2)
}

/// Whether the wait for workers is most of so much time blocked.
fn mostly_workers(pause: &Pause, blocked_ns: u64) -> bool {
    pause.waited_for_workers.is_some_and(|waited| waited.ns > blocked_ns / 2)
}

/// A part of the budget in a word; empty where it is inside faults and the kind of fault says more.
fn word(part: &str) -> &'static str {
    match part {
        "on_cpu" => "on CPU",
        "waiting_for_cpu" | "fault_waiting_for_cpu" => "no CPU",
        "blocked_futex" => "futex",
        "blocked_io" => "I/O",
        "blocked_other" | "blocked_unknown" => "blocked",
        "reclaiming" | "fault_reclaiming" => "reclaim",
        "compacting" | "fault_compacting" => "compaction",
        "parked" => "parked",
        "unknown" => "unknown",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures::{add_faults, pause};
    use crate::report::model::{Budget, Kind, WaitedForWorkers};

    #[test]
    fn a_pause_is_mostly_its_largest_part() {
        let shown = |change: fn(&mut Pause, &mut Budget)| {
            let (mut pause, mut budget) = (pause(1, "GC", 0, 30_000_000), Budget::default());
            add_faults(&mut pause, Kind::FirstTouch, 10, 10_000_000, 0);
            change(&mut pause, &mut budget);
            pause.budget = Some(budget);
            mostly(&pause)
        };
        assert_eq!(shown(|_, budget| budget.fault_on_cpu_ns = 10_000_000), "first_touch");
        assert_eq!(shown(|_, budget| budget.fault_waiting_for_cpu_ns = 10_000_000), "no CPU");
        assert_eq!(shown(|_, budget| budget.fault_reclaiming_ns = 10_000_000), "reclaim");
        assert_eq!(
            shown(|_, budget| (budget.fault_on_cpu_ns, budget.on_cpu_ns) = (10_000_000, 20_000_000)),
            "on CPU"
        );
        assert_eq!(shown(|_, budget| budget.blocked_futex_ns = 20_000_000), "futex");
        assert_eq!(
            shown(|pause, budget| {
                pause.stopping_ns = Some(19_000_000);
                budget.blocked_futex_ns = 20_000_000;
            }),
            "stopping"
        );
        let waits_for_workers = shown(|pause, budget| {
            pause.waited_for_workers = Some(WaitedForWorkers {
                ns: 11_000_000,
                in_their_faults_ns: 0,
                faults_wall_ns: 0,
                at_least: false,
            });
            budget.blocked_futex_ns = 20_000_000;
        });
        assert_eq!(waits_for_workers, "workers");
        assert_eq!(shown(|_, budget| budget.parked_ns = 20_000_000), "parked");
        assert_eq!(shown(|_, _| ()), units::UNKNOWN);
        let mut none = pause(1, "GC", 0, 30_000_000);
        assert_eq!(mostly(&none), units::UNKNOWN);
        add_faults(&mut none, Kind::FirstTouch, 10, 10_000_000, 10);
        assert_eq!(mostly(&none), "~first_touch");
        // Every part outside faults has its word.
        assert!(
            Budget::default().parts().iter().all(|part| part.is_in_faults() || !word(part.name).is_empty())
        );
    }
}
