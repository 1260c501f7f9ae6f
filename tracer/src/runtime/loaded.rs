//! Where the program's file is in the process.

use std::{ffi::OsStr, ops::Range, os::unix::fs::MetadataExt as _};

use crate::{
    elf::{ElfAddress, Image},
    target::Mapping,
};

/// The program as it is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Runtime address minus ELF address.
    bias: u64,
}

impl Loaded {
    /// Finds the program's mappings by its path as the process sees it, or by its inode. `None`: it is not mapped, or its
    /// mappings disagree.
    ///
    /// The path is escaped in the map when it holds odd bytes; the inode is another one there than elsewhere on some
    /// stacked file systems. One of them is right.
    #[must_use]
    pub fn find(image: &Image, path: &OsStr, mappings: &[Mapping]) -> Option<Self> {
        let inode = image.file().metadata().ok()?.ino();
        let own = mappings.iter().filter(|mapping| mapping.is_file());
        let own = own.filter(|mapping| mapping.name == path || mapping.file.inode == inode);
        // Code alone: a page of the file that two segments share is mapped twice.
        own.filter(|mapping| mapping.executable).find_map(|mapping| {
            let held = mapping.offset_bytes..mapping.offset_bytes.checked_add(mapping.end - mapping.start)?;
            let (offset, elf) = image.code().find(|(offset, _)| held.contains(&offset.0))?;
            let address = mapping.start + (offset.0 - mapping.offset_bytes);
            Some(Self { bias: address.wrapping_sub(elf.0) })
        })
    }

    /// The runtime address of an ELF address.
    #[must_use]
    pub fn address(self, elf: ElfAddress) -> u64 {
        elf.0.wrapping_add(self.bias)
    }

    /// The runtime addresses of ranges of ELF addresses.
    #[must_use]
    pub fn ranges(self, elf: &[Range<ElfAddress>]) -> Vec<Range<u64>> {
        elf.iter().map(|range| self.address(range.start)..self.address(range.end)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Target, read_maps};

    #[test]
    fn our_own_data_is_where_the_file_says() {
        static ZEROED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let us = Target::open(std::process::id()).unwrap();
        let image = Image::open(us.open_executable().unwrap(), us.exe().to_owned()).unwrap();
        let mappings = read_maps(us.pid()).unwrap();
        let loaded = Loaded::find(&image, us.exe().as_os_str(), &mappings).unwrap();
        let zeroed = loaded.ranges(&image.zeroed());
        let address = std::ptr::from_ref(&ZEROED) as u64;
        assert!(zeroed.iter().any(|range| range.contains(&address)), "{address:#x} {zeroed:x?}");
        let code = our_own_data_is_where_the_file_says as fn() as usize as u64;
        assert!(!zeroed.iter().any(|range| range.contains(&code)));
    }
}
