//! What was typed, and the verbs: one file each.

mod args;
mod attach;
mod check;
mod compare;
mod compare_args;
mod demo;
mod exit;
mod exposed;
mod exposure;
mod generated_docs;
mod observer;
mod output;
mod parsing;
mod progress;
mod recognised;
mod record;
mod recorded;
mod rendering;
mod report;
mod report_args;
mod run;
mod runtimes;
mod several;
mod tracing;
mod windows;

pub use args::{Cli, Command};
pub use exit::Exit;
pub use parsing::parse;

use std::time::Instant;

/// Does what was asked for.
///
/// # Errors
/// When it could not start, or its input was unusable; the message says what to do next.
pub fn execute(cli: &Cli, started: Instant) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Attach(arguments) => attach::attach(arguments, cli.global, started),
        Command::Record(arguments) => record::record(arguments, cli.global, started),
        Command::Report(arguments) => report::report(arguments, cli.global),
        Command::Compare(arguments) => compare::compare(arguments, cli.global),
        Command::Run(arguments) => run::run(arguments, cli.global, started),
        Command::Exposure(arguments) => exposure::exposure(arguments, cli.global),
        Command::Check(arguments) => check::check(arguments, cli.global),
        Command::Runtimes(arguments) => runtimes::runtimes(arguments, cli.global),
        Command::Demo(arguments) => demo::demo(arguments, cli.global, started),
        Command::GenerateDocs(arguments) => generated_docs::generate_docs(arguments),
        Command::DemoTarget(options) => crate::demo::target::run(options).map(|()| Exit::Done),
    }
}
