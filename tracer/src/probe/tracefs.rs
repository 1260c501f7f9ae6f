//! Access to tracefs, mounted or not.
//!
//! Where it is not mounted, an own instance is mounted detached from every directory: it shows up nowhere, and is
//! gone with its descriptor, `kill -9` included (fsopen(2), Linux 5.2).

use std::{
    fs::File,
    io::{self, Read as _},
    os::fd::OwnedFd,
};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen},
};
use thiserror::Error;

/// Where it is mounted on most systems.
const MOUNT_POINTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// An open tracefs.
#[derive(Debug)]
pub struct Tracefs {
    root: OwnedFd,
    origin: TracefsOrigin,
}

/// Where a tracefs was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracefsOrigin {
    /// Mounted there already.
    Mounted(&'static str),
    /// Mounted by pauselens for itself, visible to nobody else.
    Private,
}

/// Tracefs can't be had.
#[derive(Debug, Error)]
#[error(
    "tracefs is needed for the tracepoints' numbers and field offsets; it can't be opened at /sys/kernel/tracing, and \
     mounting a private one failed ({doing}: {source}); tracing needs root, or CAP_BPF, CAP_PERFMON and \
     CAP_SYS_ADMIN; `pauselens check` tests each need by itself"
)]
pub struct TracefsError {
    doing: &'static str,
    source: io::Error,
}

impl Tracefs {
    /// Opens the mounted one, or mounts a private one.
    ///
    /// # Errors
    /// When neither is possible: not root, no tracefs in the kernel, or lockdown.
    pub fn open() -> Result<Self, TracefsError> {
        for mount_point in MOUNT_POINTS {
            if let Ok(root) = openat(CWD, mount_point, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
                && openat(&root, "events", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).is_ok()
            {
                return Ok(Self { root, origin: TracefsOrigin::Mounted(mount_point) });
            }
        }
        let failed = |doing| move |errno: rustix::io::Errno| TracefsError { doing, source: errno.into() };
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).map_err(failed("fsopen"))?;
        fsconfig_create(&context).map_err(failed("fsconfig"))?;
        let root = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_RDONLY)
            .map_err(failed("fsmount"))?;
        Ok(Self { root, origin: TracefsOrigin::Private })
    }

    /// Where it was found.
    #[must_use]
    pub fn origin(&self) -> TracefsOrigin {
        self.origin
    }

    /// Reads a file of an event, such as `id` or `format` of `sched:sched_process_exit`.
    ///
    /// # Errors
    /// When the event doesn't exist on this kernel, or may not be read.
    pub fn read_event_file(&self, event: &str, file: &str) -> io::Result<String> {
        let path = format!("events/{}/{file}", event.replace(':', "/"));
        let descriptor = openat(&self.root, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut text = String::new();
        File::from(descriptor).read_to_string(&mut text)?;
        Ok(text)
    }
}
