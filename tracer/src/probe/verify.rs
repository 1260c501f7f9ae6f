//! No probe at an unverified offset: the bytes at each site, as the target has them in memory, must be the file's.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
    sync::Arc,
};

use thiserror::Error;

use crate::{
    elf::{FileOffset, Image, RuntimeAddress},
    runtime::{PauseSites, Site},
    target::{Mapping, Target},
};

/// As many bytes are compared: no probed instruction needs more to be told from another one.
const COMPARED_BYTES: usize = 8;
/// x86-64's breakpoint: another tracer's probe at the same place. Two of them get along.
const BREAKPOINT: u8 = 0xcc;

/// A site can't be trusted.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The file's code is not in memory.
    #[error(
        "{function} (file offset {offset:#x}) is not in any executable mapping of process {pid}: the process has \
         replaced its program since it was read; run the same command again"
    )]
    NotMapped {
        /// The function.
        function: String,
        /// The site.
        offset: FileOffset,
        /// The target.
        pid: u32,
    },
    /// Memory differs from the file.
    #[error(
        "the code of {function} in process {pid} at {address:#x} is not what its file holds (memory {memory:02x?}, \
         file {file:02x?}): no probe is placed there; the program has been packed or patched, or its file written \
         over: start it again from an unchanged file"
    )]
    Differs {
        /// The function.
        function: String,
        /// The target.
        pid: u32,
        /// Where.
        address: RuntimeAddress,
        /// What is in memory.
        memory: Vec<u8>,
        /// What is in the file.
        file: Vec<u8>,
    },
    /// Memory can't be read.
    #[error(
        "the memory of process {pid} can't be read ({source}), so the places of the probes can't be verified; run as \
         root, and see /proc/sys/kernel/yama/ptrace_scope"
    )]
    Unreadable {
        /// The target.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
}

/// Verifies every site.
///
/// # Errors
/// See [`VerifyError`].
pub fn verify_sites(
    target: &Target,
    files: &[Arc<Image>],
    sites: &PauseSites,
    mappings: &[Mapping],
) -> Result<(), VerifyError> {
    let pid = target.pid();
    let unreadable = |source| VerifyError::Unreadable { pid, source };
    let memory = File::open(format!("/proc/{pid}/mem")).map_err(unreadable)?;
    for site in sites.all() {
        let not_mapped =
            || VerifyError::NotMapped { function: site.function.clone(), offset: site.file_offset, pid };
        let image = files.get(site.file).ok_or_else(not_mapped)?;
        let program = Program {
            path: image.shown_as().as_os_str(),
            inode: image.file().metadata().map(|metadata| metadata.ino()).map_err(unreadable)?,
        };
        let address = runtime_address(site, &program, mappings).ok_or_else(not_mapped)?;
        let file = (1..=COMPARED_BYTES).rev().find_map(|length| image.bytes(site.elf_address, length));
        let file = file.unwrap_or_default();
        let mut found = vec![0; file.len()];
        memory.read_exact_at(&mut found, address.0).map_err(unreadable)?;
        if !same_code(&found, file) {
            return Err(VerifyError::Differs {
                function: site.function.clone(),
                pid,
                address,
                memory: found,
                file: file.to_vec(),
            });
        }
    }
    Ok(())
}

/// The mapped program. Its path is escaped in the map when it holds odd bytes; its inode is another one there than
/// elsewhere on some stacked file systems. One of them is right.
struct Program<'a> {
    path: &'a OsStr,
    inode: u64,
}

fn runtime_address(site: &Site, program: &Program<'_>, mappings: &[Mapping]) -> Option<RuntimeAddress> {
    let offset = site.file_offset.0;
    mappings
        .iter()
        .filter(|mapping| mapping.executable && mapping.is_file())
        .filter(|mapping| mapping.name == program.path || mapping.file.inode == program.inode)
        .find(|mapping| {
            let length = mapping.end - mapping.start;
            (mapping.offset_bytes..mapping.offset_bytes + length).contains(&offset)
        })
        .map(|mapping| RuntimeAddress(mapping.start + (offset - mapping.offset_bytes)))
}

/// Bytes that are equal, but for breakpoints of other probes.
fn same_code(memory: &[u8], file: &[u8]) -> bool {
    !file.is_empty() && memory.iter().zip(file).all(|(memory, file)| memory == file || *memory == BREAKPOINT)
}

#[cfg(test)]
mod tests {
    use super::same_code;

    #[test]
    fn another_tracer_s_breakpoint_is_no_difference() {
        assert!(same_code(&[0x55, 0x48], &[0x55, 0x48]));
        assert!(same_code(&[0xcc, 0x48], &[0x55, 0x48]));
        assert!(!same_code(&[0x90, 0x48], &[0x55, 0x48]));
        assert!(!same_code(&[], &[]));
    }
}
