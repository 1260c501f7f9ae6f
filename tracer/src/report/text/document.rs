//! The order of the page: what the reader asks first comes first.

use crate::report::model::Report;

use super::clean::shorten;
use super::page::{Page, Tone};
use super::style::Style;
use super::{breakdown, exposures, findings, headline, nothing, partial, plan, reconcile, worst};

/// What is missing is cut beyond this: only a monstrous name in it gets that long.
const MISSING_LENGTH: usize = 300;

/// The report as text. Every line fits the style's width, whatever the names and numbers are; without colour
/// the text holds no control byte but line ends.
#[must_use]
pub fn render(report: &Report, style: &Style) -> String {
    let mut page = Page::new(style);
    headline::write(&mut page, report);
    nothing::write(&mut page, report);
    partial::write(&mut page, report);
    worst::write(&mut page, report);
    breakdown::write(&mut page, report);
    findings::write(&mut page, report);
    exposures::write(&mut page, report);
    plan::write(&mut page, report);
    reconcile::write(&mut page, report);
    page.into_string()
}

/// The headline alone, and what is missing: for a trace that was recorded.
#[must_use]
pub fn brief(report: &Report, style: &Style) -> String {
    let mut page = Page::new(style);
    headline::write(&mut page, report);
    nothing::write(&mut page, report);
    partial::write(&mut page, report);
    for missing in &report.trace.incomplete {
        page.line(Tone::Warning, 2, 4, &shorten(missing, MISSING_LENGTH));
    }
    page.into_string()
}
