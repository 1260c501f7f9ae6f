//! `cargo xtask test`: everything that can be tested on this machine. The last lines are the test runner's own.

use std::{ffi::OsString, fs, process::ExitCode};

use anyhow::{Context as _, Result};

use crate::{
    commands::{self, KERNEL_SIDE},
    paths, setup,
};

/// Where the tests find the release build, as an absolute path.
const BINARY_VARIABLE: &str = "PAUSELENS_BIN";

const LAST_SUITE: &str = "integration";

/// Runs all suites, also after one has failed; the exit status tells whether all passed.
pub(crate) fn run(runner_args: &[OsString]) -> Result<ExitCode> {
    let toolchain = setup::build_tools()?;
    setup::test_tools()?;
    if !commands::is_root() {
        eprintln!("test: not running as root: the tests that load BPF programs will fail");
    }
    if !commands::build_release_tracer(&toolchain)? {
        return Ok(ExitCode::FAILURE);
    }
    let binary = paths::release_tracer()?;
    let binary =
        fs::canonicalize(&binary).with_context(|| format!("no {} after the build", binary.display()))?;

    // Those that attach to processes measure time and share the kernel's tables: one after the other, and last.
    let suites: [(&str, &[&str], &[&str]); 3] = [
        ("documentation", &["--doc"], &[]),
        ("unit", &["--lib", "--bins"], &[]),
        (LAST_SUITE, &["--test", "*"], &["--test-threads=1"]),
    ];
    let mut outcome = ExitCode::SUCCESS;
    for (name, targets, order) in suites {
        let mut test = commands::cargo(&toolchain)?;
        test.args(["test", "--workspace", "--exclude", KERNEL_SIDE, "--no-fail-fast"]).args(targets);
        test.arg("--").args(order).args(runner_args).env(BINARY_VARIABLE, &binary);
        if !commands::status(&mut test)?.success() {
            outcome = ExitCode::FAILURE;
            // Said at once: after the last suite, nothing follows the runner's summary.
            if name != LAST_SUITE {
                eprintln!("test: {name} tests failed; going on with the next ones");
            }
        }
    }
    Ok(outcome)
}
