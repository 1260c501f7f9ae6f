//! A process to be traced: who it is, what it executes, what it has mapped, its threads and their counters.
//!
//! Everything is read from `/proc` and never changes the process.

mod cgroup;
mod counters;
mod held;
mod identity;
mod maps;
mod memory;
mod memory_state;
mod stat;
mod threads;
mod userfaultfd;

pub use cgroup::{
    CgroupPath, CgroupPathError, Container, CpuQuota, MemoryLimit, MemoryUse, Placement, Throttled,
    is_in_cgroup, resolve_cgroup,
};
pub use counters::{Counters, Reading, read_counters, read_process_counters};
pub use held::{Held, HeldError};
pub use identity::{Target, TargetError, has_ended};
pub use maps::{Backing, FileId, Mapping, parse_maps, read_maps};
pub use memory::{PresentMemory, ReadMemory, Unread};
pub use memory_state::{Cgroup, HostMemory, Pressure, ProcessMemory, ProcessReading, Stalls, System};
pub use stat::{Stat, parse_stat};
pub use threads::{stack_pointers, thread_ids, thread_name};
pub use userfaultfd::holds_userfaultfd;
