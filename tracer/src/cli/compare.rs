//! `pauselens compare`: two sides, each of one or many recordings.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use super::{
    args::Global,
    compare_args::{CompareArgs, CompareFormat},
    exit::Exit,
    progress,
    rendering::style,
};
use crate::{
    compare::{Compared, Input, compare as compare_sides, side_by_side},
    message::message,
    recording::Recording,
    report::{
        compare::{flame, render_html, render_json},
        text::render_comparison,
    },
    tell,
};

/// Reads, compares, writes.
pub(super) fn compare(arguments: &CompareArgs, global: Global) -> anyhow::Result<Exit> {
    let output = arguments.output.as_deref();
    let inputs = || arguments.a.iter().chain(&arguments.b);
    if let Some(input) = inputs().find(|input| output.is_some_and(|output| is_same(output, input))) {
        bail!("{} is one of the recordings; name another file with --output", input.display());
    }
    let reading = progress::reading();
    let mut unreadable = Vec::new();
    let a = side("A", &arguments.a, &mut unreadable)?;
    let b = side("B", &arguments.b, &mut unreadable)?;
    reading.now("comparing");
    let mut compared = compare_sides(&a, &b, &arguments.options())?;
    for left_out in &unreadable {
        compared.comparison.notes.push(format!("Left out: {left_out}."));
    }
    let rendered = render(&compared, arguments, global)?;
    drop(reading);
    put(&rendered, output)?;
    let whole = unreadable.is_empty() && !compared.is_partial();
    Ok(if whole { Exit::Done } else { Exit::Incomplete })
}

/// The recordings of a side that can be used; what can't is said, and left out.
fn side(name: &str, files: &[PathBuf], unreadable: &mut Vec<String>) -> anyhow::Result<Vec<Input>> {
    let mut inputs = Vec::with_capacity(files.len());
    for opened in side_by_side(files, |_, file| Recording::open(file)) {
        match opened {
            Ok(recording) => inputs.push(Input { recording }),
            Err(error) => {
                let told = message(&error);
                tell!("{told}");
                unreadable.push(told);
            }
        }
    }
    if inputs.is_empty() {
        bail!(
            "side {name} has no recording that can be used; `pauselens record --pid PID -o FILE` makes one, and \
             `pauselens report FILE` says what is wrong with one"
        );
    }
    Ok(inputs)
}

fn render(compared: &Compared, arguments: &CompareArgs, global: Global) -> anyhow::Result<String> {
    let comparison = &compared.comparison;
    Ok(match arguments.format {
        CompareFormat::Text => render_comparison(comparison, &style(global, arguments.output.is_none())),
        CompareFormat::Json => render_json(comparison).context("the comparison can't be written as JSON")?,
        CompareFormat::Html => render_html(comparison),
        CompareFormat::Flamegraph => flame(compared, arguments.by.into(), arguments.per.into())?,
    })
}

fn put(text: &str, output: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = output else {
        return match io::stdout().lock().write_all(text.as_bytes()) {
            // Whoever read us has had enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.context("standard output can't be written; use --output FILE"),
        };
    };
    fs::write(path, text)
        .with_context(|| format!("{} can't be written; name another file with --output", path.display()))?;
    tell!("the comparison is in {}", path.display());
    Ok(())
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
