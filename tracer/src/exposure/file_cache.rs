//! Which part of a file is in the page cache.
//!
//! A mapping of our own of the same open file is asked (`mincore(2)`), so the target is not involved and nothing is
//! read. Since Linux 5.2 the kernel answers only who could write the file; others would be told that all is there
//! (`mm/mincore.c`, `can_do_mincore`), so they are told nothing here.

use std::{
    fs::File,
    os::{
        fd::AsRawFd as _,
        unix::fs::{MetadataExt as _, PermissionsExt as _},
    },
    ptr,
};

/// Ranges are asked for in parts of at most this many bytes.
const PART_BYTES: u64 = 256 << 20;

/// How many bytes of `offset..offset + length` are in the page cache. `None`: that can't be told.
pub(super) fn cached_bytes(file: &File, offset: u64, length: u64) -> Option<u64> {
    let page_bytes = rustix::param::page_size() as u64;
    if !may_ask(file) || !offset.is_multiple_of(page_bytes) {
        return None;
    }
    let mut cached = 0;
    let mut at = 0;
    while at < length {
        let part = (length - at).min(PART_BYTES);
        cached += part_cached_bytes(file, offset + at, part, page_bytes)?;
        at += part;
    }
    Some(cached)
}

/// The owner, who may change the file, or root.
fn may_ask(file: &File) -> bool {
    let user = rustix::process::geteuid();
    file.metadata().is_ok_and(|metadata| {
        user.is_root() || (metadata.uid() == user.as_raw() && metadata.permissions().mode() & 0o200 != 0)
    })
}

fn part_cached_bytes(file: &File, offset: u64, length: u64, page_bytes: u64) -> Option<u64> {
    let bytes = usize::try_from(length).ok()?;
    let mut there = vec![0_u8; usize::try_from(length.div_ceil(page_bytes)).ok()?];
    let offset = libc::off_t::try_from(offset).ok()?;
    // SAFETY: a new mapping at a place of the kernel's choice; it is never accessed.
    let address = unsafe {
        libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), offset)
    };
    if address == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the range is the mapping's own, and there is a byte for each of its pages.
    let status = unsafe { libc::mincore(address, bytes, there.as_mut_ptr()) };
    // SAFETY: our own mapping, to which nothing points any more.
    unsafe { libc::munmap(address, bytes) };
    (status == 0).then(|| there.iter().filter(|page| **page & 1 != 0).count() as u64 * page_bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_was_just_written_is_there() {
        let mut file = tempfile::tempfile().unwrap();
        let page = rustix::param::page_size();
        file.write_all(&vec![1; 10 * page]).unwrap();
        assert_eq!(cached_bytes(&file, 0, 10 * page as u64), Some(10 * page as u64));
        assert_eq!(cached_bytes(&file, 4 * page as u64, 2 * page as u64), Some(2 * page as u64));
        assert_eq!(cached_bytes(&file, 1, 1), None);
    }
}
