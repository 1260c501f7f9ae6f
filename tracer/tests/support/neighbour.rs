//! For tests: a process that does nothing but use a CPU.

use std::{
    os::unix::fs::symlink,
    process::{Child, Command, Stdio},
};

use rustix::{
    process::{Pid, setpriority_process},
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};
use tempfile::TempDir;

/// What it is called.
pub(crate) const NAME: &str = "test-neighbour";

/// The process: killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Neighbour {
    child: Child,
    _folder: TempDir,
}

impl Neighbour {
    /// Starts it on that CPU, where it gets three times as much of it as another busy process.
    pub(crate) fn start(cpu: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder for a link");
        // A process has the name of the file that it was started as.
        let shell = folder.path().join(NAME);
        symlink("/bin/sh", &shell).expect("a link can be made");
        let mut command = Command::new(shell);
        command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        let child = command.spawn().expect("there is a shell");
        let pid = Pid::from_child(&child);
        let neighbour = Self { child, _folder: folder };
        pin(pid, cpu);
        setpriority_process(Some(pid), -5).expect("root may do this");
        neighbour
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has a process of one thread run on that CPU only; threads that it starts do the same.
pub(crate) fn pin(pid: Pid, cpu: usize) {
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(Some(pid), &only).unwrap_or_else(|error| panic!("can't pin {pid:?} to {cpu}: {error}"));
}

/// A CPU that this process may run on.
pub(crate) fn some_cpu() -> usize {
    let allowed = sched_getaffinity(None).expect("one's own can always be read");
    (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu)).expect("there is one")
}
