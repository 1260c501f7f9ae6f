//! Where the report goes.

use std::{
    fs::{File, OpenOptions},
    io::{self, IsTerminal as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use super::{
    args::Global,
    progress::{self, Shown},
    recorded::Recorded,
    rendering::{is_same, refuse_terminal, style},
    report_args::{FormatArgs, ReportFormat},
};
use crate::{
    recording::Recording,
    report::{
        json,
        model::Report,
        pictures::{self, Listed, Wish},
        processes::ProcessesReport,
        text::{self, Style},
    },
    tell,
};

/// The place for the report, opened before the trace begins: a trace whose result can't be kept is not begun.
#[derive(Debug)]
pub(super) struct Output {
    format: FormatArgs,
    global: Global,
    file: Option<Kept>,
    brief: bool,
    /// Until the report is written.
    shown: Option<Shown>,
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
    pub(super) fn open(format: FormatArgs, path: Option<&Path>, global: Global) -> anyhow::Result<Self> {
        refuse_terminal(format.format.into(), path.is_none() && io::stdout().is_terminal())?;
        let file = path.map(Kept::open).transpose()?;
        Ok(Self { format, global, file, brief: false, shown: None })
    }

    /// The report and the recording can't be one file: the one would be written over the other.
    ///
    /// # Errors
    /// When they are.
    pub(super) fn apart_from(self, record: Option<&Path>) -> anyhow::Result<Self> {
        if let (Some(kept), Some(record)) = (&self.file, record)
            && is_same(&kept.path, record)
        {
            bail!(
                "--output and --record are the same file, {}; nothing was traced. Name another one for either",
                record.display()
            );
        }
        Ok(self)
    }

    /// A few lines on standard output: the whole is recorded.
    pub(super) fn brief(global: Global) -> Self {
        Self { format: FormatArgs::default(), global, file: None, brief: true, shown: None }
    }

    /// Says on a terminal what is done from now on, should it take long, until the report is written.
    pub(super) fn doing(&mut self, what: &'static str) {
        match &self.shown {
            Some(shown) => shown.now(what),
            None => self.shown = Some(progress::doing(what)),
        }
    }

    /// Something else is shown now.
    pub(super) fn done(&mut self) {
        self.shown = None;
    }

    /// Whether what is written here is drawn from a recording.
    pub(super) fn needs_recording(&self) -> bool {
        !matches!(self.format(), ReportFormat::Text | ReportFormat::Json)
    }

    /// Whether the report goes to standard output.
    pub(super) fn is_standard(&self) -> bool {
        self.file.is_none()
    }

    /// The report's format.
    pub(super) fn format(&self) -> ReportFormat {
        self.format.format
    }

    /// Writes the report, or the picture that is drawn from the recording. When the file can't be written it goes to
    /// standard output, so that nothing is lost.
    pub(super) fn write(&mut self, report: &Report, recorded: &Recorded) -> anyhow::Result<()> {
        if self.brief {
            return self.put(text::brief(report, &self.style()).as_bytes());
        }
        let text = match self.format() {
            ReportFormat::Text => text::render(report, &self.style()),
            ReportFormat::Json => json::render(report).context("the report can't be written as JSON")?,
            _ => return self.draw(recorded),
        };
        self.put(text.as_bytes())
    }

    /// Writes the report of several processes.
    pub(super) fn write_processes(
        &mut self,
        report: &ProcessesReport,
        recorded: &Recorded,
    ) -> anyhow::Result<()> {
        if self.brief {
            let style = self.style();
            let each = report.processes.iter().map(|report| text::brief(report, &style));
            return self.put(each.collect::<String>().as_bytes());
        }
        let text = match self.format() {
            ReportFormat::Text => text::render_processes(report, &self.style()),
            ReportFormat::Json => {
                json::render_processes(report).context("the report can't be written as JSON")?
            }
            _ => return self.draw(recorded),
        };
        self.put(text.as_bytes())
    }

    fn draw(&mut self, recorded: &Recorded) -> anyhow::Result<()> {
        self.doing("drawing");
        let path = recorded.path().context("nothing was recorded to draw from")?;
        let recording = Recording::open(path)?;
        let FormatArgs { format, by } = self.format;
        let wish =
            Wish { picture: format.into(), style: self.style(), listed: Listed::AsRecorded, by: by.into() };
        let mut drawn = Vec::new();
        pictures::write(&recording, &wish, &mut drawn)?;
        self.put(&drawn)
    }

    /// How text is rendered for this place.
    pub(super) fn style(&self) -> Style {
        style(self.global, self.is_standard())
    }

    /// Writes a rendered report.
    pub(super) fn put(&mut self, text: &[u8]) -> anyhow::Result<()> {
        self.done();
        let Some(kept) = &mut self.file else { return print(text) };
        if let Err(error) = kept.write(text) {
            print(text)?;
            let path = kept.path.display();
            return Err(anyhow::Error::new(error).context(format!(
                "the report could not be written to {path}, so it was printed instead; free some space, or name \
                 another file with --output"
            )));
        }
        tell!("the report is in {}", kept.path.display());
        Ok(())
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

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.set_len(0).or_else(|error| {
            // A pipe or a terminal has no length.
            if error.raw_os_error() == Some(libc::EINVAL) { Ok(()) } else { Err(error) }
        })?;
        let _ = self.file.rewind();
        self.file.write_all(text)?;
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

/// Writes to standard output. That nobody reads it any more is no error.
pub(super) fn print(text: &[u8]) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text) {
        // Whoever read us has had enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("standard output can't be written; use --output FILE"),
    }
}
