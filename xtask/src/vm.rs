//! `cargo xtask vm`: does one build of pauselens work on older and newer kernels? Boots each in an emulated machine, runs
//! `pauselens check` and `pauselens demo` there, and judges what came of it.

mod disk;
mod guest;
mod kernels;
mod machine;
mod package;
mod results;
mod verdict;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Result;

pub(crate) use kernels::{Kernel, KernelName};

use crate::{commands, paths, setup};
use guest::Guest;

/// Boots the named kernels one after the other, or all of them. Each gets one line; the exit status tells whether
/// pauselens works on all.
pub(crate) fn run(named: &[&'static Kernel]) -> Result<ExitCode> {
    let toolchain = setup::build_tools()?;
    if !commands::build_release_tracer(&toolchain)? {
        return Ok(ExitCode::FAILURE);
    }
    machine::ensure_tools()?;
    let guest = Guest::new(&paths::release_tracer()?)?;
    let mut outcome = ExitCode::SUCCESS;
    let all: Vec<&Kernel> = kernels::ALL.iter().collect();
    for kernel in if named.is_empty() { &all } else { named } {
        match try_kernel(kernel, &guest) {
            Ok(Some(line)) => eprintln!("vm: {line}"),
            Ok(None) => outcome = ExitCode::FAILURE,
            Err(error) => {
                eprintln!("vm: {}: {error:#}", kernel.name);
                outcome = ExitCode::FAILURE;
            }
        }
    }
    Ok(outcome)
}

/// The line of success. `None`: pauselens doesn't work there, and why has been said.
fn try_kernel(kernel: &Kernel, guest: &Guest) -> Result<Option<String>> {
    let image = package::ensure(kernel)?;
    eprintln!("vm: {}: booting {}", kernel.name, image.release);
    let disk = disk::make(guest)?;
    let begin = Instant::now();
    let said = machine::boot(&image.path, &disk)?;
    let took = begin.elapsed();
    let results = results::Results::parse(&said.results);
    match verdict::judge(&results, kernel, guest.has_go()) {
        Ok(figures) => Ok(Some(format!("{} works ({}): {figures}", image.release, seconds(took)))),
        Err(problems) => {
            eprintln!("vm: {} DOES NOT WORK ({}):", image.release, seconds(took));
            problems.iter().for_each(|problem| eprintln!("  {problem}"));
            eprintln!("  the kernel's last lines:");
            said.console_end().for_each(|line| eprintln!("    {line}"));
            Ok(None)
        }
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.0} s", duration.as_secs_f64())
}
