//! The target's cgroups: what they limit, who is in one, and which container or unit they are of.

mod container;
mod cpu;
mod member;
mod memory;
mod places;

pub use container::{Container, Placement};
pub use cpu::{CpuQuota, Throttled};
pub use member::{CgroupPath, CgroupPathError, is_in_cgroup, resolve_cgroup};
pub(super) use memory::UNLIMITED_BYTES;
pub use memory::{MemoryLimit, MemoryUse};
pub(super) use places::{Place, hierarchies_of};
