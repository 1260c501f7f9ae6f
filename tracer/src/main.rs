//! Parse, do, exit.

use std::{process::ExitCode, time::Instant};

use clap::Parser as _;
use tracer::{
    cli::{Cli, Exit, execute},
    message::message,
};

fn main() -> ExitCode {
    let started = Instant::now();
    let cli = Cli::parse();
    env_logger::Builder::new()
        .filter_level(cli.global.log_level())
        // What aya finds out about the kernel is in `pauselens check`, in words.
        .filter_module("aya", log::LevelFilter::Warn)
        .init();
    match execute(&cli, started) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("pauselens: {}", message(error.as_ref()));
            Exit::Failed.into()
        }
    }
}
