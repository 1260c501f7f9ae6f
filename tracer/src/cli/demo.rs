//! `pauselens demo`: the built-in target, traced like any other process, and its own account beside ours.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, bail};

use super::{
    args::{DemoArgs, Global},
    exit::Exit,
    output::Output,
    recognised::find,
    tracing::trace_shown,
};
use crate::{demo::compare, pause::Keep, probe::Sizes, session::Options};

/// Starts the target, traces it, reports, and compares.
pub(super) fn demo(arguments: &DemoArgs, global: Global, started: Instant) -> anyhow::Result<Exit> {
    let mut output = Output::open(arguments.format, arguments.output.as_deref(), global)?;
    let mut target = DemoTarget::start()?;
    let found = find(target.child.id())?;
    let options = Options {
        duration: None,
        keep: Keep::All,
        sizes: Sizes::default(),
        cross_check: false,
        without: Vec::new(),
        measure_programs: true,
    };
    let mut stdin = target.child.stdin.take().context("the demo target has no standard input")?;
    let stdout = target.stdout.take().context("the demo target has no standard output")?;
    // Read from a thread of its own, so that the target never waits for its reader.
    let account = std::thread::spawn(move || std::io::read_to_string(stdout));
    let mut outcome = trace_shown(&found, &options, started, "tracing its pauses".to_owned(), || {
        // When the target is gone the trace ends by itself.
        let _ = stdin.write_all(b"go\n");
    })?;
    if let Some(detaching) = outcome.detaching.take() {
        detaching.at_exit();
    }
    let account = account.join().ok().and_then(Result::ok).unwrap_or_default();
    let status = target.child.wait().context("the demo target can't be waited for")?;
    let report = found.report(outcome, None, Some(status.to_string()), Vec::new());
    output.write(&report)?;
    let comparison = compare::compare(&report, &account)?;
    eprint!("{}", comparison.text);
    if !status.success() {
        bail!("the demo target ended with {status}; run `pauselens demo-target` to see what it says");
    }
    Ok(if report.trace.complete && comparison.agrees { Exit::Done } else { Exit::Incomplete })
}

/// The child, ended with us whatever happens.
struct DemoTarget {
    child: Child,
    stdout: Option<BufReader<std::process::ChildStdout>>,
}

impl DemoTarget {
    fn start() -> anyhow::Result<Self> {
        let own = std::env::current_exe().context("the path of pauselens itself can't be told")?;
        let mut child = Command::new(own)
            .args(["demo-target", "--wait-for-line"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the demo target could not be started")?;
        let mut stdout =
            BufReader::new(child.stdout.take().context("the demo target has no standard output")?);
        let mut line = String::new();
        stdout.read_line(&mut line).context("the demo target said nothing")?;
        let mut target = Self { child, stdout: Some(stdout) };
        if !line.starts_with("ready") {
            let status = target.child.wait()?;
            bail!("the demo target could not prepare its memory ({status}); its own message is above");
        }
        Ok(target)
    }
}

impl Drop for DemoTarget {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
