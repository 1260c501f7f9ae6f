//! Reads ELF files: where a function is, where it returns, and which file offset a probe on it needs.
//!
//! Three kinds of address are kept apart by type: [`ElfAddress`], [`FileOffset`] and [`RuntimeAddress`].
//! Every table is read as it may be damaged: offsets are checked, and a bad one is an error or "not found".

pub mod address;
pub mod build_info;
mod bytes;
pub mod call_frames;
pub mod calls;
pub mod debug_files;
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
pub mod usdt;
pub mod variables;

pub use address::{ElfAddress, FileOffset, RuntimeAddress};
pub use build_info::{GoBuild, go_version, holds_go_code};
pub use call_frames::{CallFrames, CallerRule, ImageBytes};
pub use calls::follows_call;
pub use debug_files::{DebugFile, NoDebugFile, find_debug_file};
pub use debug_info::{DebugInfo, DebugInfoError, Type, Types};
pub use entry::entry_site;
pub use error::ElfError;
pub use image::Image;
pub use machine::Machine;
pub use pclntab::{GoFunctions, PclntabError};
pub use relocations::relocated_bytes;
pub use returns::{Exits, ReturnSitesError, exits, return_sites};
pub use symbols::{Function, SymbolSource, find_functions, function_around, function_at, functions_where};
pub use usdt::{Operand, Usdt, usdt};
pub use variables::{find_variables, variable_at};
