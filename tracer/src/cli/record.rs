//! `pauselens record`: trace a process that is running, or several, into a file for later.

use std::time::Instant;

use super::{
    args::{Global, RecordArgs},
    attach::trace,
    exit::Exit,
    output::Output,
};

/// Traces and records; of the result a few lines are printed.
pub(super) fn record(arguments: &RecordArgs, global: Global, started: Instant) -> anyhow::Result<Exit> {
    trace(&arguments.which, &arguments.trace, Output::brief(global), Some(&arguments.output), global, started)
}
