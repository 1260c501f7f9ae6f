//! Memory: what an address of the target belongs to.
//!
//! Sources, the most exact one first: the runtime's own structures (read from the target by [`crate::runtime`]), names
//! that the kernel gives to mappings, the mapping itself, the program's file; last, rules about how the runtime lays out
//! its memory, which are marked as inferred.

mod address_space;
mod go_names;
mod history;
mod region;
mod rules;
mod thread_stacks;

pub use address_space::{AddressSpace, Unavailable};
pub use region::{Placed, Region};
pub use rules::{Layout, Program, place};
