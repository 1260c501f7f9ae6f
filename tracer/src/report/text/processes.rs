//! Several processes: a table of them first, then each one's own page.

use crate::report::{
    model::{Container, Report, Target},
    processes::{ProcessesReport, Unrecognised},
    units,
};

use super::{
    clean::shorten,
    document,
    page::{Page, Tone},
    style::Style,
    table::{Column, Side, Tight, lay_out},
    words,
};

/// How many untraced processes are listed unless everything is wanted.
const MOST_UNRECOGNISED: usize = 10;

/// A container's id is as long in the table, as the engines' own tools show it.
const ID_LENGTH: usize = 12;

/// The report as text: see [`super::render`].
#[must_use]
pub fn render(report: &ProcessesReport, style: &Style) -> String {
    let mut page = Page::new(style);
    head(&mut page, report);
    table(&mut page, &report.processes);
    unrecognised(&mut page, report);
    for missing in &report.trace.incomplete {
        page.labelled_in(Tone::Warning, "INCOMPLETE", missing);
    }
    for note in &report.trace.notes {
        page.labelled("Note", note);
    }
    let mut text = page.into_string();
    for process in &report.processes {
        let mut page = Page::new(style);
        let target = &process.target;
        page.line(Tone::Heading, 0, 2, &format!("──── process {} ({})", target.pid, name(target)));
        text.push('\n');
        text.push_str(&page.into_string());
        text.push_str(&document::render(process, style));
    }
    text
}

fn head(page: &mut Page, report: &ProcessesReport) {
    let tool = format!("{} {}", shorten(&report.tool.name, 30), shorten(&report.tool.version, 30));
    let traced = units::counted(report.processes.len() as u64, "process", "processes");
    page.line(Tone::Strong, 0, 2, &format!("{tool}: {traced} traced: {}", report.trace.asked));
    let line = format!(
        "traced for {} {}",
        units::duration(report.trace.duration_ns),
        words::ended(report.trace.ended)
    );
    page.line(Tone::Plain, 0, 2, &line);
    if !report.trace.complete && report.trace.incomplete.is_empty() {
        page.labelled_in(
            Tone::Warning,
            "INCOMPLETE",
            "not everything was seen: what is missing stands with each process",
        );
    }
}

fn table(page: &mut Page, processes: &[Report]) {
    if processes.is_empty() {
        return;
    }
    page.gap();
    let column = |head, side, when_tight, cell: &dyn Fn(&Report) -> String| Column {
        head,
        side,
        when_tight,
        cells: processes.iter().map(cell).collect(),
    };
    let mut columns = vec![
        column(("", "pid"), Side::Right, Tight::Keep, &|report| report.target.pid.to_string()),
        column(("", "name"), Side::Left, Tight::Shorten(10), &|report| name(&report.target)),
    ];
    if processes.iter().any(|report| home(&report.target).is_some()) {
        columns.push(column(("", "container"), Side::Left, Tight::Shorten(ID_LENGTH), &|report| {
            home(&report.target).unwrap_or_else(|| units::UNKNOWN.to_owned())
        }));
    }
    columns.extend([
        column(("", "runtime"), Side::Left, Tight::Drop(0), &|report| {
            shorten(&format!("{} {}", report.target.runtime.name, report.target.runtime.version), 24)
        }),
        column(("", "pauses"), Side::Right, Tight::Keep, &|report| {
            units::count_column(report.summary.pauses)
        }),
        column(("", "worst"), Side::Right, Tight::Keep, &|report| {
            units::duration_or_unknown(report.summary.worst_ns)
        }),
        column(("", "paused"), Side::Right, Tight::Drop(1), &|report| {
            units::duration(report.summary.paused_ns)
        }),
        column(("in", "faults"), Side::Right, Tight::Keep, &|report| {
            units::share(report.summary.in_faults_ns, report.summary.paused_ns)
        }),
        column(
            ("", "covered from"),
            Side::Right,
            Tight::Drop(2),
            &|report| match report.trace.covered_from_ns {
                0 => "start".to_owned(),
                ns => units::duration(ns),
            },
        ),
    ]);
    let lines = lay_out(columns, page.width());
    for (index, line) in lines.lines.iter().enumerate() {
        page.row(if index < lines.heads { Tone::Faint } else { Tone::Plain }, 0, line);
    }
}

fn unrecognised(page: &mut Page, report: &ProcessesReport) {
    let all = &report.unrecognised;
    if all.is_empty() {
        return;
    }
    let number = (all.len() as u64).saturating_add(report.trace.unrecognised_more);
    page.heading(&format!("Not traced: {}", units::counted(number, "process", "processes")));
    let most = page.at_most(MOST_UNRECOGNISED);
    for Unrecognised { pid, exe, why } in all.iter().take(most) {
        let exe = exe.as_deref().unwrap_or("executable unknown");
        page.line(Tone::Plain, 2, 4, &format!("{pid} ({}): {why}", shorten(exe, 60)));
    }
    let shown = all.len().min(most) as u64;
    if number > shown {
        page.line(Tone::Faint, 2, 4, &format!("… {} more", units::count(number - shown)));
    }
}

/// The executable's file name.
fn name(target: &Target) -> String {
    let name = target.exe.trim_end_matches(" (deleted)");
    shorten(name.rsplit('/').next().unwrap_or(name), 40)
}

/// The container, or else the unit, in a word.
fn home(target: &Target) -> Option<String> {
    match (&target.container, &target.unit) {
        (Some(container), _) => Some(short(container)),
        (None, Some(unit)) => Some(shorten(unit, 40)),
        (None, None) => None,
    }
}

fn short(container: &Container) -> String {
    let id: String = container.id.chars().take(ID_LENGTH).collect();
    match &container.runtime {
        Some(runtime) => format!("{runtime} {id}"),
        None => id,
    }
}

/// Where the target lives, for its own page: its container in full, its pod, its unit, its id in its own namespace.
pub(super) fn lives_in(target: &Target) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(container) = &target.container {
        let runtime = container.runtime.as_deref().map_or_else(String::new, |runtime| format!("{runtime} "));
        parts.push(format!("container {runtime}{}", shorten(&container.id, 70)));
        parts.extend(container.pod_uid.as_ref().map(|uid| format!("pod {}", shorten(uid, 40))));
    }
    parts.extend(target.unit.as_ref().map(|unit| format!("unit {}", shorten(unit, 60))));
    parts.extend(target.pid_in_namespace.map(|pid| format!("pid {pid} in its own namespace")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn the_table_stands_before_the_pages() {
        let report = fixtures::processes();
        let text = render(&report, &Style::default());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let at = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("{needle}\n{text}"));
        assert!(at(" pid  name") < at("Not traced: 1 process") && at("Not traced") < at("──── process"));
        assert!(text.contains("docker 4f1d3a0c9be2"), "{text}");
        let pages = text.matches("──── process").count();
        assert_eq!(pages, report.processes.len());
    }

    #[test]
    fn a_page_says_where_its_process_lives() {
        let report = fixtures::processes();
        let lives = report.processes.iter().find_map(|report| lives_in(&report.target)).unwrap();
        assert!(lives.starts_with("container docker 4f1d3a0c9be2"), "{lives}");
        assert!(
            lives.ends_with("pod 1b4c3c52-0f0e-4a5f-9c53-0a2d6f9d7e11, pid 7 in its own namespace"),
            "{lives}"
        );
    }
}
