//! Memory: what an address of the target belongs to.

mod address_space;
mod region;

pub use address_space::AddressSpace;
pub use region::{Layout, Placed, Region, place};
