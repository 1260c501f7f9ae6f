//! Progress of a long step: one line when it begins, its program's latest line every few seconds, one when it is
//! done. The program's whole output is shown only if it fails.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// Runs `command` as the step called `what`. `Err` if it can't be started or fails; its output was printed then.
pub(crate) fn step(what: &str, command: &mut Command) -> Result<()> {
    let begin = Instant::now();
    let mut last_line = begin;
    eprintln!("setup: {what}");

    let program = command.get_program().display().to_string();
    // rustup and cargo report on stderr; what they print on stdout is said here already.
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{program} could not be started"))?;
    let stderr = child.stderr.take().context("the program's stderr is not a pipe")?;

    let mut output = Vec::new();
    for line in BufReader::new(stderr).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).trim_end().to_owned();
        if last_line.elapsed() >= BETWEEN_LINES {
            last_line = Instant::now();
            eprintln!("setup:   {:4.0} s  {}", begin.elapsed().as_secs_f64(), line.trim_start());
        }
        output.push(line);
    }
    let status = child.wait()?;
    if !status.success() {
        for line in output {
            eprintln!("  {line}");
        }
        bail!("{program}: {status}");
    }
    eprintln!("setup:   done in {:.1} s", begin.elapsed().as_secs_f64());
    Ok(())
}
