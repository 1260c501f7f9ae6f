//! `cargo xtask demo`: a pause and its diagnosis, from nothing but a checkout.

use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Result;

use crate::{commands, paths, setup};

/// What the demo traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    /// A Go program whose memory is swapped out before each collection: the story that pauselens was made for.
    SwapPause,
    /// The one inside the tracer's own binary, which works everywhere.
    Builtin,
}

/// The script's exit status for "something that this needs can't be had here", which it has explained. The tracer's
/// own statuses, which it passes on, are all below.
const UNAVAILABLE: i32 = 69;

/// Builds the tracer and runs it on the workload, or on the built-in one if that workload can't be had here. The
/// exit status is the tracer's.
pub(crate) fn run(workload: Workload) -> Result<ExitCode> {
    let toolchain = setup::build_tools()?;
    if !commands::build_release_tracer(&toolchain)? {
        return Ok(ExitCode::FAILURE);
    }
    let tracer = paths::release_tracer()?;
    if workload == Workload::SwapPause {
        let script = paths::workspace().join("scripts/workloads/swap-pause/run");
        let status = commands::status(Command::new(script).arg("--pauselens").arg(&tracer))?;
        if status.code() != Some(UNAVAILABLE) {
            return Ok(passed_on(status));
        }
        eprintln!(
            "demo: swapped-out Go can't be shown here (the reason is above); showing the built-in workload"
        );
    }
    Ok(passed_on(commands::status(Command::new(tracer).arg("demo"))?))
}

fn passed_on(status: ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
