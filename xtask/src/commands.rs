//! How tasks start other programs: cargo with the tools of setup on its PATH, scripts, and what becomes of their
//! exit status.

use std::{
    env,
    os::unix::fs::MetadataExt as _,
    process::{Command, ExitStatus},
};

use anyhow::{Context as _, Result};

use crate::{paths, setup::Toolchain};

/// The package that is compiled for BPF only, by the tracer's build script.
pub(crate) const KERNEL_SIDE: &str = "tracer-ebpf";

/// The tracer's package.
pub(crate) const TRACER: &str = "tracer";

/// A cargo command in the workspace. bpf-linker comes first on its PATH, since the tracer's build script starts
/// another cargo that looks for it there.
pub(crate) fn cargo(toolchain: &Toolchain) -> Result<Command> {
    let mut path = vec![toolchain.bin()];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let path = env::join_paths(path).context("the cache folder's name can't be part of PATH")?;
    // The cargo that runs this task, so that `cargo +toolchain xtask` means what it says.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(paths::workspace()).env("PATH", path);
    Ok(command)
}

/// Runs a command with this terminal as its own; its exit status is for the caller to judge.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    command.status().with_context(|| format!("{} could not be started", command.get_program().display()))
}

/// Builds the tracer that tests and demos run. False if cargo said that it can't.
pub(crate) fn build_release_tracer(toolchain: &Toolchain) -> Result<bool> {
    let status = status(cargo(toolchain)?.args(["build", "--release", "--package", TRACER]))?;
    Ok(status.success())
}

/// Whether this process may load BPF programs, as far as its user id tells.
pub(crate) fn is_root() -> bool {
    // The folder belongs to the effective user id, which the standard library doesn't tell otherwise.
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
