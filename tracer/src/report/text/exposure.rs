//! `pauselens exposure` for a person at a terminal.

use crate::exposure::{Bytes, Latency, LatencySource};
use crate::report::exposure::ExposureReport;
use crate::report::units;

use super::clean::shorten;
use super::exposures::next_pause;
use super::page::{Page, Tone};
use super::style::Style;
use super::table::{Column, Side, Tight, lay_out};
use super::words;

/// The report as text. Every line fits the style's width.
#[must_use]
pub fn render(report: &ExposureReport, style: &Style) -> String {
    let mut page = Page::new(style);
    target(&mut page, report);
    memory(&mut page, report);
    notes(&mut page, report);
    page.gap();
    host(&mut page, report);
    estimate(&mut page, report);
    for missing in &report.unavailable {
        page.labelled_in(Tone::Warning, "UNAVAILABLE", &format!("{}: {}", missing.part, missing.why));
    }
    page.into_string()
}

fn target(page: &mut Page, report: &ExposureReport) {
    let target = &report.target;
    let runtime = match target.runtime.name.as_str() {
        "" => "no runtime recognised".to_owned(),
        name => format!("{} {}", shorten(name, 30), shorten(&target.runtime.version, 30)),
    };
    let exe = shorten(&target.exe, page.width() - 20);
    let tool = format!("{} {}", report.tool.name, report.tool.version);
    page.line(Tone::Strong, 0, 2, &format!("{tool}: pid {}, {exe}, {runtime}", target.pid));
}

fn memory(page: &mut Page, report: &ExposureReport) {
    let found = &report.exposure.found;
    page.heading("Memory");
    let mut names: Vec<String> = found
        .regions
        .iter()
        .map(|region| {
            format!("{}{}", if region.inferred { words::INFERRED } else { "" }, region.region.word())
        })
        .collect();
    names.push("all".to_owned());
    let rows: Vec<&Bytes> =
        found.regions.iter().map(|region| &region.bytes).chain(std::iter::once(&found.total)).collect();
    let column = |head, of: fn(&Bytes) -> Option<u64>, when_tight| Column {
        head,
        side: Side::Right,
        cells: rows.iter().map(|bytes| cell(of(bytes))).collect(),
        when_tight,
    };
    let columns = vec![
        Column { head: ("", "region"), side: Side::Left, cells: names, when_tight: Tight::Keep },
        column(("", "mapped"), |bytes| Some(bytes.mapped_bytes), Tight::Drop(3)),
        column(("", "resident"), |bytes| Some(bytes.resident_bytes), Tight::Keep),
        column(("swapped", "out"), |bytes| bytes.swapped_bytes, Tight::Keep),
        column(("never", "touched"), |bytes| Some(bytes.untouched_bytes), Tight::Keep),
        column(("not mapped,", "of files"), |bytes| Some(bytes.file_not_mapped_bytes), Tight::Drop(1)),
        column(("not mapped,", "shared"), |bytes| Some(bytes.shared_not_mapped_bytes), Tight::Drop(0)),
        column(("only", "reserved"), |bytes| Some(bytes.reserved_bytes), Tight::Drop(2)),
    ];
    let table = lay_out(columns, page.width() - 2);
    for (index, line) in table.lines.iter().enumerate() {
        let tone = if index < table.heads { Tone::Faint } else { Tone::Plain };
        page.line(tone, 2, 2, line);
    }
}

fn cell(bytes: Option<u64>) -> String {
    match bytes {
        Some(0) => "0".to_owned(),
        Some(bytes) => units::bytes(bytes),
        None => units::UNKNOWN.to_owned(),
    }
}

fn notes(page: &mut Page, report: &ExposureReport) {
    let found = &report.exposure.found;
    if found.regions.iter().any(|region| region.inferred) {
        let note = format!("{} placed by a rule about the runtime's layout of its memory", words::INFERRED);
        page.line(Tone::Faint, 2, 4, &note);
    }
    if found.total.swapped_bytes.is_none() {
        let note =
            format!("{} the kernel does not show what of shared memory is swapped out", units::UNKNOWN);
        page.line(Tone::Faint, 2, 4, &note);
    }
    if found.changed_mappings > 0 {
        let changed = units::counted(found.changed_mappings, "mapping", "mappings");
        let note = format!("{changed} changed while they were read, and are in no sum");
        page.line(Tone::Faint, 2, 4, &note);
    }
}

fn host(page: &mut Page, report: &ExposureReport) {
    let found = &report.exposure.found;
    if let Some(bytes) = found.code_not_cached_bytes {
        let text = match bytes {
            0 => "all of the program's code is in memory (mapped, or in the page cache)".to_owned(),
            bytes => format!("{} of the program's code are not in memory", units::bytes(bytes)),
        };
        page.labelled("Code", &text);
    }
    if let Some(swap) = &found.swap {
        let text = if swap.total_bytes == 0 {
            "none is on, so nothing can be swapped out".to_owned()
        } else {
            format!(
                "{} of {} are in use; all processes have {} swapped out, {} of it in the swap cache still; a fault reads \
                 up to {}",
                units::bytes(swap.used_bytes),
                units::bytes(swap.total_bytes),
                units::bytes(swap.swapped_bytes),
                units::bytes(swap.cached_bytes),
                units::counted(swap.read_ahead_pages, "page", "pages"),
            )
        };
        page.labelled("Swap", &text);
    }
    if let Some(latency) = &found.latency {
        page.labelled("Swap-in", &swap_in(latency));
    }
}

fn swap_in(latency: &Latency) -> String {
    let mut text =
        format!("usually {}, mean {}", units::duration(latency.usual_ns), units::duration(latency.mean_ns));
    if let (Some(p50), Some(p90)) = (latency.p50_ns, latency.p90_ns) {
        text.push_str(&format!(", median {}, p90 {}", units::duration(p50), units::duration(p90)));
    }
    let reads = units::counted(latency.reads, "read", "reads");
    text.push_str(&match latency.source {
        LatencySource::Trace => format!(" of {reads} that the trace saw in pauses"),
        LatencySource::Probe => format!(
            " of {reads} of pauselens's own memory: {} of it were swapped out for this, and are gone again",
            units::bytes(latency.probe_bytes.unwrap_or(0)),
        ),
    });
    if let (Some(ns), Some(pages), Some(reads)) =
        (latency.sequential_page_ns, latency.sequential_pages, latency.sequential_reads)
    {
        text.push_str(&format!(
            "; one after the other {} a page ({} by {}, with read-ahead)",
            units::duration(ns),
            units::counted(pages, "page", "pages"),
            units::counted(reads, "read", "reads"),
        ));
    }
    text
}

fn estimate(page: &mut Page, report: &ExposureReport) {
    let Some(estimate) = &report.exposure.next_pause else { return };
    page.labelled(
        "Next pause",
        &format!("{}: the longest pause of the next collection", next_pause(&report.exposure)),
    );
    for basis in &estimate.basis {
        page.line(Tone::Plain, 2, 4, &format!("- {basis}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::exposure::{SCHEMA, Usual, exposed, fixtures::swapped_out};
    use crate::report::fixtures;
    use crate::runtime::RuntimeKind;

    fn report(runtime: Result<RuntimeKind, String>) -> ExposureReport {
        let (exposure, unavailable) = exposed(swapped_out(), runtime, Usual::default());
        let crate::report::model::Report { tool, target, .. } = fixtures::empty();
        ExposureReport { schema: SCHEMA.to_owned(), tool, target, exposure, unavailable }
    }

    #[test]
    fn every_line_fits() {
        for width in [60, 100] {
            let style = Style { width, ..Style::default() };
            let text = render(&report(Ok(RuntimeKind::Go)), &style);
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{line}");
            }
            for word in
                ["~runtime_metadata", "1.95 MiB", "Next pause   2.17 ms to 38.3 ms", "24 reads", "190 reads"]
            {
                assert!(text.contains(word), "no {word:?}: {text}");
            }
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        let text = render(&report(Err("no runtime here".to_owned())), &Style::default());
        assert!(text.contains("UNAVAILABLE  estimate of the next pause: no runtime here"), "{text}");
        assert!(!text.contains("Next pause"));
    }
}
