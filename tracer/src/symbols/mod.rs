//! Symbols: from runtime addresses of the target to function names.

mod modules;
mod names;

pub use modules::{Module, Modules};
pub use names::Namer;
