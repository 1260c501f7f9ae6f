//! What was typed, and the verbs: one file each.

mod args;
mod attach;
mod check;
mod demo;
mod exit;
mod exposed;
mod exposure;
mod observer;
mod output;
mod recognised;
mod run;
mod tracing;

pub use args::{Cli, Command};
pub use exit::Exit;

use std::time::Instant;

/// Does what was asked for.
///
/// # Errors
/// When it could not start, or its input was unusable; the message says what to do next.
pub fn execute(cli: &Cli, started: Instant) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Attach(arguments) => attach::attach(arguments, cli.global, started),
        Command::Run(arguments) => run::run(arguments, cli.global, started),
        Command::Exposure(arguments) => exposure::exposure(arguments, cli.global),
        Command::Check(arguments) => check::check(arguments, cli.global),
        Command::Demo(arguments) => demo::demo(arguments, cli.global, started),
        Command::DemoTarget(options) => crate::demo::target::run(options).map(|()| Exit::Done),
    }
}
