//! What the data of HotSpot's definition can't say: the layout of its memory.

mod memory;

/// The name of its definition.
pub(super) const NAME: &str = "hotspot";

pub(super) use memory::HotSpotMemory;
