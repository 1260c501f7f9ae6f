//! Where a pause's time went: its faults by kind, what was outside them, and what the faults waited for.

use crate::report::model::{Budget, BudgetPart, KindTotal, Pause};
use crate::report::units;

use super::page::{Page, Tone};
use super::table::{Column, Side, Tight, lay_out};
use super::words;

/// What a line under a pause's title begins at.
const INDENT: usize = 2;

/// A rest of the pause smaller than one in so many is rounding, not something that is missing.
const ROUNDING: u64 = 1_000;

/// One row of the table; `None` where a row has no such number or it is not known.
struct Row {
    name: String,
    count: Option<u64>,
    ns: Option<u64>,
}

pub(super) fn write(page: &mut Page, pause: &Pause) {
    let (mut rows, known) = in_faults(pause);
    rows.extend(outside(pause));
    table(page, pause, &rows);
    if known.inferred > 0 {
        let of = units::counted(known.count, "fault", "faults");
        let note =
            format!("{} {}: {} of {of}", words::INFERRED, words::INFERRED_NOTE, units::count(known.inferred));
        page.line(Tone::Faint, INDENT, INDENT + 2, &note);
    }
    match &pause.budget {
        Some(budget) => {
            if let Some(text) = split(budget) {
                page.line(Tone::Plain, INDENT, INDENT + 2, &format!("the time in faults: {text}"));
            }
        }
        None if pause.reclaim_ns > 0 => {
            let reclaim = format!(
                "reclaiming memory inside these faults: {}{}",
                units::duration(pause.reclaim_ns),
                of_pause(pause, pause.reclaim_ns),
            );
            page.line(Tone::Plain, INDENT, INDENT + 2, &reclaim);
        }
        None => {}
    }
    if pause.tracing_ns > 0 {
        let of = if pause.budget.is_some() { "on CPU outside faults" } else { "outside faults" };
        let tracing = format!(
            "of the time {of}, {}{} went to pauselens's own work after each fault",
            units::duration(pause.tracing_ns),
            of_pause(pause, pause.tracing_ns),
        );
        page.line(Tone::Faint, INDENT, INDENT + 2, &tracing);
    }
}

/// `33.2 ms blocked on I/O (85.2 %), 5.36 ms on CPU (13.7 %)`: what is inside faults, longest first.
pub(super) fn split(budget: &Budget) -> Option<String> {
    let parts = longest_first(budget, BudgetPart::is_in_faults);
    let whole_ns = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.ns));
    let words = parts.iter().map(|part| {
        let name = part.short_words();
        format!("{} {name} ({})", units::duration(part.ns), units::share(part.ns, whole_ns))
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Parts that took any time, the unknown one last.
pub(super) fn longest_first(budget: &Budget, choose: impl Fn(&BudgetPart) -> bool) -> Vec<BudgetPart> {
    let mut parts: Vec<_> = budget.parts().into_iter().filter(|part| part.ns > 0 && choose(part)).collect();
    parts.sort_by_key(|part| (part.name == "unknown", std::cmp::Reverse(part.ns)));
    parts
}

/// The faults, by kind below their sum; of one kind there is one row. And what is known of their kinds.
fn in_faults(pause: &Pause) -> (Vec<Row>, KindTotal) {
    let kinds = words::by_time(&pause.by_kind);
    let known = kinds.iter().fold(KindTotal::default(), |sum, (_, total)| KindTotal {
        count: sum.count.saturating_add(total.count),
        ns: sum.ns.saturating_add(total.ns),
        inferred: sum.inferred.saturating_add(total.inferred),
    });
    let mut rows: Vec<Row> = kinds
        .iter()
        .map(|&(kind, total)| Row {
            name: words::kind_word(kind, total),
            count: Some(total.count),
            ns: Some(total.ns),
        })
        .collect();
    if known.count < pause.faults {
        rows.push(Row {
            name: "kind unknown".to_owned(),
            count: Some(pause.faults - known.count),
            // Nothing left for them means that their time is in other kinds' rows, not that they took none.
            ns: pause.in_faults_ns.checked_sub(known.ns).filter(|&ns| ns > 0),
        });
    }
    match rows.as_mut_slice() {
        [] => {
            if pause.in_faults_ns > 0 {
                let (name, ns) = ("in faults".to_owned(), Some(pause.in_faults_ns));
                rows.push(Row { name, count: Some(pause.faults), ns });
            }
        }
        [one] => one.name = format!("in faults: {}", one.name),
        many => {
            many.iter_mut().for_each(|row| row.name.insert_str(0, "  "));
            let (name, ns) = ("in faults".to_owned(), Some(pause.in_faults_ns));
            rows.insert(0, Row { name, count: Some(pause.faults), ns });
        }
    }
    (rows, known)
}

/// What was outside faults, and what of the pause is in no part.
fn outside(pause: &Pause) -> Vec<Row> {
    let row = |name: &str, ns| Row { name: name.to_owned(), count: None, ns };
    let left_ns = pause.duration_ns.map(|duration_ns| duration_ns.saturating_sub(pause.in_faults_ns));
    let Some(budget) = &pause.budget else { return vec![row("outside faults", left_ns)] };
    let parts = longest_first(budget, |part| !part.is_in_faults());
    let mut rows: Vec<Row> = parts.iter().map(|part| row(part.words, Some(part.ns))).collect();
    let sum_ns = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.ns));
    let missing_ns = left_ns.map(|left_ns| left_ns.saturating_sub(sum_ns));
    if let (Some(missing_ns), Some(duration_ns)) = (missing_ns, pause.duration_ns)
        && missing_ns > duration_ns / ROUNDING
    {
        rows.push(row("not accounted for", Some(missing_ns)));
    }
    rows
}

fn table(page: &mut Page, pause: &Pause, rows: &[Row]) {
    let column = |head, side, cell: &dyn Fn(&Row) -> String| Column {
        head: ("", head),
        side,
        when_tight: Tight::Keep,
        cells: rows.iter().map(cell).collect(),
    };
    let mut columns = vec![column("where the time went", Side::Left, &|row| row.name.clone())];
    let any_faults = rows.iter().any(|row| row.count.is_some());
    if any_faults {
        columns.push(column("faults", Side::Right, &|row| {
            row.count.map(units::count_column).unwrap_or_default()
        }));
    }
    columns.push(column("time", Side::Right, &|row| units::duration_column(row.ns)));
    columns.push(column("share", Side::Right, &|row| match (row.ns, pause.duration_ns) {
        (Some(ns), Some(duration_ns)) => units::share(ns, duration_ns),
        _ => units::UNKNOWN.to_owned(),
    }));
    if any_faults {
        columns.push(column("per fault", Side::Right, &|row| match (row.ns, row.count) {
            (Some(ns), Some(count)) => units::duration_or_unknown(ns.checked_div(count)),
            (None, Some(_)) => units::UNKNOWN.to_owned(),
            _ => String::new(),
        }));
    }
    let table = lay_out(columns, page.width() - INDENT);
    for (index, line) in table.lines.iter().enumerate() {
        let tone = if index < table.heads { Tone::Faint } else { Tone::Plain };
        page.row(tone, INDENT, line);
    }
}

fn of_pause(pause: &Pause, ns: u64) -> String {
    pause.duration_ns.map_or_else(String::new, |duration_ns| format!(" ({})", units::share(ns, duration_ns)))
}

#[cfg(test)]
mod tests {
    use super::super::style::Style;
    use super::*;
    use crate::report::fixtures::{add_faults, pause};
    use crate::report::model::Kind;

    fn shown(pause: &Pause) -> String {
        let mut page = Page::new(&Style { colour: false, width: 80, verbose: false });
        write(&mut page, pause);
        page.into_string()
    }

    #[test]
    fn a_pause_without_faults_is_taken_apart_as_well() {
        let mut pause = pause(1, "GC", 0, 30_000_000);
        pause.budget =
            Some(Budget { on_cpu_ns: 2_000_000, blocked_futex_ns: 28_000_000, ..Budget::default() });
        let expected = "  where the time went      time   share
  blocked on a futex    28.0 ms  93.3 %
  on CPU                2.00 ms   6.7 %
";
        assert_eq!(shown(&pause), expected);
    }

    #[test]
    fn kinds_stand_below_their_sum() {
        let mut pause = pause(1, "GC", 0, 30_000_000);
        add_faults(&mut pause, Kind::SwapIn, 10, 20_000_000, 0);
        add_faults(&mut pause, Kind::FileMap, 5, 5_000_000, 0);
        pause.budget = Some(Budget {
            fault_blocked_io_ns: 15_000_000,
            fault_on_cpu_ns: 10_000_000,
            on_cpu_ns: 5_000_000,
            ..Budget::default()
        });
        let expected = "  where the time went  faults      time   share  per fault
  in faults                15   25.0 ms  83.3 %    1.67 ms
    swap_in                10   20.0 ms  66.7 %    2.00 ms
    file_map                5   5.00 ms  16.7 %    1.00 ms
  on CPU                        5.00 ms  16.7 %
  the time in faults: 15.0 ms blocked on I/O (60.0 %), 10.0 ms on CPU (40.0 %)
";
        assert_eq!(shown(&pause), expected);
    }

    #[test]
    fn what_is_in_no_part_is_not_hidden() {
        let mut pause = pause(1, "GC", 0, 30_000_000);
        pause.budget = Some(Budget { on_cpu_ns: 20_000_000, unknown_ns: 3_000_000, ..Budget::default() });
        let text = shown(&pause);
        assert!(text.contains("  unknown               3.00 ms  10.0 %\n"), "{text}");
        assert!(text.ends_with("  not accounted for     7.00 ms  23.3 %\n"), "{text}");
    }

    #[test]
    fn without_a_budget_the_rest_is_in_one_row() {
        let mut pause = pause(1, "GC", 0, 30_000_000);
        add_faults(&mut pause, Kind::FirstTouch, 10, 20_000_000, 0);
        (pause.reclaim_ns, pause.tracing_ns) = (9_000_000, 3_000);
        let expected = "  where the time went     faults      time   share  per fault
  in faults: first_touch      10   20.0 ms  66.7 %    2.00 ms
  outside faults                   10.0 ms  33.3 %
  reclaiming memory inside these faults: 9.00 ms (30.0 %)
  of the time outside faults, 3.00 µs (<0.1 %) went to pauselens's own work
    after each fault
";
        assert_eq!(shown(&pause), expected);
    }
}
