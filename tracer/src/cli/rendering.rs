//! From a recording to a file or to standard output.

use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal as _, Write},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use anstream::{AutoStream, ColorChoice};
use anyhow::{Context as _, bail};
use rustix::termios::tcgetwinsize;

use super::{
    args::{Colour, Global},
    progress::{Shown, UntilWritten},
    report_args::FormatArgs,
};
use crate::{
    recording::Recording,
    report::{
        pictures::{self, Listed, Picture, Wish},
        text::Style,
    },
};

/// Writes the recording as a picture to `output`, or to standard output. `reading` is shown until then.
///
/// # Errors
/// When it can't be read any more, `output` can't be written to, or a terminal can't show the picture.
pub(super) fn render(
    recording: &Recording,
    format: FormatArgs,
    listed: Listed,
    output: Option<&Path>,
    global: Global,
    reading: Shown,
) -> anyhow::Result<()> {
    let picture = Picture::from(format.format);
    refuse_terminal(picture, output.is_none() && io::stdout().is_terminal())?;
    let wish = Wish { picture, style: style(global, output.is_none()), listed, by: format.by.into() };
    let Some(path) = output else {
        let mut out = BufWriter::new(UntilWritten::new(io::stdout().lock(), reading));
        let written = pictures::write(recording, &wish, &mut out).and_then(|()| Ok(out.flush()?));
        return match written {
            // Whoever read us has had enough.
            Err(error) if is_broken_pipe(&error) => Ok(()),
            other => other,
        };
    };
    if is_same(path, &recording.path) {
        bail!("{} is the recording itself; name another file with --output", path.display());
    }
    let file = File::create(path)
        .with_context(|| format!("{} can't be written; name another file with --output", path.display()))?;
    let mut out = BufWriter::new(file);
    pictures::write(recording, &wish, &mut out)
        .and_then(|()| Ok(out.flush()?))
        .with_context(|| format!("{} could not be written to its end", path.display()))
}

/// A terminal shows no bytes.
///
/// # Errors
/// When it would have to.
pub(super) fn refuse_terminal(picture: Picture, to_terminal: bool) -> anyhow::Result<()> {
    if to_terminal && picture.is_binary() {
        bail!("a terminal can't show this format, which is binary; name a file with --output FILE");
    }
    Ok(())
}

/// How text is rendered: for a file, or for standard output. There the library that colours help has the say on
/// terminals, `NO_COLOR` and the like.
pub(super) fn style(global: Global, is_standard: bool) -> Style {
    let colour = match global.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => is_standard && AutoStream::choice(&io::stdout()) != ColorChoice::Never,
    };
    let width = if is_standard { terminal_columns() } else { None };
    let verbose = global.verbose > 0;
    width.map_or(Style { colour, verbose, ..Style::default() }, |width| Style { colour, verbose, width })
}

/// The width of the terminal that standard output is, if it is one that knows.
fn terminal_columns() -> Option<usize> {
    tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Whether both are there, and one file.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}
