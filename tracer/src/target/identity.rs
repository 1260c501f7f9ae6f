//! Which process it is: its id together with its start time, since ids are used again.

use std::{
    fs::{self, File},
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::PathBuf,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use thiserror::Error;

use super::{cgroup::Placement, stat::parse_stat};

/// A living process.
#[derive(Debug)]
pub struct Target {
    pid: u32,
    start_ticks: u64,
    pidfd: OwnedFd,
    exe: PathBuf,
    pid_in_namespace: Option<u32>,
    placement: Placement,
}

/// Why a process can't be a target.
#[derive(Debug, Error)]
pub enum TargetError {
    /// No process has the id.
    #[error("there is no process {pid}; `pgrep -a NAME` or `ps -e` shows the ones that run")]
    Gone {
        /// The id.
        pid: u32,
    },
    /// The process ended, and its parent has not yet collected it.
    #[error("process {pid} has already ended (it is a zombie); `ps -e` shows the ones that run")]
    Zombie {
        /// The id.
        pid: u32,
    },
    /// A thread's id was given.
    #[error("{pid} is a thread of process {process}; use `--pid {process}`")]
    Thread {
        /// The id given.
        pid: u32,
        /// The process that it belongs to.
        process: u32,
    },
    /// It is a kernel thread.
    #[error(
        "process {pid} ({name}) is a kernel thread: it runs no program of its own, so it has no runtime whose \
         pauses could be traced; give the id of a user process"
    )]
    KernelThread {
        /// The id.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// It belongs to somebody else.
    #[error(
        "process {pid} belongs to user id {owner} and can't be examined as user id {own}; run pauselens as root: \
         `sudo pauselens attach --pid {pid}`"
    )]
    NotPermitted {
        /// The id.
        pid: u32,
        /// The owner's user id.
        owner: String,
        /// Our own user id.
        own: u32,
    },
    /// Something else went wrong.
    #[error("process {pid} can't be examined: {what}: {source}; `pauselens check --pid {pid}` looks closer")]
    Unreadable {
        /// The id.
        pid: u32,
        /// What was being read.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Target {
    /// Looks at the process with this id.
    ///
    /// # Errors
    /// See [`TargetError`].
    pub fn open(pid: u32) -> Result<Self, TargetError> {
        let gone = || TargetError::Gone { pid };
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).map_err(|_| gone())?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if let Some(process) = field("Tgid:").and_then(|value| value.parse().ok()).filter(|id| *id != pid) {
            return Err(TargetError::Thread { pid, process });
        }
        let pidfd = pidfd_open(raw, PidfdFlags::empty()).map_err(|errno| {
            if errno == rustix::io::Errno::SRCH {
                gone()
            } else {
                TargetError::Unreadable { pid, what: "pidfd_open", source: errno.into() }
            }
        })?;
        // The start time is read after the descriptor was opened: if the process that the descriptor stands for
        // is still alive, then the time is that process's.
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).map_err(|_| gone())?;
        let stat = parse_stat(&line).ok_or_else(|| TargetError::Unreadable {
            pid,
            what: "/proc/PID/stat",
            source: io::Error::other("not of the known form"),
        })?;
        if matches!(stat.state, 'Z' | 'X') {
            return Err(TargetError::Zombie { pid });
        }
        let exe = match fs::read_link(format!("/proc/{pid}/exe")) {
            Ok(exe) => exe,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = field("Name:").unwrap_or("?").to_owned();
                return Err(TargetError::KernelThread { pid, name });
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let owner = field("Uid:").and_then(|ids| ids.split_ascii_whitespace().next()).unwrap_or("?");
                let own = rustix::process::geteuid().as_raw();
                return Err(TargetError::NotPermitted { pid, owner: owner.to_owned(), own });
            }
            Err(source) => return Err(TargetError::Unreadable { pid, what: "/proc/PID/exe", source }),
        };
        // From the tracer's pid namespace to the innermost one.
        let innermost = field("NSpid:").and_then(|ids| ids.split_ascii_whitespace().last()?.parse().ok());
        let pid_in_namespace = innermost.filter(|own| *own != pid);
        let placement = Placement::of(pid);
        Ok(Self { pid, start_ticks: stat.start_ticks, pidfd, exe, pid_in_namespace, placement })
    }

    /// Whether there is a process of this id now; a zombie is one.
    #[must_use]
    pub fn exists(pid: u32) -> bool {
        std::path::Path::new(&format!("/proc/{pid}")).exists()
    }

    /// The process id in the tracer's pid namespace.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The executable's path as the kernel shows it: the target's own view, ` (deleted)` behind it when it is.
    #[must_use]
    pub fn exe(&self) -> &std::path::Path {
        &self.exe
    }

    /// The file name of the executable, for people.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.exe.file_name().unwrap_or_default().to_string_lossy();
        name.strip_suffix(" (deleted)").unwrap_or(&name).to_owned()
    }

    /// The process id in the process's own pid namespace, when it is another one there.
    #[must_use]
    pub fn pid_in_namespace(&self) -> Option<u32> {
        self.pid_in_namespace
    }

    /// The container or unit that the process is of, as far as its cgroup tells.
    #[must_use]
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// When the process started, `CLOCK_MONOTONIC` in ns, to within a clock tick (10 ms). `None` when that can't be told.
    #[must_use]
    pub fn started_ns(&self) -> Option<u64> {
        // The kernel counts from boot, time in suspend included.
        let boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let boot_ns = u64::try_from(boot.tv_sec).ok()? * 1_000_000_000 + u64::try_from(boot.tv_nsec).ok()?;
        let suspended_ns = boot_ns.saturating_sub(crate::clock::monotonic_ns());
        let started_ns =
            self.start_ticks.checked_mul(1_000_000_000 / rustix::param::clock_ticks_per_second())?;
        started_ns.checked_sub(suspended_ns)
    }

    /// Opens the executable that the process runs, whatever has happened to its path since.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn open_executable(&self) -> Result<File, TargetError> {
        File::open(format!("/proc/{}/exe", self.pid)).map_err(|source| TargetError::Unreadable {
            pid: self.pid,
            what: "/proc/PID/exe",
            source,
        })
    }

    /// Whether the process runs another program by now than the open file. `false` also when it has ended.
    #[must_use]
    pub fn has_replaced(&self, program: &File) -> bool {
        let file_of = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let now = fs::metadata(format!("/proc/{}/exe", self.pid)).map(file_of);
        matches!((now, program.metadata().map(file_of)), (Ok(now), Ok(then)) if now != then)
    }

    /// Whether the process has ended, whoever has its id now.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        has_ended(self.pidfd.as_fd())
    }

    /// Whether the process still lives, and is still the same one.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let line = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        parse_stat(&line)
            .is_some_and(|stat| stat.start_ticks == self.start_ticks && !matches!(stat.state, 'Z' | 'X'))
    }
}

/// Whether the process that a descriptor of it stands for has ended.
#[must_use]
pub fn has_ended(pidfd: BorrowedFd<'_>) -> bool {
    let mut ended = [PollFd::from_borrowed_fd(pidfd, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut ended, Some(&at_once)).is_ok_and(|ready| ready > 0)
}

impl AsFd for Target {
    /// The process's descriptor, readable once it has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_alive_and_run_our_own_file() {
        let us = Target::open(std::process::id()).expect("ourselves");
        assert!(us.is_alive());
        assert_eq!(us.exe(), std::env::current_exe().expect("our own path"));
    }

    #[test]
    fn another_program_is_noticed() {
        let us = Target::open(std::process::id()).expect("ourselves");
        assert!(!us.has_replaced(&us.open_executable().expect("our own file")));
        assert!(us.has_replaced(&File::open("/bin/sh").expect("a shell")));
    }

    #[test]
    fn each_unusable_id_has_its_own_message() {
        // Larger than any pid_max (2^22).
        assert!(matches!(Target::open(1 << 23), Err(TargetError::Gone { .. })));
        assert!(matches!(Target::open(0), Err(TargetError::Gone { .. })));
        assert!(matches!(Target::open(u32::MAX), Err(TargetError::Gone { .. })));
        let mut child = std::process::Command::new("true").spawn().expect("a child");
        // Wait for its end without collecting it.
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).expect("its descriptor");
        let mut wait = [PollFd::new(&pidfd, PollFlags::IN)];
        poll(&mut wait, None).expect("poll");
        assert!(matches!(Target::open(child.id()), Err(TargetError::Zombie { .. })));
        child.wait().expect("collected");
        let (send, receive) = std::sync::mpsc::channel();
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            send.send(rustix::thread::gettid()).expect("main is there");
            let _ = wait.recv();
        });
        let tid = receive.recv().expect("an id").as_raw_nonzero().get();
        let error = Target::open(u32::try_from(tid).expect("positive")).expect_err("a thread");
        assert!(matches!(error, TargetError::Thread { process, .. } if process == std::process::id()));
        drop(done);
        thread.join().expect("ended");
    }
}
