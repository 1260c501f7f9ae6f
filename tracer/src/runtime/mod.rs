//! The catalogue of runtimes: recognises the one in a file, names the places of its pauses, and reads its
//! reasons.
//!
//! Most runtimes are data (`definitions/`, in the form of `definition.rs`). Those for which data is not enough have a
//! folder with the same files each: `recognise` (is this file mine, which version?), `sites` (where do its pauses begin and
//! end?) and `reason` (what do the registers there say?).

pub mod catalogue;
pub mod chosen;
pub mod definition;
pub mod definitions;
mod demo;
pub mod described;
pub mod entries;
pub mod error;
pub mod files;
mod go;
mod hotspot;
pub mod loaded;
pub mod locate;
pub mod lookup;
pub mod memory;
pub mod place;
pub mod purpose;
pub mod reason;
mod recognised;
pub mod registers;
pub mod sites;
pub mod windows;

pub use catalogue::{recognise, recognise_process};
pub use chosen::{Chosen, recognise_chosen};
pub use definition::{Definition, DefinitionError, KeyedBy, Stops};
pub use definitions::definitions;
pub use described::UNKNOWN_VERSION;
pub use entries::{Entry, catalogue_entries, stops};
pub use error::RecogniseError;
pub use files::MappedFiles;
pub use loaded::Loaded;
pub use locate::{LocateError, locate};
pub use lookup::Lookup;
pub use memory::{Belongs, Missing, RuntimeMemory};
pub use place::{Place, PlaceError};
pub use purpose::Marks;
pub use reason::{Reason, RuntimeStamps};
pub use recognised::{Recognised, RuntimeKind};
pub use registers::Registers;
pub use sites::{GoroutineSites, PauseSites, Site, SiteKind};
pub use windows::{Unit, WindowRules};
