//! Stacks of code without frame pointers: unwound from a copy, or marked where a walk by frame pointers goes wrong.

mod callers;
mod checked;
mod marks;
mod unwinder;

pub(super) use checked::checked;
pub(super) use marks::{MISSING, is_mark, name_of};
pub use unwinder::{Unwinder, Unwound};
