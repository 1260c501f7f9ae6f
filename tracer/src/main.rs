//! Parse, do, exit.

use std::{process::ExitCode, time::Instant};

use tracer::{
    cli::{Exit, execute, parse},
    message::message,
};

fn main() -> ExitCode {
    let started = Instant::now();
    let cli = parse();
    env_logger::Builder::new()
        .filter_level(cli.global.log_level())
        .write_style(cli.global.log_style())
        // What aya finds out about the kernel is in `pauselens check`, in words.
        .filter_module("aya", log::LevelFilter::Warn)
        .init();
    match execute(&cli, started) {
        Ok(exit) => exit.into(),
        Err(error) => {
            tracer::tell!("{}", message(error.as_ref()));
            Exit::Failed.into()
        }
    }
}
