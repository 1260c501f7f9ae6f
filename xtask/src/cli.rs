//! What can be typed after `cargo xtask`, and which task it runs.

use std::{ffi::OsString, process::ExitCode};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::{check, demo, dist, setup, test, vm};

/// Tasks of this project. Each puts whatever it needs in place first.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Put in place what building needs and this machine lacks: nightly Rust, its sources, bpf-linker.
    Setup(SetupArgs),
    /// Check formatting, lints and documentation.
    Check,
    /// Build the tracer and run all tests; those that load BPF programs need root.
    Test(TestArgs),
    /// Build the tracer and diagnose a pause: of a Go program whose memory was swapped out, where that can be had.
    Demo(DemoArgs),
    /// Build the tracer and put it into target/dist with completions, manual pages and documents, also as an archive.
    Dist,
    /// Build the tracer and try it on older and newer kernels, each in an emulated machine (half a minute each).
    Vm(VmArgs),
}

#[derive(Debug, Args)]
struct SetupArgs {
    /// Also fetch what the tests run: Go toolchains.
    #[arg(long)]
    tests: bool,
}

#[derive(Debug, Args)]
struct TestArgs {
    /// Handed to the test runner: a part of a test's name, --nocapture, --include-ignored, …
    #[arg(last = true, value_name = "RUNNER ARGUMENTS")]
    runner_args: Vec<OsString>,
}

#[derive(Debug, Args)]
struct DemoArgs {
    /// Trace the workload built into pauselens, which needs neither Go nor swap.
    #[arg(long)]
    builtin: bool,
}

#[derive(Debug, Args)]
struct VmArgs {
    /// Which kernels: 5.10, 6.1, 6.12, sid, or Debian's names of the releases; all of them without any. They are kept in
    /// the cache folder, under vm/: remove one there to have the newest fetched.
    #[arg(value_name = "KERNEL")]
    kernels: Vec<vm::KernelName>,
}

impl Cli {
    /// Runs the task that was named. `Err` means that it could not do its work; work that was done and ended
    /// badly (a test failed) has said so itself and only shows in the exit status.
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.task {
            Task::Setup(args) => {
                let toolchain = setup::build_tools()?;
                if args.tests {
                    setup::test_tools()?;
                }
                setup::report_ready(&toolchain);
                Ok(ExitCode::SUCCESS)
            }
            Task::Check => check::run(),
            Task::Test(args) => test::run(&args.runner_args),
            Task::Demo(args) => {
                demo::run(if args.builtin { demo::Workload::Builtin } else { demo::Workload::SwapPause })
            }
            Task::Dist => dist::run(),
            Task::Vm(args) => {
                let kernels: Vec<_> = args.kernels.iter().map(|name| name.0).collect();
                vm::run(&kernels)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn runner_arguments_come_after_two_dashes() {
        let cli = Cli::try_parse_from(["cargo xtask", "test", "--", "--nocapture", "elf"]).unwrap();
        let Task::Test(args) = cli.task else { panic!("{cli:?}") };
        assert_eq!(args.runner_args, ["--nocapture", "elf"]);
        assert!(Cli::try_parse_from(["cargo xtask", "test", "elf"]).is_err());
    }
}
