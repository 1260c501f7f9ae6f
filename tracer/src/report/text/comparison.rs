//! Two sides compared: what is not alike, the verdict, then everything that was compared, group by group.

use crate::compare::{Comparison, Group, Measure, RunAbout, Unit, Unlike, Verdict};
use crate::report::{compare::format, units};

use super::{
    clean::shorten,
    page::{Page, Tone},
    style::Style,
    table::{Column, Side, Tight, lay_out},
    words::NAME_LENGTH,
};

/// How many files of a side are named unless everything is wanted.
const MOST_FILES: usize = 3;
/// How many code paths are shown unless everything is wanted.
const MOST_PATHS: usize = 5;
/// How many of a code path's functions are named unless everything is wanted.
const MOST_FRAMES: usize = 6;

/// The comparison as text; every line fits the style's width.
#[must_use]
pub fn render(comparison: &Comparison, style: &Style) -> String {
    let mut page = Page::new(style);
    head(&mut page, comparison);
    unlike(&mut page, &comparison.unlike);
    verdict(&mut page, comparison);
    for (group, title) in Group::TITLED {
        group_of(&mut page, comparison, group, title);
    }
    legend(&mut page, comparison);
    partial(&mut page, comparison);
    page.into_string()
}

fn head(page: &mut Page, comparison: &Comparison) {
    let tool = format!("{} {}", shorten(&comparison.tool.name, 30), shorten(&comparison.tool.version, 30));
    let sides = &comparison.sides;
    let runs = |runs: &[RunAbout]| units::counted(runs.len() as u64, "run", "runs");
    let line = format!("{tool}: {} (B) compared with {} (A)", runs(&sides.b.runs), runs(&sides.a.runs));
    page.line(Tone::Strong, 0, 2, &line);
    side(page, "A", &sides.a.runs, &comparison.window);
    side(page, "B", &sides.b.runs, &comparison.window);
}

fn side(page: &mut Page, name: &str, runs: &[RunAbout], window: &str) {
    let Some(first) = runs.first() else { return };
    let spread = |of: &dyn Fn(&RunAbout) -> u64, show: &dyn Fn(u64) -> String| {
        let least = runs.iter().map(of).min().unwrap_or(0);
        let most = runs.iter().map(of).max().unwrap_or(0);
        if least == most { show(least) } else { format!("{} to {}", show(least), show(most)) }
    };
    let runtime =
        if first.runtime.is_empty() { String::new() } else { format!(", {}", shorten(&first.runtime, 60)) };
    let each = if runs.len() > 1 { " each" } else { "" };
    let text = format!(
        "{}{runtime}; watched for {}{each}, {} {window}s{each}",
        shorten(&first.exe, NAME_LENGTH),
        spread(&|run| run.covered_ns, &units::duration),
        spread(&|run| run.pauses, &units::count),
    );
    page.labelled(name, &text);
    let most = page.at_most(MOST_FILES);
    let mut files: Vec<String> = runs.iter().take(most).map(|run| shorten(&run.file, NAME_LENGTH)).collect();
    if runs.len() > most {
        files.push(format!("… {} more", runs.len() - most));
    }
    page.labelled("", &files.join(", "));
}

fn unlike(page: &mut Page, unlike: &[Unlike]) {
    if unlike.is_empty() {
        return;
    }
    page.heading("What is not alike");
    for it in unlike {
        let values = |values: &[crate::compare::UnlikeValue]| {
            let several = values.len() > 1;
            let words = values.iter().map(|value| {
                let runs = if several { format!(" ({})", value.runs) } else { String::new() };
                format!("{}{runs}", shorten(&value.value, NAME_LENGTH))
            });
            words.collect::<Vec<_>>().join(", ")
        };
        let text = format!("{}: A {}; B {}. {}", it.what, values(&it.a), values(&it.b), sentence(&it.why));
        page.line(Tone::Plain, 2, 4, &text);
    }
}

fn verdict(page: &mut Page, comparison: &Comparison) {
    page.gap();
    let headline = &comparison.headline;
    let tone = match headline.verdict {
        Verdict::Worse | Verdict::Mixed => Tone::Warning,
        _ => Tone::Strong,
    };
    page.line(tone, 0, 13, &format!("Verdict      {}", headline.verdict.words()));
    if headline.verdict == Verdict::NoDifferenceShown {
        page.labelled("", &sentence(&headline.why));
    }
    for measure in comparison.measures.iter().filter(|measure| measure.is_headline) {
        page.labelled("", &in_full(measure));
    }
    for note in &comparison.notes {
        page.labelled_in(Tone::Faint, "Note", note);
    }
}

/// A measure with everything that is known of it.
fn in_full(measure: &Measure) -> String {
    let unit = measure.unit;
    let side = |name: &str, side: &crate::compare::SideValue| {
        let range = format::range_of(unit, side);
        let range = if range.is_empty() { range } else { format!(" ({range})") };
        format!("{name} {}{range}", format::value(unit, side.median))
    };
    let mut text = format!("{}: {}, {}", measure.words, side("A", &measure.a), side("B", &measure.b));
    if measure.verdict != Verdict::NoDifferenceShown {
        text = format!("{}: {text}", measure.verdict.words());
    }
    if measure.difference.is_some() {
        text.push_str(&format!("; {}", format::difference(unit, measure.difference)));
        if let Some([low, high]) = measure.difference_interval {
            let range = [low, high].map(|end| format::difference(unit, Some(end)));
            text.push_str(&format!(" [{} to {}]", range[0], range[1]));
        }
        text.push_str(&format!(", {}", format::ratio(measure)));
        let interval = format::ratio_interval(measure);
        if !interval.is_empty() {
            text.push_str(&format!(" [{interval}]"));
        }
    }
    if let Some(p) = measure.p_adjusted {
        text.push_str(&format!(", p {}", format::p(p)));
    }
    text
}

fn group_of(page: &mut Page, comparison: &Comparison, group: Group, title: &str) {
    let verbose = page.verbose();
    let of_group = || comparison.measures.iter().filter(|measure| measure.group == group);
    let mut paths: Vec<&Vec<String>> = Vec::new();
    for frames in of_group().filter_map(|measure| measure.frames.as_ref()) {
        if !paths.contains(&frames) {
            paths.push(frames);
        }
    }
    let all_paths = paths.len();
    paths.truncate(page.at_most(MOST_PATHS));
    let is_listed = |measure: &Measure| measure.frames.as_ref().is_none_or(|frames| paths.contains(&frames));
    let shown: Vec<&Measure> = of_group()
        .filter(|measure| (verbose || is_short(group, measure.unit)) && is_listed(measure))
        .collect();
    if shown.is_empty() {
        return;
    }
    let per = if matches!(group, Group::Kind | Group::Region | Group::Path | Group::Budget) {
        format!(", in a {}", comparison.window)
    } else {
        String::new()
    };
    page.heading(&format!("{title}{per}"));
    let mut names = Vec::with_capacity(shown.len());
    for measure in &shown {
        let per = format::per(measure.unit, &comparison.window);
        // The title says that numbers are those of a pause.
        let time = match measure.unit {
            Unit::NsPerPause => ", time",
            Unit::PerSecond => ", /s",
            Unit::NsPerSecond => ", time/s",
            _ => "",
        };
        let name = match (&measure.frames, group) {
            (Some(frames), _) => {
                let number = paths.iter().position(|known| *known == frames).unwrap_or(0) + 1;
                format!("path {number}{time}")
            }
            (None, Group::Kind | Group::Region) => format!("{}{time}", measure.words),
            (None, Group::Faults) => per,
            // The rate has it in its words.
            (None, Group::Time) if !per.is_empty() => format!("{}, {per}", measure.words),
            (None, _) => measure.words.clone(),
        };
        names.push(name);
    }
    table(page, &shown, names);
    let most = page.at_most(MOST_FRAMES);
    for (index, frames) in paths.iter().enumerate() {
        let mut pieces: Vec<String> =
            frames.iter().take(most).map(|frame| shorten(frame, NAME_LENGTH)).collect();
        if frames.len() > most {
            pieces.push(format!("… {} more", frames.len() - most));
        }
        page.line(Tone::Faint, 2, 10, &format!("path {}: {}", index + 1, pieces.join(" ← ")));
    }
    if all_paths > paths.len() {
        page.line(Tone::Faint, 2, 2, &format!("… {} more code paths: -v", all_paths - paths.len()));
    }
}

/// Whether the short form has it: of kinds, regions and code paths what a window has of them; what a second has follows
/// from the rate.
fn is_short(group: Group, unit: Unit) -> bool {
    !matches!((group, unit), (Group::Kind | Group::Region | Group::Path, Unit::PerSecond | Unit::NsPerSecond))
}

fn table(page: &mut Page, measures: &[&Measure], names: Vec<String>) {
    let column = |head, side, when_tight, of: &dyn Fn(&Measure) -> String| Column {
        head,
        side,
        cells: measures.iter().map(|measure| of(measure)).collect(),
        when_tight,
    };
    let mut columns =
        vec![Column { head: ("", ""), side: Side::Left, cells: names, when_tight: Tight::Shorten(16) }];
    let right = Side::Right;
    columns.push(column(("A", "median"), right, Tight::Keep, &|it| format::value(it.unit, it.a.median)));
    columns.push(column(("", "runs"), right, Tight::Drop(2), &|it| format::range_of(it.unit, &it.a)));
    columns.push(column(("B", "median"), right, Tight::Keep, &|it| format::value(it.unit, it.b.median)));
    columns.push(column(("", "runs"), right, Tight::Drop(3), &|it| format::range_of(it.unit, &it.b)));
    columns
        .push(column(("", "B - A"), right, Tight::Drop(1), &|it| format::difference(it.unit, it.difference)));
    columns.push(column(("", "B / A"), right, Tight::Keep, &format::ratio));
    columns.push(column(("95 %", "interval"), right, Tight::Drop(4), &format::ratio_interval));
    columns.push(column(("", "B is"), Side::Left, Tight::Keep, &format::short_verdict));
    columns.retain(|column| column.cells.iter().any(|cell| !cell.is_empty()));
    let lines = lay_out(columns, page.width() - 2);
    for (index, line) in lines.lines.iter().enumerate() {
        page.row(if index < lines.heads { Tone::Faint } else { Tone::Plain }, 2, line);
    }
}

fn legend(page: &mut Page, comparison: &Comparison) {
    page.gap();
    let method = &comparison.method;
    let both_one = comparison.sides.a.runs.len() == 1 && comparison.sides.b.runs.len() == 1;
    let few = comparison.sides.a.runs.len().min(comparison.sides.b.runs.len()) < 5;
    let intervals = if both_one {
        "Intervals come from drawing the pauses of both runs again: they say nothing of how much runs differ by \
         themselves."
    } else if few {
        "Intervals come from drawing runs again, and the pauses of each. Those of few runs are rough: a verdict rests \
         on the test over runs as well."
    } else {
        "Intervals come from drawing runs again; a verdict rests on the test over runs as well."
    };
    page.line(Tone::Faint, 0, 0, intervals);
    if let Some(permutations) = method.permutations {
        let text = format!(
            "A verdict needs an interval without 0, a difference of at least {:.0} %, and p of at most {}: the share of \
             ways to put the runs into two groups ({} {} tried) in which these differ as much in any measure of the \
             verdict, or in any of the other {}. In brackets: what it would be were it the only measure. {}: no \
             difference shown.",
            method.smallest_difference * 100.0,
            method.largest_p,
            if method.permutations_exact { "all" } else { "some" },
            units::count(permutations),
            units::count(method.other_measures),
            units::UNKNOWN,
        );
        page.line(Tone::Faint, 0, 0, &text);
    }
    page.line(
        Tone::Faint,
        0,
        0,
        &format!("Seed {}; docs/compare.md says how it is done and why.", method.seed),
    );
}

fn partial(page: &mut Page, comparison: &Comparison) {
    let sides = &comparison.sides;
    for run in sides.a.runs.iter().chain(&sides.b.runs) {
        for missing in &run.partial {
            let text =
                format!("{}: {}", shorten(&run.file, NAME_LENGTH), shorten(missing, page.at_most(300)));
            page.labelled_in(Tone::Warning, "INCOMPLETE", &text);
        }
    }
}

/// With a capital, and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map_or_else(String::new, |first| first.to_uppercase().collect());
    format!("{first}{}.", letters.as_str())
}
