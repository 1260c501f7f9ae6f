//! Reads ELF files: where a function is, where it returns, and which file offset a probe on it needs.
//!
//! Three kinds of address are kept apart by type: [`ElfAddress`], [`FileOffset`] and [`RuntimeAddress`].
//! Every table is read as it may be damaged: offsets are checked, and a bad one is an error or "not found".

pub mod address;
pub mod build_info;
mod bytes;
pub mod debug_info;
pub mod entry;
pub mod error;
pub mod image;
pub mod machine;
pub mod pclntab;
mod relocations;
pub mod returns;
mod segments;
pub mod symbols;
#[cfg(test)]
pub(crate) mod test_files;

pub use address::{ElfAddress, FileOffset, RuntimeAddress};
pub use build_info::{GoBuild, go_version, holds_go_code};
pub use debug_info::{DebugInfo, DebugInfoError, Type, Types};
pub use entry::entry_site;
pub use error::ElfError;
pub use image::Image;
pub use machine::Machine;
pub use pclntab::{GoFunctions, PclntabError};
pub use returns::{Exits, ReturnSitesError, exits, return_sites};
pub use symbols::{Function, SymbolSource, find_functions, functions_where};
