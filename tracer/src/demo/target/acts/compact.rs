//! Compaction of the host's memory on the driver's own thread, by writing to `/proc/sys/vm/compact_memory`.

use std::{
    cell::Cell,
    fs::{File, OpenOptions},
    io,
    os::fd::{AsRawFd as _, RawFd},
};

use anyhow::{Context as _, Result};

use super::Act;

/// What starts it. Not there in kernels without compaction.
pub(in super::super) const SWITCH: &str = "/proc/sys/vm/compact_memory";

#[derive(Debug)]
struct Compact {
    switch: File,
    /// The error's number, or 0.
    error: Cell<i32>,
}

pub(super) fn prepare() -> Result<Box<dyn Act>> {
    let switch =
        OpenOptions::new().write(true).open(SWITCH).with_context(|| format!("could not open {SWITCH}"))?;
    Ok(Box::new(Compact { switch, error: Cell::new(0) }))
}

impl Act for Compact {
    fn rehearse(&self) {
        // No such descriptor: the call fails, and its code is there. It would compact all memory a second time.
        demo_compacts_memory(-1);
        self.error.set(0);
    }

    fn perform(&self) {
        self.error.set(demo_compacts_memory(self.switch.as_raw_fd()));
    }

    fn outcome(&self) -> Result<()> {
        match self.error.get() {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error))
                .with_context(|| format!("could not write to {SWITCH}")),
        }
    }
}

/// Returns the error's number, or 0.
#[inline(never)]
fn demo_compacts_memory(switch: RawFd) -> i32 {
    // SAFETY: one byte of a constant is written.
    if unsafe { libc::write(switch, b"1".as_ptr().cast(), 1) } == 1 {
        0
    } else {
        io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
    }
}
