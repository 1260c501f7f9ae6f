//! `cargo xtask check`: formatting, lints, documentation. All three run, whatever the first ones say.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::{
    commands::{self, KERNEL_SIDE},
    setup,
};

/// Runs every check and says at the end which ones failed.
pub(crate) fn run() -> Result<ExitCode> {
    let toolchain = setup::build_tools()?;
    let cargo = |args: &[&str]| -> Result<Command> {
        let mut command = commands::cargo(&toolchain)?;
        command.args(args);
        Ok(command)
    };
    // The kernel side can't be compiled for the host; the tracer's build script compiles it, warnings and all.
    let checks = [
        ("formatting", cargo(&["fmt", "--all", "--check"])?),
        (
            "lints",
            cargo(&[
                "clippy",
                "--workspace",
                "--exclude",
                KERNEL_SIDE,
                "--all-targets",
                "--",
                "--deny",
                "warnings",
            ])?,
        ),
        ("documentation", {
            let mut doc = cargo(&["doc", "--workspace", "--exclude", KERNEL_SIDE, "--no-deps"])?;
            doc.env("RUSTDOCFLAGS", "--deny warnings");
            doc
        }),
    ];

    let mut failed = Vec::new();
    for (name, mut command) in checks {
        eprintln!("check: {name}");
        if !commands::status(&mut command)?.success() {
            failed.push(name);
        }
    }
    if failed.is_empty() {
        eprintln!("check: all good");
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("check: failed: {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}
