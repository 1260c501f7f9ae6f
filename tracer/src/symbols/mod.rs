//! Symbols: from runtime addresses of the target to function names.

mod code_files;
mod generated;
mod kernel;
mod modules;
mod names;
mod outermost;
mod unwind;

pub use kernel::KernelNamer;
pub use modules::{Module, Modules};
pub use names::Namer;
pub use unwind::{Unwinder, Unwound};

/// What stands among a stack's addresses and is none: the name that it is shown by, if it is shown. `None`: an address.
pub(crate) fn mark(address: u64) -> Option<Option<&'static str>> {
    unwind::is_mark(address).then(|| unwind::name_of(address))
}
