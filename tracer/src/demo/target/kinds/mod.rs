//! The kinds of fault, one file each: how its pages are prepared, and the function that touches them in the pause.
//!
//! Each touching function has a telling name and is never inlined, as it is what stacks show.

mod cold_text;
mod copy_on_write;
mod file_pages;
mod first_touch;
mod huge;
mod kernel_access;
mod kind;
mod populate;
mod prepare;
mod shared_memory;
mod signal;
mod swap;
mod userfault;
mod work;

pub(super) use kind::{DEFAULT_KINDS, Kind};
pub(super) use prepare::prepare;
pub(super) use work::Work;
