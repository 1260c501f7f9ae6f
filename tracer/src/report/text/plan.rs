//! What was probed and how: only when everything is wanted.

use crate::report::model::Report;

use super::clean::shorten;
use super::page::{Page, Tone};
use super::words;

pub(super) fn write(page: &mut Page, report: &Report) {
    if !page.verbose() || report.trace.plan.is_empty() {
        return;
    }
    page.heading("Probes");
    for step in &report.trace.plan {
        let text = format!(
            "{} {}: {} ({})",
            if step.used { "+" } else { "-" },
            shorten(&step.need, words::NAME_LENGTH),
            shorten(&step.source, words::NAME_LENGTH),
            shorten(&step.why, 300),
        );
        page.line(Tone::Plain, 2, 4, &text);
    }
}
