//! Two lines of a trace's report: what was out before and after it, and what the next pause would take.

use crate::exposure::Exposure;
use crate::report::exposure::Exposed;
use crate::report::model::Report;
use crate::report::units;

use super::page::Page;
use super::words;

pub(super) fn write(page: &mut Page, report: &Report) {
    let looks = [("at start", &report.exposure.at_start), ("at end", &report.exposure.at_end)];
    if looks.iter().all(|(_, exposed)| exposed.is_none()) {
        return;
    }
    page.heading("Exposure: memory that is swapped out, and what the next pause would take");
    for (when, exposed) in looks {
        let text = match exposed {
            Some(exposed) => line(exposed),
            None => {
                let part = format!("exposure {when}");
                let why = report.trace.unavailable.iter().find(|unavailable| unavailable.part == part);
                why.map_or("unavailable".to_owned(), |why| format!("unavailable: {}", why.why))
            }
        };
        page.labelled(when, &text);
    }
}

fn line(exposed: &Exposed) -> String {
    format!("{}; next pause {}", swapped(&exposed.found), next_pause(exposed))
}

/// `1.2 MiB swapped out: runtime_heap 1.0 MiB, ~runtime_metadata 200 KiB`, or `nothing swapped out`.
#[must_use]
pub fn swapped(found: &Exposure) -> String {
    let mut regions: Vec<_> = found
        .regions
        .iter()
        .filter_map(|region| Some((region, region.bytes.swapped_bytes.filter(|bytes| *bytes > 0)?)))
        .collect();
    regions.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let all: u64 = regions.iter().map(|(_, bytes)| bytes).sum();
    if all == 0 {
        return "nothing swapped out".to_owned();
    }
    let words: Vec<String> = regions
        .into_iter()
        .map(|(region, bytes)| {
            let mark = if region.inferred { words::INFERRED } else { "" };
            format!("{mark}{} {}", region.region.word(), units::bytes(bytes))
        })
        .collect();
    format!("{} swapped out: {}", units::bytes(all), words.join(", "))
}

/// `1.61 ms to 28.5 ms`, `at most 300 µs`, `unknown`.
pub(super) fn next_pause(exposed: &Exposed) -> String {
    match &exposed.next_pause {
        None => "unknown".to_owned(),
        Some(estimate) if estimate.least_ns == 0 => {
            format!("at most {}", units::duration(estimate.most_ns))
        }
        Some(estimate) => {
            format!("{} to {}", units::duration(estimate.least_ns), units::duration(estimate.most_ns))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::report::exposure::{Usual, exposed, fixtures::swapped_out};
    use crate::report::fixtures;
    use crate::report::model::{Exposures, Unavailable};
    use crate::report::text::{Style, render};
    use crate::runtime::RuntimeKind;

    #[test]
    fn two_lines_or_none() {
        let mut report = fixtures::empty();
        assert!(!render(&report, &Style::default()).contains("Exposure"));
        let (start, _) = exposed(swapped_out(), Ok(RuntimeKind::Go), Usual::default());
        report.exposure = Exposures { at_start: Some(start), at_end: None };
        let why = "process 4242 ended while its memory was looked at".to_owned();
        report.trace.unavailable.push(Unavailable { part: "exposure at end".to_owned(), why });
        let text = render(&report, &Style::default());
        let expected = "\
Exposure: memory that is swapped out, and what the next pause would take
at start     102 MiB swapped out: ~runtime_heap 100 MiB, ~runtime_metadata 1.95 MiB, thread_stack
             16.0 KiB; next pause 2.17 ms to 38.3 ms
at end       unavailable: process 4242 ended while its memory was looked at
";
        assert!(text.contains(expected), "{text}");
    }
}
