//! A target with its executable and runtime: what is traced.

use std::{io, sync::Arc};

use thiserror::Error;

use crate::{
    elf::{ElfError, Image},
    runtime::{Chosen, MappedFiles, RecogniseError, Recognised, recognise_chosen},
    target::{Target, TargetError},
};

/// What is traced, with everything that was found out about it.
#[derive(Debug)]
pub struct Subject {
    /// The process.
    pub target: Target,
    /// Its executable.
    pub image: Arc<Image>,
    /// The runtime in it.
    pub recognised: Recognised,
}

/// Why a process can't be traced.
#[derive(Debug, Error)]
pub enum SubjectError {
    /// It can't be a target at all.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Its executable can't be read.
    #[error(transparent)]
    Image(#[from] ElfError),
    /// What it has mapped can't be read.
    #[error("the files that process {pid} has mapped can't be read: {source}; run pauselens as root")]
    Maps {
        /// The process.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
    /// No runtime is recognised in it, or not one that can be traced.
    #[error(transparent)]
    Runtime(#[from] RecogniseError),
}

/// A process that can't be traced, at least not now.
#[derive(Debug)]
pub struct Refused {
    /// The process.
    pub target: Target,
    /// Why.
    pub error: SubjectError,
}

impl SubjectError {
    /// Whether this can be otherwise when the process has gone on: a launcher maps the runtime's library a little later,
    /// a shell begins another program.
    #[must_use]
    pub fn may_change(&self) -> bool {
        match self {
            Self::Target(_) | Self::Maps { .. } => false,
            Self::Image(_) | Self::Runtime(_) => true,
        }
    }
}

impl Subject {
    /// Looks at the process, for the windows that were chosen.
    ///
    /// # Errors
    /// When it can't be a target, or no runtime is recognised in it.
    pub fn find(pid: u32, chosen: &Chosen) -> Result<Self, SubjectError> {
        Self::of(Target::open(pid)?, chosen).map_err(|refused| refused.error)
    }

    /// Looks at what the process executes.
    ///
    /// # Errors
    /// As [`Subject::find`]; the target is given back.
    pub fn of(target: Target, chosen: &Chosen) -> Result<Self, Box<Refused>> {
        let look = |target: &Target| {
            let image = Arc::new(Image::open(target.open_executable()?, target.exe().to_owned())?);
            let files = MappedFiles::of(target, Arc::clone(&image))
                .map_err(|source| SubjectError::Maps { pid: target.pid(), source })?;
            let recognised = recognise_chosen(&files, chosen)?;
            Ok::<_, SubjectError>((image, recognised))
        };
        match look(&target) {
            Ok((image, recognised)) => Ok(Self { target, image, recognised }),
            Err(error) => Err(Box::new(Refused { target, error })),
        }
    }

    /// `4242 (service, go 1.27.3)`.
    #[must_use]
    pub fn describe(&self) -> String {
        let name = self.target.name();
        format!("{} ({name}, {} {})", self.target.pid(), self.recognised.name, self.recognised.version)
    }
}
