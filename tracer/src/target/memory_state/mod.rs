//! The state of memory at one moment: a process's, its memory cgroup's, the host's.
//!
//! It is read again and again while a trace runs, so the files stay open. Only small files are read, which the kernel
//! fills from counters: none of them walks the process's page tables, and none holds a lock that the process needs to
//! fault.

mod cgroup;
mod host;
mod model;
mod pressure;
mod process;
mod source;

pub use host::HostMemory;
pub use model::{Cgroup, Pressure, Stalls, System};
pub use process::{ProcessMemory, ProcessReading};
