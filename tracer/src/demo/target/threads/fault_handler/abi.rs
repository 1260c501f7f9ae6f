//! The kernel's interface to a userfaultfd: include/uapi/linux/userfaultfd.h.

use std::{
    io,
    os::fd::{AsRawFd as _, OwnedFd},
};

pub(super) const VERSION: u64 = 0xaa;
pub(super) const REGISTER_MISSING: u64 = 1;
pub(super) const EVENT_PAGEFAULT: u8 = 0x12;
/// Size of `struct uffd_msg`.
pub(super) const EVENT_BYTES: usize = 32;
/// Where `arg.pagefault.address` is in it.
pub(super) const EVENT_ADDRESS: usize = 16;

#[repr(C)]
pub(super) struct Api {
    pub(super) api: u64,
    pub(super) features: u64,
    pub(super) ioctls: u64,
}

#[repr(C)]
pub(super) struct Register {
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) mode: u64,
    pub(super) ioctls: u64,
}

#[repr(C)]
pub(super) struct Copy {
    pub(super) to: u64,
    pub(super) from: u64,
    pub(super) bytes: u64,
    pub(super) mode: u64,
    pub(super) copied: i64,
}

pub(super) const API: u64 = number::<Api>(0x3f);
pub(super) const REGISTER: u64 = number::<Register>(0x00);
pub(super) const COPY: u64 = number::<Copy>(0x03);

/// `_IOWR(0xaa, command, struct)`.
const fn number<Argument>(command: u64) -> u64 {
    3 << 30 | (size_of::<Argument>() as u64) << 16 | 0xaa << 8 | command
}

/// The argument's type is the one that the request number was made from.
pub(super) fn call<Argument>(userfaults: &OwnedFd, request: u64, argument: &mut Argument) -> io::Result<()> {
    // SAFETY: the argument is valid for reads and writes, of the size that the request number states; the ranges in
    // it are regions of the demo's own.
    let status = unsafe { libc::ioctl(userfaults.as_raw_fd(), request as _, &raw mut *argument) };
    if status != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
