//! A target with its executable and runtime: what every verb looks at first.

use crate::{
    elf::Image,
    report::{
        assemble::{Context, assemble},
        model::Report,
    },
    runtime::{Recognised, recognise},
    session::Outcome,
    target::Target,
};

/// What is to be traced, with everything that was found out about it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) target: Target,
    pub(super) image: Image,
    pub(super) recognised: Recognised,
}

/// Looks at the process.
///
/// # Errors
/// When it can't be a target, or no runtime is recognised in it.
pub(super) fn find(pid: u32) -> anyhow::Result<Found> {
    let target = Target::open(pid)?;
    let image = Image::open(target.open_executable()?, target.exe().to_owned())?;
    let recognised = recognise(&image)?;
    Ok(Found { target, image, recognised })
}

impl Found {
    /// The report of a trace of it.
    pub(super) fn report(
        &self,
        outcome: Outcome,
        asked_ns: Option<u64>,
        exit: Option<String>,
        notes: Vec<String>,
    ) -> Report {
        let Self { target, image, recognised } = self;
        assemble(outcome, Context { target, image, recognised, asked_ns, exit, notes })
    }

    /// `4242 (service, go 1.27.3)`.
    pub(super) fn describe(&self) -> String {
        let name = self.target.exe().file_name().unwrap_or_default().to_string_lossy();
        format!("{} ({name}, {} {})", self.target.pid(), self.recognised.name, self.recognised.version)
    }
}
