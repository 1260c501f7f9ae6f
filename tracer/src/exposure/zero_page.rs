//! The frame of the page of zeros, which the kernel maps wherever memory is read that was never written.

use std::{fs::File, os::unix::fs::FileExt as _};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Finds it by reading a page of our own. `None`: frames can't be seen (that needs CAP_SYS_ADMIN).
pub(super) fn zero_frame() -> Option<u64> {
    let bytes = rustix::param::page_size();
    // SAFETY: a new mapping at a place of the kernel's choice.
    let start =
        unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::PRIVATE) }.ok()?;
    // SAFETY: our own mapping; a kernel without huge pages refuses, and needs no telling.
    let _ = unsafe { madvise(start, bytes, Advice::LinuxNoHugepage) };
    // SAFETY: inside our own mapping, which is readable.
    unsafe { start.cast::<u8>().read_volatile() };
    let frame = frame_of(start as u64 / bytes as u64);
    // SAFETY: our own mapping, to which nothing points any more.
    let _ = unsafe { munmap(start, bytes) };
    frame
}

fn frame_of(page: u64) -> Option<u64> {
    let mut entry = [0; 8];
    File::open("/proc/self/pagemap").ok()?.read_exact_at(&mut entry, page * 8).ok()?;
    let frame = u64::from_ne_bytes(entry) & ((1 << 55) - 1);
    (frame != 0).then_some(frame)
}
