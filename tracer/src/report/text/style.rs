//! What a terminal can show, and how much of it the reader wants.

/// No line is longer, however wide the terminal is: longer lines are hard to read.
pub(super) const MOST_COLUMNS: usize = 100;

/// Narrower than this, tables and numbers can't be laid out; a narrower terminal wraps them itself.
pub(super) const LEAST_COLUMNS: usize = 60;

/// How to render the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to use colour and bold type.
    pub colour: bool,
    /// The terminal's width; taken as 60 when less and as 100 when more.
    pub width: usize,
    /// Whether to show everything that the report holds: every pause, code path, frame and plan step.
    pub verbose: bool,
}

impl Style {
    /// The number of columns that every line fits.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.width.clamp(LEAST_COLUMNS, MOST_COLUMNS)
    }
}

impl Default for Style {
    /// Plain, 100 columns, the short form.
    fn default() -> Self {
        Self { colour: false, width: MOST_COLUMNS, verbose: false }
    }
}
