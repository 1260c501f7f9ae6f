//! The runtime that a process holds, and how what is captured at its places is read.

use std::sync::Arc;

use super::{
    Loaded, Lookup, Marks, PauseSites, Reason, Registers, RuntimeMemory, RuntimeStamps, WindowRules,
    definition::ReasonAt,
    demo, go, hotspot,
    purpose::{self, Described},
};
use crate::{
    elf::{GoFunctions, Image},
    target::Mapping,
};

/// A runtime of the catalogue.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RuntimeKind {
    /// The Go runtime, as the standard compiler links it.
    Go,
    /// The program that comes with this project and pauses itself in known ways.
    Demo,
    /// One that a definition describes, or windows that the user defined.
    Described,
}

/// The runtime that a process holds, and where its pauses are.
#[derive(Clone, Debug)]
pub struct Recognised {
    /// Which runtime.
    pub kind: RuntimeKind,
    /// Its name in every output: "go", "pauselens-demo", "hotspot".
    pub name: String,
    /// Its version, such as "1.27.3".
    pub version: String,
    /// Where its pauses begin and end.
    pub sites: PauseSites,
    /// The files that the sites are in.
    pub files: Vec<Arc<Image>>,
    /// The function table of a Go program, to name addresses with; `None` for other runtimes, and if it is
    /// damaged (a note says so).
    pub go_functions: Option<Arc<GoFunctions>>,
    /// What the user should know about the choice made here, one sentence each.
    pub notes: Vec<String>,
    /// Whose the windows are, and what they are called.
    pub rules: WindowRules,
    pub(super) decoder: Decoder,
}

/// What reading a runtime's registers depends on.
#[derive(Clone, Debug)]
pub(super) enum Decoder {
    Go(go::GoVersion),
    Demo,
    Described(Described),
    /// Windows between two places, with the argument that is their reason.
    Between(Option<ReasonAt>),
    /// Calls of a function of this name.
    Call(String),
}

impl Recognised {
    /// Whether a thread with this name works for pauses, besides their driver. Go stops its world for work that the driver
    /// does alone.
    #[must_use]
    pub fn is_worker(&self, thread_name: &str) -> bool {
        match &self.decoder {
            Decoder::Go(_) | Decoder::Between(_) | Decoder::Call(_) => false,
            Decoder::Demo => demo::is_worker(thread_name),
            Decoder::Described(described) => described.is_worker(thread_name),
        }
    }

    /// Whether the runtime passes no reason, so that its callers must tell: see [`Recognised::reason_of_callers`].
    pub fn reason_needs_callers(&self) -> bool {
        match &self.decoder {
            Decoder::Go(version) => !version.is_at_least(21),
            Decoder::Demo | Decoder::Described(_) | Decoder::Between(_) | Decoder::Call(_) => false,
        }
    }

    /// Why the world was stopped, from the functions that asked for it, innermost first.
    pub fn reason_of_callers<'a>(&self, functions: impl Iterator<Item = &'a str>) -> Reason {
        match &self.decoder {
            Decoder::Go(version) => go::reason_of_callers(version, functions),
            Decoder::Demo | Decoder::Described(_) | Decoder::Between(_) | Decoder::Call(_) => {
                self.reason(&Marks::default(), &Lookup::default())
            }
        }
    }

    /// Why the world was stopped, from the registers at the window's marks. Any may be missing (attached in the middle of a
    /// pause, a record was dropped).
    pub fn reason(&self, marks: &Marks, lookup: &Lookup) -> Reason {
        match &self.decoder {
            Decoder::Go(version) => go::reason(version, marks.requested, marks.restarting),
            Decoder::Demo => demo::reason(marks.requested),
            Decoder::Described(described) => described.reason(&self.sites, marks, lookup),
            Decoder::Between(None) => Reason { name: "window".to_owned(), is_gc: None },
            Decoder::Between(Some(at)) => {
                Reason { is_gc: None, ..purpose::reason_at(at, &self.sites, marks, lookup) }
            }
            Decoder::Call(function) => Reason { name: function.clone(), is_gc: None },
        }
    }

    /// What windows that are no pauses of a runtime are of: the function, or the places.
    #[must_use]
    pub fn windows_of(&self) -> Option<String> {
        let names = |sites: &[super::Site]| {
            let names: std::collections::BTreeSet<&str> =
                sites.iter().map(|site| site.function.as_str()).collect();
            names.into_iter().collect::<Vec<_>>().join(", ")
        };
        match &self.decoder {
            Decoder::Call(function) => Some(function.clone()),
            Decoder::Between(_) => {
                Some(format!("{} → {}", names(&self.sites.requested), names(&self.sites.resumed)))
            }
            _ => None,
        }
    }

    /// Whether the runtime itself says that the window was none: a request that another one had come before.
    pub fn is_discarded(&self, marks: &Marks) -> bool {
        match &self.decoder {
            Decoder::Described(described) => described.is_discarded(&self.sites, marks),
            _ => false,
        }
    }

    /// Whether the runtime itself passes on when the world had stopped, so that no probe is needed for it.
    pub fn carries_stopped(&self) -> bool {
        match &self.decoder {
            Decoder::Go(version) => go::carries_stopped(version),
            _ => false,
        }
    }

    /// Whether it is HotSpot.
    #[must_use]
    pub fn is_hotspot(&self) -> bool {
        self.kind == RuntimeKind::Described && self.name == hotspot::NAME
    }

    /// What the runtime's own structures say of its memory, read from the process `pid`, which has the executable `image`
    /// loaded there and its files mapped so. `None`: the runtime has none that are known.
    ///
    /// # Errors
    ///
    /// In words: what is missing.
    pub fn memory(
        &self,
        pid: u32,
        image: &Image,
        loaded: Option<Loaded>,
        mappings: &[Mapping],
    ) -> Option<Result<Box<dyn RuntimeMemory>, String>> {
        match self.kind {
            RuntimeKind::Described if self.is_hotspot() => {
                let library = self.files.first()?;
                let loaded = Loaded::find(library, library.shown_as().as_os_str(), mappings);
                Some(match hotspot::HotSpotMemory::open(pid, library, loaded) {
                    Ok(memory) => Ok(Box::new(memory)),
                    Err(error) => Err(error.to_string()),
                })
            }
            RuntimeKind::Go => Some(match go::GoMemory::open(pid, image, loaded) {
                Ok(memory) => Ok(Box::new(memory)),
                Err(error) => Err(error.to_string()),
            }),
            RuntimeKind::Demo | RuntimeKind::Described => None,
        }
    }

    /// The runtime's own clock readings, from the registers at the entry of the restarting function.
    pub fn stamps(&self, at_restarting: Registers) -> RuntimeStamps {
        match &self.decoder {
            Decoder::Go(version) => go::stamps(version, at_restarting),
            _ => RuntimeStamps::default(),
        }
    }
}
