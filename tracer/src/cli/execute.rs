//! From the verb that was typed to its file.

use std::time::Instant;

use super::{
    args::{Cli, Command},
    attach, check, compare, demo,
    exit::Exit,
    exposure, generated_docs, record, report, run, runtimes,
};

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
