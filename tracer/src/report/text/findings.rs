//! The diagnosis as text: the finding, what it rests on, what usually helps.

use crate::report::model::Report;

use super::clean::shorten;
use super::page::{Page, Tone};

/// A sentence is cut beyond this unless everything is wanted: only a monstrous name in it gets that long.
const SENTENCE_LENGTH: usize = 600;

pub(super) fn write(page: &mut Page, report: &Report) {
    if report.diagnosis.is_empty() {
        return;
    }
    let length = page.at_most(SENTENCE_LENGTH);
    page.heading("Diagnosis");
    for (index, diagnosis) in report.diagnosis.iter().enumerate() {
        if index > 0 {
            page.gap();
        }
        page.line(Tone::Strong, 2, 2, &shorten(&diagnosis.finding, length));
        for evidence in &diagnosis.evidence {
            page.line(Tone::Plain, 4, 6, &format!("- {}", shorten(evidence, length)));
        }
        if !diagnosis.remedies.is_empty() {
            page.line(Tone::Plain, 4, 4, "What usually helps:");
        }
        for remedy in &diagnosis.remedies {
            page.line(Tone::Plain, 4, 6, &format!("- {remedy}"));
        }
    }
}
