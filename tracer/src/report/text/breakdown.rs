//! The worst pauses one by one: what each consisted of.

use crate::report::model::{KindTotal, LongestFault, Pause, Report, State};
use crate::report::units;

use super::clean::shorten;
use super::page::{Page, Tone};
use super::table::{Column, Side, Tight, lay_out};
use super::{stack, stopping, words};

/// How many pauses are taken apart unless everything is wanted.
const MOST: usize = 3;

/// What a line under a pause's title begins at.
const INDENT: usize = 2;

pub(super) fn write(page: &mut Page, report: &Report) {
    let with_faults = |pause: &&Pause| pause.faults > 0 || !pause.stopping_faults.is_empty();
    for pause in report.pauses.iter().filter(with_faults).take(page.at_most(MOST)) {
        one(page, pause);
    }
}

fn one(page: &mut Page, pause: &Pause) {
    let length = match pause.duration_ns {
        Some(ns) => units::duration(ns),
        None => "length unknown".to_owned(),
    };
    let state = if pause.state == State::Complete {
        String::new()
    } else {
        format!(", {}", words::state(pause.state))
    };
    page.heading(&format!("Pause #{}: {}, {length}{state}", pause.id, words::reason(pause)));
    page.line(Tone::Plain, INDENT, INDENT + 2, &phases(pause));
    if let Some(frames) = &pause.requested_by {
        page.line(Tone::Plain, INDENT, INDENT + 2, "asked for by");
        stack::frames(page, INDENT + 2, frames);
    }
    page.gap();
    kinds(page, pause);
    if !pause.by_region.is_empty() {
        let regions = format!("touched: {}", words::region_times(&pause.by_region));
        page.line(Tone::Plain, INDENT, INDENT + 2, &regions);
    }
    if let Some(longest) = &pause.longest_fault {
        page.line(Tone::Plain, INDENT, INDENT + 2, &longest_fault(longest));
    }
    stopping::write(page, pause);
    bystanders(page, pause);
    details(page, pause);
    stack::write(page, pause);
}

fn phases(pause: &Pause) -> String {
    let between = |from: Option<i64>, to: Option<i64>| -> String {
        let ns = from.zip(to).and_then(|(from, to)| u64::try_from(i128::from(to) - i128::from(from)).ok());
        units::duration_or_unknown(ns)
    };
    let mut text = format!(
        "requested at {} by thread {}; stopping {}, stopped {}, restarting {}",
        words::moment(pause.requested_ns),
        pause.driver_tid,
        units::duration_or_unknown(pause.stopping_ns),
        between(pause.stopped_ns, pause.restarting_ns),
        between(pause.restarting_ns, pause.resumed_ns),
    );
    if let Some(tid) = pause.resumed_by_tid {
        text.push_str(&format!("; resumed by thread {tid}"));
    }
    text
}

/// One row of the table; `None` where a row has no such number or it is not known.
struct Row {
    name: String,
    count: Option<u64>,
    ns: Option<u64>,
}

fn kinds(page: &mut Page, pause: &Pause) {
    let kinds = words::by_time(&pause.by_kind);
    let mut rows: Vec<Row> = kinds
        .iter()
        .map(|&(kind, total)| Row {
            name: words::kind_word(kind, total),
            count: Some(total.count),
            ns: Some(total.ns),
        })
        .collect();
    let known = kinds.iter().fold(KindTotal::default(), |sum, (_, total)| KindTotal {
        count: sum.count.saturating_add(total.count),
        ns: sum.ns.saturating_add(total.ns),
        inferred: sum.inferred.saturating_add(total.inferred),
    });
    if known.count < pause.faults {
        rows.push(Row {
            name: "kind unknown".to_owned(),
            count: Some(pause.faults - known.count),
            // Nothing left for them means that their time is in other kinds' rows, not that they took none.
            ns: pause.in_faults_ns.checked_sub(known.ns).filter(|&ns| ns > 0),
        });
    }
    if rows.len() > 1 {
        rows.push(Row {
            name: "in faults".to_owned(),
            count: Some(pause.faults),
            ns: Some(pause.in_faults_ns),
        });
    }
    rows.push(Row {
        name: "outside faults".to_owned(),
        count: None,
        ns: pause.duration_ns.map(|duration_ns| duration_ns.saturating_sub(pause.in_faults_ns)),
    });
    table(page, pause, &rows);
    if known.inferred > 0 {
        let of = units::counted(known.count, "fault", "faults");
        let note =
            format!("{} {}: {} of {of}", words::INFERRED, words::INFERRED_NOTE, units::count(known.inferred));
        page.line(Tone::Faint, INDENT, INDENT + 2, &note);
    }
    if pause.tracing_ns > 0 {
        let tracing = format!(
            "  of that {}{} went to pauselens's own work after each fault",
            units::duration(pause.tracing_ns),
            of_pause(pause, pause.tracing_ns),
        );
        page.line(Tone::Faint, INDENT, INDENT + 2, &tracing);
    }
    if pause.reclaim_ns > 0 {
        let reclaim = format!(
            "reclaiming memory inside these faults: {}{}",
            units::duration(pause.reclaim_ns),
            of_pause(pause, pause.reclaim_ns),
        );
        page.line(Tone::Plain, INDENT, INDENT + 2, &reclaim);
    }
}

fn table(page: &mut Page, pause: &Pause, rows: &[Row]) {
    let column = |head, side, cell: &dyn Fn(&Row) -> String| Column {
        head: ("", head),
        side,
        when_tight: Tight::Keep,
        cells: rows.iter().map(cell).collect(),
    };
    let columns = vec![
        column("where the time went", Side::Left, &|row| row.name.clone()),
        column("faults", Side::Right, &|row| row.count.map(units::count_column).unwrap_or_default()),
        column("time", Side::Right, &|row| units::duration_column(row.ns)),
        column("share", Side::Right, &|row| match (row.ns, pause.duration_ns) {
            (Some(ns), Some(duration_ns)) => units::share(ns, duration_ns),
            _ => units::UNKNOWN.to_owned(),
        }),
        column("per fault", Side::Right, &|row| match (row.ns, row.count) {
            (Some(ns), Some(count)) => units::duration_or_unknown(ns.checked_div(count)),
            (None, Some(_)) => units::UNKNOWN.to_owned(),
            _ => String::new(),
        }),
    ];
    let table = lay_out(columns, page.width() - INDENT);
    for (index, line) in table.lines.iter().enumerate() {
        page.line(if index < table.heads { Tone::Faint } else { Tone::Plain }, INDENT, INDENT, line);
    }
}

fn of_pause(pause: &Pause, ns: u64) -> String {
    pause.duration_ns.map_or_else(String::new, |duration_ns| format!(" ({})", units::share(ns, duration_ns)))
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

fn bystanders(page: &mut Page, pause: &Pause) {
    let others = &pause.bystanders;
    if others.faults == 0 && others.sum_ns == 0 {
        return;
    }
    let mut text = format!(
        "other threads during the pause: {} ({} major), {} summed over threads",
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
