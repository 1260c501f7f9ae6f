//! `pauselens demo`: the built-in target, traced like any other process, and its own account beside ours.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};

use super::{
    args::{DemoArgs, Global},
    attach::{NAMING, finish},
    exit::Exit,
    output::Output,
    recognised::{Besides, find, only, report},
    recorded::Recorded,
    tracing::{Shown, trace_shown},
};
use crate::{
    demo::compare,
    pause::Keep,
    probe::Sizes,
    recording::Recordable,
    report::model::Unit,
    runtime::Chosen,
    session::{Options, Scope, Unwind},
};

/// Starts the target, traces it, reports, and compares.
pub(super) fn demo(arguments: &DemoArgs, global: Global, started: Instant) -> anyhow::Result<Exit> {
    let mut output = Output::open(arguments.format.into(), arguments.output.as_deref(), global)?
        .apart_from(arguments.record.as_deref())?;
    output.doing("preparing the target");
    let mut target = DemoTarget::start()?;
    let found = find(target.child.id(), &Chosen::Recognised)?;
    let options = Options {
        duration: None,
        keep: Keep::All,
        sizes: Sizes::default(),
        cross_check: false,
        without: Vec::new(),
        max_rate: u64::MAX,
        sample: None,
        unwind: Unwind::default(),
        measure_programs: true,
    };
    let mut stdin = target.child.stdin.take().context("the demo target has no standard input")?;
    let stdout = target.stdout.take().context("the demo target has no standard output")?;
    // Read from a thread of its own, so that the target never waits for its reader.
    let account = std::thread::spawn(move || std::io::read_to_string(stdout));
    let shown = Shown { asked: found.describe(), until: "tracing its pauses".to_owned(), unit: Unit::Pause };
    let what = Recordable {
        asked: shown.asked.clone(),
        max_size_bytes: None,
        memory_interval: Duration::from_secs(1),
        worst: 5,
        listed: usize::MAX,
    };
    let mut recorded = Recorded::begin(arguments.record.as_deref(), output.needs_recording(), what)?;
    let recorder = recorded.recorder();
    output.done();
    let mut traced = trace_shown(Scope::of(found), &options, started, shown, recorder, || {
        // When the target is gone the trace ends by itself.
        let _ = stdin.write_all(b"go\n");
    })?;
    output.doing(NAMING);
    if let Some(detaching) = traced.detaching.take() {
        detaching.at_exit();
    }
    let account = account.join().ok().and_then(Result::ok).unwrap_or_default();
    let status = target.child.wait().context("the demo target can't be waited for")?;
    let (subject, outcome) = only(&mut traced)?;
    let besides = Besides { exit: Some(status.to_string()), ..Besides::default() };
    let (report, recording) = report(&subject, outcome, besides);
    let written = finish(&report, recording, &mut output, &mut recorded)?;
    let comparison = compare::compare(&report, &account)?;
    // Nobody may be listening any more.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), comparison.text.as_bytes());
    if !status.success() {
        bail!("the demo target ended with {status}; run `pauselens demo-target` to see what it says");
    }
    Ok(if comparison.agrees { written } else { Exit::Incomplete })
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
