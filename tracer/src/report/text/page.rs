//! The page: lines that fit, clean of control bytes, coloured if wanted. Every part writes through it.

use anstyle::{AnsiColor, Style as Ansi};

use super::clean::{clean, shorten};
use super::entries::Entry;
use super::style::Style;
use super::wrap::{wrap_pieces, wrap_text};

/// Where the text behind a label begins.
const LABEL_WIDTH: usize = 13;

/// How a line is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    Plain,
    /// The title of a part.
    Heading,
    /// What the reader came for.
    Strong,
    /// Footnotes and column heads.
    Faint,
    /// What must not be overlooked.
    Warning,
}

impl Tone {
    fn ansi(self) -> Ansi {
        match self {
            Self::Plain => Ansi::new(),
            Self::Heading => AnsiColor::Cyan.on_default().bold(),
            Self::Strong => Ansi::new().bold(),
            Self::Faint => Ansi::new().dimmed(),
            Self::Warning => AnsiColor::Red.on_default().bold(),
        }
    }
}

/// Text under construction.
#[derive(Debug)]
pub(super) struct Page {
    out: String,
    entries: Vec<Entry>,
    width: usize,
    colour: bool,
    verbose: bool,
}

impl Page {
    pub(super) fn new(style: &Style) -> Self {
        Self {
            out: String::new(),
            entries: Vec::new(),
            width: style.columns(),
            colour: style.colour,
            verbose: style.verbose,
        }
    }

    /// The number of columns that every line fits.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// `most`, or no limit when everything is wanted.
    pub(super) fn at_most(&self, most: usize) -> usize {
        if self.verbose { usize::MAX } else { most }
    }

    /// Whether everything is wanted.
    pub(super) fn verbose(&self) -> bool {
        self.verbose
    }

    /// An empty line, unless one is there already.
    pub(super) fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// A new part's title, set off by an empty line.
    pub(super) fn heading(&mut self, text: &str) {
        self.gap();
        self.line(Tone::Heading, 0, 2, text);
    }

    /// Text that begins at `indent` and goes on at `hang`.
    pub(super) fn line(&mut self, tone: Tone, indent: usize, hang: usize, text: &str) {
        let text = clean(text);
        self.entries.push(Entry::Line { tone, indent, text: text.clone().into_owned() });
        let lines = wrap_text(&text, self.width - indent, self.width - hang);
        self.put(tone, indent, hang, &lines);
    }

    /// A line of a table, which is laid out already: its blanks stay. Only what does not fit is cut.
    pub(super) fn row(&mut self, tone: Tone, indent: usize, line: &str) {
        let line = shorten(line, self.width - indent);
        self.entries.push(Entry::Row { tone, text: line.clone() });
        self.put(tone, indent, indent, &[line]);
    }

    /// Like [`Page::line`], for pieces that should not be broken.
    pub(super) fn pieces(&mut self, indent: usize, hang: usize, pieces: &[String]) {
        let pieces: Vec<String> = pieces.iter().map(|piece| clean(piece).into_owned()).collect();
        self.entries.push(Entry::Line { tone: Tone::Plain, indent, text: pieces.join(" ") });
        let lines = wrap_pieces(&pieces, self.width - indent, self.width - hang);
        self.put(Tone::Plain, indent, hang, &lines);
    }

    /// A label and what it says, which goes on under itself.
    pub(super) fn labelled(&mut self, label: &str, text: &str) {
        self.labelled_in(Tone::Strong, label, text);
    }

    /// Like [`Page::labelled`], with the label in another tone.
    pub(super) fn labelled_in(&mut self, tone: Tone, label: &str, text: &str) {
        let room = self.width - LABEL_WIDTH;
        let text = clean(text);
        self.entries.push(Entry::Labelled { tone, label: label.to_owned(), text: text.clone().into_owned() });
        let lines = wrap_text(&text, room, room);
        for (index, line) in lines.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            self.span(tone, label);
            if !line.is_empty() {
                let label_width = label.chars().count();
                self.out.extend(std::iter::repeat_n(' ', LABEL_WIDTH.saturating_sub(label_width)));
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
    }

    /// What was written, before it was laid out.
    pub(super) fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// The finished text.
    pub(super) fn into_string(self) -> String {
        self.out
    }

    fn put(&mut self, tone: Tone, indent: usize, hang: usize, lines: &[String]) {
        for (index, line) in lines.iter().enumerate() {
            let indent = if index == 0 { indent } else { hang };
            if !line.is_empty() {
                self.out.extend(std::iter::repeat_n(' ', indent));
                self.span(tone, line);
            }
            self.out.push('\n');
        }
    }

    fn span(&mut self, tone: Tone, text: &str) {
        let ansi = tone.ansi();
        if self.colour && !text.is_empty() && tone != Tone::Plain {
            self.out.push_str(&format!("{}{text}{}", ansi.render(), ansi.render_reset()));
        } else {
            self.out.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(colour: bool) -> Page {
        Page::new(&Style { colour, width: 60, verbose: false })
    }

    #[test]
    fn hangs_what_does_not_fit() {
        let mut page = page(false);
        page.heading("Title");
        page.line(Tone::Plain, 2, 4, &"word ".repeat(14));
        page.labelled("Label", &"word ".repeat(11));
        let expected = "Title
  word word word word word word word word word word word
    word word word
Label        word word word word word word word word word
             word word
";
        assert_eq!(page.into_string(), expected);
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        let mut plain = page(false);
        let mut coloured = page(true);
        for page in [&mut plain, &mut coloured] {
            page.heading("Title");
            page.labelled_in(Tone::Warning, "INCOMPLETE", "a\x1b[2Jb");
        }
        let coloured = coloured.into_string();
        assert!(coloured.contains("\x1b[1m\x1b[36mTitle\x1b[0m"), "{coloured:?}");
        assert!(coloured.contains("a\\x1b[2Jb"));
        let plain = plain.into_string();
        assert!(!plain.contains('\x1b'));
        assert_eq!(plain, "Title\nINCOMPLETE   a\\x1b[2Jb\n");
    }
}
