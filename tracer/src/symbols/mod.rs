//! Symbols: from runtime addresses of the target to function names.

mod kernel;
mod modules;
mod names;

pub use kernel::KernelNamer;
pub use modules::{Module, Modules};
pub use names::Namer;
