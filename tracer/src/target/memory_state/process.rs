//! A process's memory, and that of its memory cgroup.

use std::path::Path;

use super::{
    cgroup::CgroupMemory,
    model::Cgroup,
    source::{Source, kib},
};

/// The files that tell of it, kept open. What they tell of is the process that had this id when they were opened.
#[derive(Debug)]
pub struct ProcessMemory {
    pid: u32,
    status: Option<Source>,
    membership: Option<Source>,
    /// What `/proc/PID/cgroup` held when the cgroup was looked for.
    member_of: Vec<u8>,
    cgroup: Option<CgroupMemory>,
    buffer: Vec<u8>,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessReading {
    /// Resident memory (`VmRSS`).
    pub resident_bytes: Option<u64>,
    /// Memory in swap (`VmSwap`): private pages; what is swapped out of shared memory is not in it.
    pub swapped_bytes: Option<u64>,
    /// The memory cgroup; `None` when it is in none that can be seen, which includes the root of version 2.
    pub cgroup: Option<Cgroup>,
}

impl ProcessMemory {
    /// Opens the files.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        let open = |name: &str| Source::open(Path::new(&format!("/proc/{pid}/{name}")));
        Self {
            pid,
            status: open("status"),
            membership: open("cgroup"),
            member_of: Vec::new(),
            cgroup: None,
            buffer: Vec::new(),
        }
    }

    /// Reads them; `None` when the process has ended.
    #[must_use]
    pub fn read(&mut self) -> Option<ProcessReading> {
        let status = self.status.as_ref()?.read(&mut self.buffer)?;
        let (resident_bytes, swapped_bytes) = (kib(status, "VmRSS"), kib(status, "VmSwap"));
        self.find_cgroup();
        let cgroup = self.cgroup.as_ref().and_then(|cgroup| cgroup.read(&mut self.buffer));
        Some(ProcessReading { resident_bytes, swapped_bytes, cgroup })
    }

    /// Looks for the cgroup again when the process has moved to another one.
    fn find_cgroup(&mut self) {
        let Some(now) = self.membership.as_ref().and_then(|file| file.read(&mut self.buffer)) else {
            self.cgroup = None;
            return;
        };
        if now != self.member_of {
            self.member_of.clear();
            self.member_of.extend_from_slice(now);
            self.cgroup = CgroupMemory::of(self.pid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_one_that_has_ended_tells_nothing() {
        let mut own = ProcessMemory::of(std::process::id());
        let before = own.read().unwrap();
        assert!(before.resident_bytes.unwrap() > 0);
        assert!(before.swapped_bytes.is_some());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut of_child = ProcessMemory::of(child.id());
        assert!(of_child.read().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(of_child.read(), None);
        assert_eq!(ProcessMemory::of(child.id()).read(), None);
    }
}
