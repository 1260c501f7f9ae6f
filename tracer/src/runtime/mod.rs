//! The catalogue of runtimes: recognises the one in a file, names the places of its pauses, and reads its
//! reasons.
//!
//! Each runtime has a folder with the same files: `recognise` (is this file mine, which version?), `sites`
//! (where do its pauses begin and end?) and `reason` (what do the registers there say?).

pub mod catalogue;
mod demo;
pub mod error;
mod go;
pub mod loaded;
pub mod memory;
pub mod reason;
pub mod registers;
pub mod sites;

pub use catalogue::{Recognised, RuntimeKind, recognise};
pub use error::RecogniseError;
pub use loaded::Loaded;
pub use memory::{Belongs, Missing, RuntimeMemory};
pub use reason::{Reason, RuntimeStamps};
pub use registers::Registers;
pub use sites::{PauseSites, Site, SiteKind};
