//! All pauses together: what their time was spent on, what kept the world from stopping, what was read.

use crate::report::model::{Budget, Report};
use crate::report::units;

use super::budget;
use super::page::Page;
use super::{touched, waits};

/// How many devices are listed unless everything is wanted.
const MOST_DEVICES: usize = 3;

/// Stopping is worth a line from one in so many of all paused time on.
const NOTABLE_STOPPING: u64 = 20;

pub(super) fn write(page: &mut Page, report: &Report) {
    let (summary, unit) = (&report.summary, report.windows.unit);
    if let Some(budget) = summary.budget.as_ref().filter(|budget| budget.sum_ns() > 0) {
        page.labelled("Spent", &parts(budget, report));
    }
    if let Some(stopping) = summary.stopping.as_ref().filter(|stopping| stopping.ns > 0)
        && (page.verbose() || stopping.ns >= summary.paused_ns / NOTABLE_STOPPING)
    {
        let of = if stopping.pauses == summary.pauses {
            String::new()
        } else {
            format!(" (in {})", unit.counted(stopping.pauses))
        };
        let text = format!("the threads that stopped last spent it{of} {}", stopping.budget.in_words());
        page.labelled("Stopping", &text);
    }
    let most = page.at_most(MOST_DEVICES);
    for (index, reads) in summary.reads.iter().take(most).enumerate() {
        page.labelled(if index == 0 { "Devices" } else { "" }, &touched::device_in_words(reads));
    }
    if let Some(throttling) = &summary.throttling {
        page.labelled("Throttled", &waits::throttling_in_words(throttling));
    }
}

/// `in faults 39.1 ms (38.4 %: 33.2 ms blocked on I/O, …), on CPU 49.9 ms (49.0 %), …`: longest first.
fn parts(all: &Budget, report: &Report) -> String {
    let paused_ns = report.summary.paused_ns;
    let in_faults = budget::longest_first(all, |part| part.is_in_faults());
    let in_faults_ns = in_faults.iter().fold(0_u64, |sum, part| sum.saturating_add(part.ns));
    let mut parts: Vec<(u64, String)> = budget::longest_first(all, |part| !part.is_in_faults())
        .into_iter()
        .map(|part| {
            let share = units::share(part.ns, paused_ns);
            (part.ns, format!("{} {} ({share})", units::duration(part.ns), part.words))
        })
        .collect();
    if in_faults_ns > 0 {
        let split = in_faults.iter().map(|part| {
            let name = part.short_words();
            format!("{} {name}", units::duration(part.ns))
        });
        let split: Vec<String> = split.collect();
        let share = units::share(in_faults_ns, paused_ns);
        let text = format!("{} in faults ({share}: {})", units::duration(in_faults_ns), split.join(", "));
        parts.push((in_faults_ns, text));
    }
    if let Some(short) = report.windows.short.filter(|short| short.ns > 0) {
        let share = units::share(short.ns, paused_ns);
        let many = report.windows.unit.many();
        parts.push((
            short.ns,
            format!("{} in short {many}, not taken apart ({share})", units::duration(short.ns)),
        ));
    }
    parts.sort_by_key(|&(ns, _)| std::cmp::Reverse(ns));
    let words: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    words.join(", ")
}
