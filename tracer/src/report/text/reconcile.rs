//! The footer: how far the numbers can be trusted, checked against the kernel and the runtime, and what was lost.

use crate::report::model::{Overhead, Reconciliation, Report, StampCheck, ThreadReconciliation, Trace, Unit};
use crate::report::units;

use super::clean::shorten;
use super::page::{Page, Tone};
use super::words;

/// How many threads with something left over are listed unless everything is wanted.
const MOST_THREADS: usize = 5;

/// How many causes of drops are listed unless everything is wanted; there are fewer unless something is wrong.
const MOST_CAUSES: usize = 12;

/// Notes are cut beyond this unless everything is wanted: only a monstrous name in one gets that long.
const NOTE_LENGTH: usize = 600;

pub(super) fn write(page: &mut Page, report: &Report) {
    let trace = &report.trace;
    let unit = report.windows.unit;
    page.heading("How far these numbers hold");
    page.labelled("Counted", &whole_process(&trace.reconciliation, unit));
    threads(page, &trace.threads, unit);
    if let Some(stamps) = &trace.runtime_stamps {
        page.labelled("Stamps", &stamp_check(stamps));
    }
    page.labelled("Details", &details(trace, unit));
    page.labelled("Dropped", &dropped(page, trace, report.summary.records_lost));
    page.labelled("Overhead", &overhead(&trace.overhead, trace.duration_ns));
    let note_length = page.at_most(NOTE_LENGTH);
    for (index, unavailable) in trace.unavailable.iter().enumerate() {
        let part = shorten(&unavailable.part, words::NAME_LENGTH);
        let text = format!("{part}: {}", shorten(&unavailable.why, note_length));
        page.labelled(if index == 0 { "Unavailable" } else { "" }, &text);
    }
    for note in &trace.notes {
        page.labelled("Note", &shorten(note, note_length));
    }
    for missing in &trace.incomplete {
        page.labelled_in(Tone::Warning, "INCOMPLETE", &shorten(missing, note_length));
    }
    if !trace.complete && trace.incomplete.is_empty() {
        page.labelled_in(
            Tone::Warning,
            "INCOMPLETE",
            "not everything was seen; what is missing is not known",
        );
    }
}

fn whole_process(counts: &Reconciliation, unit: Unit) -> String {
    let unseen = match counts.left_over {
        Some(n) if n > 0 => {
            ", which the kernel counted and pauselens did not see (MADV_POPULATE_WRITE and its like take no fault)"
        }
        _ => "",
    };
    let many = unit.many();
    format!("{} in the whole process, in {many} or not; {}{unseen}", counted(counts), against_kernel(counts))
}

fn counted(counts: &Reconciliation) -> String {
    match (counts.minor, counts.major) {
        (None, None) => "an unknown number of faults".to_owned(),
        (minor, major) => {
            let number = |n: Option<u64>| n.map_or_else(|| "an unknown number of".to_owned(), units::count);
            format!("{} minor and {} major faults", number(minor), number(major))
        }
    }
}

fn against_kernel(counts: &Reconciliation) -> String {
    let Some(left_over) = counts.left_over else {
        return match (counts.kernel_minor_least, counts.kernel_major_least) {
            (Some(minor), Some(major)) => format!(
                "the kernel's own counters when they were last read, before the target ended: {} minor, {} major",
                units::count(minor),
                units::count(major)
            ),
            _ => "the kernel's own counters could not be read".to_owned(),
        };
    };
    let kernel = format!(
        "the kernel's own counters: {} minor, {} major",
        range(counts.kernel_minor_least, counts.kernel_minor_most),
        range(counts.kernel_major_least, counts.kernel_major_most),
    );
    let left = match left_over {
        0 => "nothing is left over".to_owned(),
        n if n > 0 => format!("{} left over", units::count(n.unsigned_abs())),
        n => format!("pauselens counted {} more than the kernel", units::count(n.unsigned_abs())),
    };
    format!("{kernel}; {left}")
}

fn range(least: Option<u64>, most: Option<u64>) -> String {
    match (least, most) {
        (None, None) => "unknown".to_owned(),
        (Some(least), Some(most)) if least == most => units::count(least),
        (least, most) => {
            let end = |n: Option<u64>| n.map_or_else(|| "unknown".to_owned(), units::count);
            format!("{} to {}", end(least), end(most))
        }
    }
}

fn threads(page: &mut Page, threads: &[ThreadReconciliation], unit: Unit) {
    if threads.is_empty() {
        return;
    }
    let differ: Vec<_> =
        threads.iter().filter(|thread| !matches!(thread.counts.left_over, Some(0) | None)).collect();
    let unknown = threads.iter().filter(|thread| thread.counts.left_over.is_none()).count();
    let agree = threads.len() - differ.len() - unknown;
    let mut parts = Vec::new();
    if agree > 0 {
        parts.push(format!("{} with nothing left over", units::count(agree as u64)));
    }
    if !differ.is_empty() {
        parts.push(format!("{} with something left over", units::count(differ.len() as u64)));
    }
    if unknown > 0 {
        parts.push(format!("{} whose counters could not be read", units::count(unknown as u64)));
    }
    let ran = match unit {
        Unit::Pause => "ran",
        Unit::Call => "made",
        Unit::Window => "were in",
    };
    page.labelled("Threads", &format!("of those that {ran} {} or differ: {}", unit.many(), parts.join(", ")));
    let most = page.at_most(MOST_THREADS);
    for thread in differ.iter().take(most) {
        let name =
            thread.name.as_deref().map_or_else(String::new, |name| format!(" ({})", shorten(name, 30)));
        let text = format!(
            "thread {}{name}, {ran} {}: {}; {}",
            thread.tid,
            unit.counted(thread.drove),
            counted(&thread.counts),
            against_kernel(&thread.counts),
        );
        page.labelled("", &text);
    }
    if differ.len() > most {
        page.labelled("", &format!("… {} more", differ.len() - most));
    }
}

fn stamp_check(stamps: &StampCheck) -> String {
    if stamps.pauses == 0 {
        return "no pause carried the runtime's own times to compare with".to_owned();
    }
    let apart = |name: &str, worst: Option<u64>, median: Option<u64>| match worst {
        None => format!("{name} not compared"),
        Some(worst) => format!(
            "{name} at most {} apart (median {})",
            units::duration(worst),
            units::duration_or_unknown(median)
        ),
    };
    format!(
        "the runtime's own times of {}: {}, {}",
        units::counted(stamps.pauses, "pause", "pauses"),
        apart("requested", stamps.requested_worst_ns, stamps.requested_median_ns),
        apart("stopped", stamps.stopped_worst_ns, stamps.stopped_median_ns),
    )
}

fn details(trace: &Trace, unit: Unit) -> String {
    let part = trace.fault_details;
    if part.of == 0 {
        return format!("there were no faults inside {}", unit.many());
    }
    let faults = units::counted(part.of, "fault", "faults");
    format!("{} of {faults} inside {}", units::count(part.have), unit.many())
}

fn dropped(page: &Page, trace: &Trace, records_lost: u64) -> String {
    let causes: Vec<String> = trace
        .dropped
        .iter()
        .filter(|&(_, &n)| n > 0)
        .map(|(cause, &n)| format!("{} {}", units::count(n), shorten(cause, words::NAME_LENGTH)))
        .collect();
    if !causes.is_empty() {
        words::list(&causes, page.at_most(MOST_CAUSES))
    } else if records_lost > 0 || trace.fault_details.have < trace.fault_details.of {
        "unknown: something is missing that no cause was counted for".to_owned()
    } else {
        "nothing was dropped".to_owned()
    }
}

fn overhead(overhead: &Overhead, duration_ns: u64) -> String {
    let programs = match (overhead.programs_ns, overhead.program_runs) {
        (None, _) => "kernel programs not measured".to_owned(),
        (Some(ns), runs) => {
            let runs = runs.map_or_else(|| "unknown".to_owned(), units::count);
            let share = units::share(ns, duration_ns);
            format!("kernel programs {} in {runs} runs ({share} of one CPU)", units::duration(ns))
        }
    };
    let cpu = overhead.tracer_cpu_ns.map_or_else(|| "not measured".to_owned(), units::duration);
    let peak = overhead.tracer_peak_bytes.map_or_else(|| "not measured".to_owned(), units::bytes);
    let attach = overhead.attach_ns.map_or_else(|| "an unknown time".to_owned(), units::duration);
    format!("{programs}; own CPU time {cpu}, own peak memory {peak}; probes in place after {attach}")
}
