//! The headline: what was traced, how many windows there were, how long, and why the worst one was: the first finding.

use crate::report::model::{Report, Summary, Unit, Windows};
use crate::report::units;
use crate::runtime::UNKNOWN_VERSION;

use super::clean::shorten;
use super::page::{Page, Tone};
use super::{processes, spent, words};

/// How many reasons are listed unless everything is wanted.
const MOST_REASONS: usize = 6;

/// The first finding is cut beyond this unless everything is wanted: only a monstrous name in it gets that long.
const SENTENCE_LENGTH: usize = 300;

pub(super) fn write(page: &mut Page, report: &Report) {
    target(page, report);
    let summary = &report.summary;
    if summary.pauses > 0 {
        page.gap();
        windows(page, report);
        lengths(page, report);
        if let Some(first) = report.diagnosis.first() {
            page.labelled("Why", &shorten(&first.finding, page.at_most(SENTENCE_LENGTH)));
        }
        page.labelled(report.windows.unit.all_time_label(), &all_time(report));
        page.labelled("Faults", &faults(report));
        spent::write(page, report);
    }
    left_out(page, &report.windows);
    if !report.trace.complete {
        page.labelled_in(
            Tone::Warning,
            "INCOMPLETE",
            "not everything was seen: what is missing stands at the end",
        );
    }
}

fn target(page: &mut Page, report: &Report) {
    let target = &report.target;
    let runtime = match (target.runtime.name.as_str(), target.runtime.version.as_str()) {
        ("", _) => "runtime unknown".to_owned(),
        (name, "") => shorten(name, 30),
        // Windows of the user's need no runtime.
        (_, UNKNOWN_VERSION) if report.windows.unit != Unit::Pause => "no known runtime".to_owned(),
        (name, version) => format!("{} {}", shorten(name, 30), shorten(version, 30)),
    };
    let tool = format!("{} {}", shorten(&report.tool.name, 30), shorten(&report.tool.version, 30));
    let exe = shorten(&target.exe, page.width() - 20);
    page.line(Tone::Strong, 0, 2, &format!("{tool}: pid {}, {exe}, {runtime}", target.pid));
    if let Some(lives_in) = processes::lives_in(target) {
        page.line(Tone::Plain, 0, 2, &format!("in {lives_in}"));
    }
    let mut traced = format!(
        "traced for {} {}",
        units::duration(report.trace.duration_ns),
        words::ended(report.trace.ended)
    );
    if let Some(exit) = &report.trace.exit {
        traced.push_str(&format!(" ({})", shorten(exit, words::NAME_LENGTH)));
    }
    page.line(Tone::Plain, 0, 2, &traced);
}

/// How many there are, and of what.
fn windows(page: &mut Page, report: &Report) {
    let (summary, windows) = (&report.summary, &report.windows);
    match windows.unit {
        Unit::Pause => pauses(page, summary),
        Unit::Call | Unit::Window => {
            let of = windows
                .of
                .as_ref()
                .map_or_else(String::new, |of| format!(" of {}", shorten(of, words::NAME_LENGTH)));
            let text = format!("{}{of}", units::count(summary.pauses));
            page.labelled(windows.unit.titles(), &text);
            // Of calls the reason is what they are calls of.
            if windows.unit == Unit::Window && summary.by_reason.len() > 1 {
                reasons(page, summary);
            }
        }
    }
    if let Some(stops) = windows.stops_only() {
        page.labelled("Stops", &shorten(stops, page.at_most(SENTENCE_LENGTH)));
    }
}

/// Windows that were counted only, and those that were none.
fn left_out(page: &mut Page, windows: &Windows) {
    if let Some(short) = &windows.short {
        let text = format!(
            "{} shorter than {}, {} in all, with {}: in the count and the lengths, but in no kind, share and list",
            units::count(short.count),
            units::duration(short.than_ns),
            units::duration(short.ns),
            units::counted(short.faults, "fault", "faults"),
        );
        page.labelled("Short", &text);
    }
    if let Some(sampled) = &windows.sampled {
        let text = format!(
            "{} of the time, {} in {}: all numbers are of that time",
            percent(sampled.share),
            units::duration(sampled.watched_ns),
            units::counted(sampled.rounds, "round", "rounds"),
        );
        page.labelled("Sampled", &text);
    }
    if windows.discarded > 0 {
        let requests = units::counted(windows.discarded, "request", "requests");
        let text = format!(
            "{requests} that another one had come before: no {}, and in no number",
            windows.unit.many()
        );
        page.labelled("Discarded", &text);
    }
}

/// `5 %`.
fn percent(share: f64) -> String {
    format!("{:.4}", share * 100.0).trim_end_matches('0').trim_end_matches('.').to_owned() + " %"
}

fn pauses(page: &mut Page, summary: &Summary) {
    let mut parts = Vec::new();
    if summary.collections > 0 {
        parts.push(units::counted(summary.collections, "collection", "collections"));
    }
    if summary.other_stops > 0 {
        let other = if summary.collections > 0 { "other stop" } else { "stop that was no collection" };
        let others = if summary.collections > 0 { "other stops" } else { "stops that were no collections" };
        parts.push(units::counted(summary.other_stops, other, others));
    }
    let unknown = summary.pauses.saturating_sub(summary.collections.saturating_add(summary.other_stops));
    if unknown > 0 {
        parts.push(format!("{} of unknown reason", units::count(unknown)));
    }
    let text = match parts.as_slice() {
        [all] => all.clone(),
        parts => format!("{}: {}", units::count(summary.pauses), parts.join(", ")),
    };
    page.labelled("Pauses", &text);
    reasons(page, summary);
}

fn reasons(page: &mut Page, summary: &Summary) {
    let mut reasons: Vec<(&String, u64)> = summary.by_reason.iter().map(|(name, &n)| (name, n)).collect();
    reasons.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    let reasons: Vec<String> = reasons
        .into_iter()
        .map(|(name, n)| format!("{} {}", units::count(n), words::reason_word(name)))
        .collect();
    if !reasons.is_empty() {
        page.labelled("Reasons", &words::list(&reasons, page.at_most(MOST_REASONS)));
    }
}

fn lengths(page: &mut Page, report: &Report) {
    let summary = &report.summary;
    let named = |name: &str, ns: Option<u64>| format!("{name} {}", units::duration_or_unknown(ns));
    let mut text = [
        named("median", summary.median_ns),
        named("p90", summary.p90_ns),
        named("p99", summary.p99_ns),
        named("worst", summary.worst_ns),
    ]
    .join(", ");
    if let (Some(worst), Some(median)) = (summary.worst_ns, summary.median_ns)
        && median > 0
    {
        text.push_str(&format!(" ({} the median)", units::times(worst, median)));
    }
    if !summary.quantiles_exact {
        text.push_str("; quantiles within 0.1 %");
    }
    if summary.records_lost > 0 {
        let lost = report.windows.unit.counted(summary.records_lost);
        text.push_str(&format!("; without {lost} whose record was lost"));
    }
    page.labelled("Length", &text);
}

fn all_time(report: &Report) -> String {
    let summary = &report.summary;
    let stopping = match summary.stopping_ns {
        _ if !report.windows.has_stopping() => String::new(),
        Some(ns) => format!(", {} of it stopping", units::duration(ns)),
        None => ", how much of it stopping is unknown".to_owned(),
    };
    format!(
        "{} in all{stopping}; faults explain {} of it ({})",
        units::duration(summary.paused_ns),
        units::duration(summary.explained_by_faults_ns),
        units::share(summary.explained_by_faults_ns, summary.paused_ns),
    )
}

fn faults(report: &Report) -> String {
    let summary = &report.summary;
    let mut text = format!(
        "{} on {} ({} major, {} minor), {} in them",
        units::count(summary.faults),
        report.windows.unit.drivers(),
        units::count(summary.major),
        units::count(summary.minor),
        units::duration(summary.in_faults_ns),
    );
    if !summary.by_kind.is_empty() {
        text.push_str(&format!(": {}", words::kind_counts(&summary.by_kind)));
    }
    text
}
