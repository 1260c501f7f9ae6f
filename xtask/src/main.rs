//! Project tasks: reads what was typed, runs that task, turns the outcome into an exit status; nothing else.

mod check;
mod cli;
mod commands;
mod demo;
mod dist;
mod missing;
mod paths;
mod progress;
mod setup;
mod test;
mod vm;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
