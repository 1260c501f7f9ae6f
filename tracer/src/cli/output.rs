//! Where the report goes.

use std::{
    fs::{File, OpenOptions},
    io::{self, IsTerminal as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use super::args::{Colour, Format, Global};
use crate::report::{
    json,
    model::Report,
    text::{self, Style},
};

/// The place for the report, opened before the trace begins: a trace whose result can't be kept is not begun.
#[derive(Debug)]
pub(super) struct Output {
    format: Format,
    global: Global,
    file: Option<Kept>,
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    file: File,
    /// It was not there before.
    created: bool,
    written: bool,
}

impl Output {
    /// Opens the file, if one was asked for. What is in it stays until the report is written.
    pub(super) fn open(format: Format, path: Option<&Path>, global: Global) -> anyhow::Result<Self> {
        let file = path.map(Kept::open).transpose()?;
        Ok(Self { format, global, file })
    }

    /// Whether the report goes to standard output.
    pub(super) fn is_standard(&self) -> bool {
        self.file.is_none()
    }

    /// The report's format.
    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// Writes the report. When the file can't be written it goes to standard output, so that nothing is lost.
    pub(super) fn write(&mut self, report: &Report) -> anyhow::Result<()> {
        let text = match self.format {
            Format::Json => json::render(report).context("the report can't be written as JSON")?,
            Format::Text => text::render(report, &self.style()),
        };
        self.put(&text)
    }

    /// How text is rendered for this place.
    pub(super) fn style(&self) -> Style {
        let to_terminal = self.is_standard() && io::stdout().is_terminal();
        Style { colour: self.colour(to_terminal), width: 100, verbose: self.global.verbose > 0 }
    }

    /// Writes a rendered report.
    pub(super) fn put(&mut self, text: &str) -> anyhow::Result<()> {
        let Some(kept) = &mut self.file else { return print(text) };
        if let Err(error) = kept.write(text) {
            print(text)?;
            let path = kept.path.display();
            return Err(anyhow::Error::new(error).context(format!(
                "the report could not be written to {path}, so it was printed instead; free some space, or name \
                 another file with --output"
            )));
        }
        eprintln!("pauselens: the report is in {}", kept.path.display());
        Ok(())
    }

    fn colour(&self, to_terminal: bool) -> bool {
        match self.global.color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => to_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }
}

impl Kept {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let created = !path.exists();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).with_context(|| {
            format!(
                "{} can't be written; nothing was traced. Name a file in a directory that exists and can be written \
                 to, with --output",
                path.display()
            )
        })?;
        Ok(Self { path: path.to_owned(), file, created, written: false })
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.set_len(0).or_else(|error| {
            // A pipe or a terminal has no length.
            if error.raw_os_error() == Some(libc::EINVAL) { Ok(()) } else { Err(error) }
        })?;
        let _ = self.file.rewind();
        self.file.write_all(text.as_bytes())?;
        self.file.flush()?;
        self.written = true;
        Ok(())
    }
}

impl Drop for Kept {
    /// An empty file that a failed trace would leave behind is taken away again.
    fn drop(&mut self) {
        if self.created && !self.written {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        // Whoever read us has had enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("standard output can't be written; use --output FILE"),
    }
}
