//! The worst pauses as a table.

use crate::report::model::{Pause, Report, State};
use crate::report::units;

use super::page::{Page, Tone};
use super::table::{Column, Side, Tight, lay_out};
use super::words;

/// How many pauses the table lists unless everything is wanted.
const MOST: usize = 10;

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
    page.heading(&format!("Worst pauses ({shown} of {})", units::count(report.summary.pauses)));
    let table = lay_out(columns(&pauses), page.width());
    for (index, line) in table.lines.iter().enumerate() {
        page.line(if index < table.heads { Tone::Faint } else { Tone::Plain }, 0, 0, line);
    }
    if pauses.iter().any(|pause| main_kind(pause).starts_with(words::INFERRED)) {
        page.line(Tone::Faint, 0, 2, &format!("{} {}", words::INFERRED, words::INFERRED_NOTE));
    }
}

fn columns(pauses: &[&Pause]) -> Vec<Column> {
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
    vec![
        Column { head: ("", "#"), side: Side::Right, when_tight: Tight::Drop(0), cells: ranks },
        column(("", "id"), Side::Right, Tight::Keep, &|pause| id(pause.id)),
        column(("", "at [s]"), Side::Right, Tight::Drop(3), &|pause| {
            pause.requested_ns.map_or_else(|| units::UNKNOWN.to_owned(), units::seconds)
        }),
        column(("", "reason"), Side::Left, Tight::Shorten(LEAST_REASON), &words::reason),
        column(("", "length"), Side::Right, Tight::Keep, &|pause| {
            units::duration_or_unknown(pause.duration_ns)
        }),
        column(("stop-", "ping"), Side::Right, Tight::Drop(2), &|pause| {
            units::duration_or_unknown(pause.stopping_ns)
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
        column(("main", "kind"), Side::Left, Tight::Drop(4), &main_kind),
    ]
}

/// Numbers of pauses are looked up in the JSON, so they stand without separators where they can.
fn id(id: u64) -> String {
    if id < 1_000_000 { id.to_string() } else { units::count_column(id) }
}

fn main_kind(pause: &Pause) -> String {
    match words::by_time(&pause.by_kind).first() {
        Some(&(kind, total)) => words::kind_word(kind, total),
        None if pause.faults > 0 => "unknown".to_owned(),
        None => units::UNKNOWN.to_owned(),
    }
}
