//! Parts of the text report before they are laid out as text: other forms say the same in the same words.

use super::{
    exposures, headline, nothing,
    page::{Page, Tone},
    partial, plan, reconcile,
    style::Style,
    worst,
};
use crate::report::model::{Pause, Report};

/// One piece of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A paragraph.
    Line {
        /// How it is meant.
        tone: Tone,
        /// How deep it stands, in columns.
        indent: usize,
        /// What it says.
        text: String,
    },
    /// A label and what it says; an empty label goes on with the one before.
    Labelled {
        /// How the label is meant.
        tone: Tone,
        /// The label.
        label: String,
        /// What it says.
        text: String,
    },
    /// A row of a table, laid out for a font of constant width.
    Row {
        /// How it is meant.
        tone: Tone,
        /// The row.
        text: String,
    },
}

/// What was traced, how many windows there were, and why the worst one was long; or that there was none.
pub(crate) fn headline(report: &Report) -> Vec<Entry> {
    part(false, |page| {
        headline::write(page, report);
        nothing::write(page, report);
    })
}

/// What was not seen whole.
pub(crate) fn partial(report: &Report) -> Vec<Entry> {
    part(false, |page| partial::write(page, report))
}

/// How it was traced, what is missing, and what it cost.
pub(crate) fn about(report: &Report) -> Vec<Entry> {
    part(true, |page| {
        exposures::write(page, report);
        plan::write(page, report);
        reconcile::write(page, report);
    })
}

/// What most of a pause's time went to, in a word.
pub(crate) fn mostly(pause: &Pause) -> String {
    worst::mostly(pause)
}

fn part(verbose: bool, write: impl FnOnce(&mut Page)) -> Vec<Entry> {
    let mut page = Page::new(&Style { colour: false, width: 100, verbose });
    write(&mut page);
    page.into_entries()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn the_headline_is_the_text_reports() {
        let report = fixtures::story();
        let text = super::super::render(&report, &Style { colour: false, width: 1_000, verbose: false });
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = squeeze(&text);
        let entries = headline(&report);
        assert!(entries.len() > 5);
        for entry in entries {
            let (Entry::Line { text: said, .. }
            | Entry::Labelled { text: said, .. }
            | Entry::Row { text: said, .. }) = entry;
            // Long ones are cut for the narrower page.
            let said = squeeze(said.split('…').next().unwrap_or_default());
            assert!(text.contains(&said), "{said}");
        }
    }
}
