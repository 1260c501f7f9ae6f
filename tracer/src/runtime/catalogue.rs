//! Asks one runtime after the other whether a file holds it.

use std::sync::Arc;

use super::{Loaded, PauseSites, Reason, RecogniseError, Registers, RuntimeMemory, RuntimeStamps, demo, go};
use crate::elf::{GoFunctions, Image};

/// A runtime of the catalogue.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RuntimeKind {
    /// The Go runtime, as the standard compiler links it.
    Go,
    /// The program that comes with this project and pauses itself in known ways.
    Demo,
}

/// The runtime that a file holds, and where its pauses are.
#[derive(Clone, Debug)]
pub struct Recognised {
    /// Which runtime.
    pub kind: RuntimeKind,
    /// Its name in every output: "go", "pauselens-demo".
    pub name: &'static str,
    /// Its version, such as "1.27.3".
    pub version: String,
    /// Where its pauses begin and end.
    pub sites: PauseSites,
    /// The function table of a Go program, to name addresses with; `None` for other runtimes, and if it is
    /// damaged (a note says so).
    pub go_functions: Option<Arc<GoFunctions>>,
    /// What the user should know about the choice made here, one sentence each.
    pub notes: Vec<String>,
    pub(super) decoder: Decoder,
}

/// What reading a runtime's registers depends on.
#[derive(Clone, Debug)]
pub(super) enum Decoder {
    Go(go::GoVersion),
    Demo,
}

impl Recognised {
    /// Whether a thread with this name works for pauses, besides their driver. Go stops its world for work that the driver
    /// does alone.
    #[must_use]
    pub fn is_worker(&self, thread_name: &str) -> bool {
        match &self.decoder {
            Decoder::Go(_) => false,
            Decoder::Demo => demo::is_worker(thread_name),
        }
    }

    /// Whether the runtime passes no reason, so that its callers must tell: see [`Recognised::reason_of_callers`].
    pub fn reason_needs_callers(&self) -> bool {
        match &self.decoder {
            Decoder::Go(version) => !version.is_at_least(21),
            Decoder::Demo => false,
        }
    }

    /// Why the world was stopped, from the functions that asked for it, innermost first.
    pub fn reason_of_callers<'a>(&self, functions: impl Iterator<Item = &'a str>) -> Reason {
        match &self.decoder {
            Decoder::Go(version) => go::reason_of_callers(version, functions),
            Decoder::Demo => demo::reason(None),
        }
    }

    /// Why the world was stopped, from the registers at the entry of the stopping function and at that of the
    /// restarting one. Either may be missing (attached in the middle of a pause, a record was dropped).
    pub fn reason(&self, at_requested: Option<Registers>, at_restarting: Option<Registers>) -> Reason {
        match &self.decoder {
            Decoder::Go(version) => go::reason(version, at_requested, at_restarting),
            Decoder::Demo => demo::reason(at_requested),
        }
    }

    /// Whether the runtime itself passes on when the world had stopped, so that no probe is needed for it.
    pub fn carries_stopped(&self) -> bool {
        match &self.decoder {
            Decoder::Go(version) => go::carries_stopped(version),
            Decoder::Demo => false,
        }
    }

    /// What the runtime's own structures say of its memory, read from the process `pid` that has loaded the file there.
    /// `None`: the runtime has none that are known.
    ///
    /// # Errors
    ///
    /// In words: what is missing.
    pub fn memory(
        &self,
        pid: u32,
        image: &Image,
        loaded: Option<Loaded>,
    ) -> Option<Result<Box<dyn RuntimeMemory>, String>> {
        match &self.decoder {
            Decoder::Go(_) => Some(match go::GoMemory::open(pid, image, loaded) {
                Ok(memory) => Ok(Box::new(memory)),
                Err(error) => Err(error.to_string()),
            }),
            Decoder::Demo => None,
        }
    }

    /// The runtime's own clock readings, from the registers at the entry of the restarting function.
    pub fn stamps(&self, at_restarting: Registers) -> RuntimeStamps {
        match &self.decoder {
            Decoder::Go(version) => go::stamps(version, at_restarting),
            Decoder::Demo => RuntimeStamps::default(),
        }
    }
}

/// Recognises the runtime in a file, by what the file holds and never by its name, and finds its pause sites.
///
/// # Errors
///
/// No known runtime; or one, but of a version that is too old or can't be read, or whose pause functions
/// can't be found, placed or decoded. Half a pair of sites is never returned.
pub fn recognise(image: &Image) -> Result<Recognised, RecogniseError> {
    let recognised = match go::recognise(image)? {
        Some(go) => Some(go),
        None => demo::recognise(image)?,
    };
    recognised.ok_or_else(|| RecogniseError::NoKnownRuntime {
        path: image.shown_as().to_path_buf(),
        looked_for: format!("{}; {}", go::LOOKED_FOR, demo::LOOKED_FOR),
    })
}
