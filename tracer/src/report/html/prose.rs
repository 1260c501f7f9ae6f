//! What the page says in words and in a plain table: the same sentences as the text report, readable without scripts.

use std::fmt::Write as _;

use super::escape::markup;
use crate::{
    recording::{Recorded, Recording},
    report::{
        model::{Pause, Report, State},
        text::{
            Tone,
            entries::{self, Entry},
            reason_word, shorten,
        },
        units,
    },
};

/// How many pauses the plain table has.
const MOST_PAUSES: usize = 15;

/// Sentences are cut beyond this; only a monstrous name gets that long.
const SENTENCE_LENGTH: usize = 900;

/// And the headline beyond this.
const HEADLINE_LENGTH: usize = 300;

/// What stands above the pictures: the headline, the diagnosis, and the worst pauses.
pub(super) fn above(recorded: &Recorded) -> String {
    let report = &recorded.report;
    let mut out = String::new();
    if !recorded.is_whole {
        out.push_str(
            "<p class=\"warning\">The recording was cut off before this process's trace had ended: what follows is what it \
             tells until then.</p>\n",
        );
    }
    headline(&mut out, report);
    diagnosis(&mut out, report);
    worst(&mut out, report);
    out
}

/// What stands below the pictures: what was not seen whole, how it was traced, what is missing.
pub(super) fn below(recorded: &Recorded) -> String {
    let report = &recorded.report;
    let mut out = String::new();
    let partial = entries::partial(report);
    if !partial.is_empty() {
        out.push_str("<section class=\"block\">\n");
        listed(&mut out, &partial);
        out.push_str("</section>\n");
    }
    out.push_str("<section class=\"block\" aria-label=\"About this trace\">\n<h2>About this trace</h2>\n<div class=\"body\">\n");
    facts(&mut out, recorded);
    missing(&mut out, report);
    out.push_str("<details><summary>Probes, counters and cost</summary>\n");
    listed(&mut out, &entries::about(report));
    out.push_str("</details>\n</div>\n</section>\n");
    out
}

/// What is said of the recording as a whole.
pub(super) fn recording(recording: &Recording) -> String {
    let header = &recording.header;
    let host = &header.host;
    let mut facts = vec![
        ("Recorded by", format!("{} {}", header.tool.name, header.tool.version)),
        ("Asked for", header.asked.clone()),
        ("Host", if host.name.is_empty() { units::UNKNOWN.to_owned() } else { host.name.clone() }),
        ("Kernel", format!("{}, {}", known(&host.kernel), known(&host.machine))),
        ("CPUs online", host.cpus.map_or_else(|| units::UNKNOWN.to_owned(), units::count)),
        ("Memory", host.memory_bytes.map_or_else(|| units::UNKNOWN.to_owned(), units::bytes)),
        ("Clock", header.clock.clone()),
        (
            "Details dropped",
            match recording
                .losses
                .dropped
                .iter()
                .filter(|(_, n)| **n > 0)
                .map(|(cause, n)| format!("{} {}", units::count(*n), cause))
                .collect::<Vec<_>>()
            {
                causes if causes.is_empty() => "none".to_owned(),
                causes => causes.join(", "),
            },
        ),
        (
            "Recording",
            match &recording.end {
                Some(end) => format!(
                    "whole: {} and {} have lines",
                    units::counted(end.pauses, "pause", "pauses"),
                    units::counted(end.faults, "fault", "faults"),
                ),
                None => {
                    "cut off: it has no last line, so what came after its last flush is missing".to_owned()
                }
            },
        ),
    ];
    for problem in recording.all_problems() {
        facts.push(("Problem", problem.what));
    }
    if let Some(trace) = recording.end.as_ref().and_then(|end| end.trace.as_ref()) {
        facts.extend(trace.incomplete.iter().map(|text| ("Missing", text.clone())));
        facts.extend(trace.notes.iter().map(|text| ("Note", text.clone())));
    }
    for process in recording.end.iter().flat_map(|end| &end.unrecognised).take(20) {
        facts.push(("Not traced", format!("pid {}: {}", process.pid, process.why)));
    }
    let mut out = String::from(
        "<section class=\"block\" aria-label=\"The recording\">\n<h2>The recording</h2>\n<div class=\"body\">\n",
    );
    list(&mut out, &facts);
    out.push_str("</div>\n</section>\n");
    out
}

/// The page's title.
pub(super) fn title(recording: &Recording) -> String {
    match recording.processes.as_slice() {
        [] => "pauselens: nothing was traced".to_owned(),
        [one] => {
            let target = &one.report.target;
            let exe = target.exe.rsplit('/').next().unwrap_or_default();
            let worst = units::duration_or_unknown(one.report.summary.worst_ns);
            let unit = one.report.windows.unit.one();
            format!("pauselens: {} (pid {}), worst {unit} {worst}", shorten(exe, 60), target.pid)
        }
        several => format!("pauselens: {} processes", several.len()),
    }
}

fn known(text: &str) -> &str {
    if text.is_empty() { units::UNKNOWN } else { text }
}

/// The first finding large; what it is of, and the numbers, small.
fn headline(out: &mut String, report: &Report) {
    let entries = entries::headline(report);
    out.push_str("<header class=\"headline\">\n");
    let mut lines = entries.iter().filter_map(|entry| match entry {
        Entry::Line { tone, text, .. } => Some((*tone, text)),
        _ => None,
    });
    if let Some((_, first)) = lines.next() {
        _ = writeln!(out, "<p class=\"kicker\">{}</p>", markup(first));
    }
    let first = report.diagnosis.first().map(|first| shorten(&first.finding, HEADLINE_LENGTH));
    if let Some(first) = first {
        _ = writeln!(out, "<h1>{}</h1>", markup(&first));
    }
    for (tone, text) in lines {
        let tag = if tone == Tone::Strong && report.diagnosis.is_empty() { "h1" } else { "p" };
        _ = writeln!(out, "<{tag}>{}</{tag}>", markup(text));
    }
    let labelled: Vec<(&str, String)> = entries
        .iter()
        .filter_map(|entry| match entry {
            // The first finding stands above.
            Entry::Labelled { label, text, .. } if label != "Why" => Some((label.as_str(), text.clone())),
            _ => None,
        })
        .collect();
    list(out, &labelled);
    out.push_str("</header>\n");
}

fn diagnosis(out: &mut String, report: &Report) {
    if report.diagnosis.is_empty() {
        return;
    }
    out.push_str("<section class=\"block\" aria-label=\"Diagnosis\">\n<h2>Diagnosis</h2>\n<ol class=\"findings body\">\n");
    for (index, finding) in report.diagnosis.iter().enumerate() {
        let sentence = shorten(&finding.finding, SENTENCE_LENGTH);
        // The first one is the headline.
        let class = if index == 0 { "finding said" } else { "finding" };
        _ = writeln!(out, "<li><p class=\"{class}\">{}</p>\n<div class=\"pair\">", markup(&sentence));
        items(out, "It rests on", &finding.evidence);
        items(out, "What usually helps", &finding.remedies);
        out.push_str("</div>\n</li>\n");
    }
    out.push_str("</ol>\n</section>\n");
}

fn items(out: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    _ = writeln!(out, "<div><p class=\"faint\">{title}</p>\n<ul>");
    for item in items {
        _ = writeln!(out, "<li>{}</li>", markup(&shorten(item, SENTENCE_LENGTH)));
    }
    out.push_str("</ul></div>\n");
}

/// The worst pauses as a plain table, for readers without scripts.
fn worst(out: &mut String, report: &Report) {
    let pauses: Vec<&Pause> =
        report.pauses.iter().filter(|pause| pause.state == State::Complete).take(MOST_PAUSES).collect();
    if pauses.is_empty() {
        return;
    }
    let many = report.windows.unit.many();
    _ = writeln!(
        out,
        "<section class=\"block plain\" aria-label=\"Worst {many}\">\n<h2>Worst {many}</h2>\n<div class=\"body scroll\"><table>\n\
         <thead><tr><th>id</th><th>at [s]</th><th class=\"left\">reason</th><th>length</th><th>stopping</th><th>faults</th>\
         <th>major</th><th>in faults</th><th>share</th><th class=\"left\">mostly</th></tr></thead><tbody>"
    );
    for pause in pauses {
        let at = pause.requested_ns.map_or_else(|| units::UNKNOWN.to_owned(), units::seconds);
        let share = pause.duration_ns.map_or_else(
            || units::UNKNOWN.to_owned(),
            |duration_ns| units::share(pause.in_faults_ns, duration_ns),
        );
        let cells = [
            (pause.id.to_string(), ""),
            (at, ""),
            (reason_word(&pause.reason), " class=\"left\""),
            (units::duration_or_unknown(pause.duration_ns), ""),
            (units::duration_or_unknown(pause.stopping_ns), ""),
            (units::count(pause.faults), ""),
            (units::count(pause.major), ""),
            (units::duration(pause.in_faults_ns), ""),
            (share, ""),
            (entries::mostly(pause), " class=\"left\""),
        ];
        out.push_str("<tr>");
        for (cell, class) in cells {
            _ = write!(out, "<td{class}>{}</td>", markup(&cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}

/// What was traced, exactly.
fn facts(out: &mut String, recorded: &Recorded) {
    let (report, target) = (&recorded.report, &recorded.report.target);
    let none = || "none".to_owned();
    let mut facts = vec![
        ("Process", format!("pid {}", target.pid)),
        ("Program", target.exe.clone()),
        ("Build id", target.build_id.clone().unwrap_or_else(none)),
        (
            "Runtime",
            match (target.runtime.name.as_str(), target.runtime.version.as_str()) {
                ("", _) => "unknown".to_owned(),
                (name, version) => format!("{name} {version}"),
            },
        ),
        ("Traced for", units::duration(report.trace.duration_ns)),
        (
            "Complete",
            if report.trace.complete { "yes: everything was seen".to_owned() } else { "no".to_owned() },
        ),
    ];
    if let Some(pid) = target.pid_in_namespace {
        facts.push(("Its own pid", pid.to_string()));
    }
    if let Some(container) = &target.container {
        let runtime = container.runtime.as_deref().unwrap_or("container");
        facts.push(("Container", format!("{runtime} {}", container.id)));
    }
    if let Some(unit) = &target.unit {
        facts.push(("Service", unit.clone()));
    }
    if report.trace.covered_from_ns > 0 {
        facts.push((
            "Covered from",
            format!("{} after the start", units::duration(report.trace.covered_from_ns)),
        ));
    }
    let details = report.trace.fault_details;
    if details.of > 0 {
        let have = units::count(details.have);
        facts.push(("Fault details", format!("{have} of {}", units::counted(details.of, "fault", "faults"))));
    }
    list(out, &facts);
}

fn missing(out: &mut String, report: &Report) {
    let trace = &report.trace;
    let unavailable: Vec<String> =
        trace.unavailable.iter().map(|part| format!("{}: {}", part.part, part.why)).collect();
    if !trace.incomplete.is_empty() {
        out.push_str("<div class=\"warning\">\n");
        items(out, "Missing", &trace.incomplete);
        out.push_str("</div>\n");
    }
    items(out, "Unavailable here", &unavailable);
    items(out, "Notes", &trace.notes);
}

fn list<L: AsRef<str>>(out: &mut String, facts: &[(L, String)]) {
    if facts.is_empty() {
        return;
    }
    out.push_str("<dl class=\"facts\">\n");
    let mut open = false;
    for (label, text) in facts {
        let (label, text) = (label.as_ref(), markup(&shorten(text, SENTENCE_LENGTH)));
        if open && label.is_empty() {
            _ = write!(out, "<br>{text}");
            continue;
        }
        if open {
            out.push_str("</dd></div>\n");
        }
        let class = if label == "INCOMPLETE" || label == "Problem" { " class=\"warning\"" } else { "" };
        _ = write!(out, "<div{class}><dt>{}</dt><dd>{text}", markup(label));
        open = true;
    }
    out.push_str("</dd></div>\n</dl>\n");
}

/// Pieces of the text report, one after the other.
fn listed(out: &mut String, entries: &[Entry]) {
    let mut in_table = false;
    for entry in entries {
        let is_row = matches!(entry, Entry::Row { .. });
        if is_row != in_table {
            out.push_str(if is_row { "<pre class=\"scroll\">" } else { "</pre>\n" });
            in_table = is_row;
        }
        match entry {
            Entry::Line { tone: Tone::Heading, text, .. } => _ = writeln!(out, "<h2>{}</h2>", markup(text)),
            Entry::Line { tone, text, .. } => {
                let class = match tone {
                    Tone::Warning => " class=\"warning\"",
                    Tone::Faint => " class=\"faint\"",
                    _ => "",
                };
                _ = writeln!(out, "<p{class}>{}</p>", markup(text));
            }
            Entry::Labelled { label, text, .. } => {
                _ = writeln!(out, "<p><b>{}</b> {}</p>", markup(label), markup(text));
            }
            Entry::Row { text, .. } => _ = writeln!(out, "{}", markup(text)),
        }
    }
    if in_table {
        out.push_str("</pre>\n");
    }
}
