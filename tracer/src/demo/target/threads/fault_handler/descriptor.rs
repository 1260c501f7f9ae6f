//! The userfaultfd: opened, told which pages are its own, told to fill one.

use std::os::fd::OwnedFd;

use anyhow::{Context as _, Result, anyhow};
use rustix::{
    io::Errno,
    mm::{UserfaultfdFlags, userfaultfd},
};

use super::{super::super::memory::Pages, abi};

/// Opens a userfaultfd and agrees on the interface.
pub(in super::super::super) fn open() -> Result<OwnedFd> {
    // Without the second, poll reports an error.
    let flags = UserfaultfdFlags::CLOEXEC | UserfaultfdFlags::NONBLOCK;
    // SAFETY: the descriptor is registered only for regions of the demo's own.
    let opened = unsafe { userfaultfd(flags | user_mode_only()) }
        // Kernels before 5.11 don't know the flag.
        .or_else(|error| match error {
            // SAFETY: as above.
            Errno::INVAL => unsafe { userfaultfd(flags) },
            other => Err(other),
        });
    let userfaults = opened.map_err(|error| {
        anyhow!(
            "userfaultfd failed: {error}. It needs a kernel with CONFIG_USERFAULTFD and the right to use it: run as root"
        )
    })?;
    let mut api = abi::Api { api: abi::VERSION, features: 0, ioctls: 0 };
    abi::call(&userfaults, abi::API, &mut api).context("ioctl UFFDIO_API failed")?;
    Ok(userfaults)
}

/// Faults of the kernel's own are not asked for: so it works without privileges too.
fn user_mode_only() -> UserfaultfdFlags {
    UserfaultfdFlags::from_bits_retain(1)
}

/// Faults on missing pages of the run become events.
pub(super) fn register(userfaults: &OwnedFd, pages: Pages) -> Result<()> {
    let mut register = abi::Register {
        start: pages.first() as u64,
        bytes: pages.span_bytes() as u64,
        mode: abi::REGISTER_MISSING,
        ioctls: 0,
    };
    abi::call(userfaults, abi::REGISTER, &mut register).context("ioctl UFFDIO_REGISTER failed")
}

/// Fills the page at that address with the contents, and wakes whoever waits for it.
pub(super) fn copy(userfaults: &OwnedFd, page: u64, contents: &[u8]) -> Result<()> {
    let mut copy = abi::Copy {
        to: page,
        from: contents.as_ptr() as u64,
        bytes: contents.len() as u64,
        mode: 0,
        copied: 0,
    };
    abi::call(userfaults, abi::COPY, &mut copy).context("ioctl UFFDIO_COPY failed")
}
