//! Memory: what an address of the target belongs to.

mod address_space;

pub use address_space::AddressSpace;
