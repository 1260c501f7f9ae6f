//! What the target's cgroups limit.

mod cpu;
mod memory;
mod places;

pub use cpu::{CpuQuota, Throttled};
pub use memory::{MemoryLimit, MemoryUse};
