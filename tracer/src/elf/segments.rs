//! Translates between ELF addresses and file offsets through a file's load segments.
//!
//! The file's type says nothing about this: a position-independent Go program is `ET_DYN` and yet based at
//! 0x400000, and `-Wl,--section-start` gives an `ET_EXEC` any distance between the two.

use super::{ElfAddress, FileOffset};

/// One `PT_LOAD`: `file_bytes` bytes of the file from `offset` on appear at `address`.
#[derive(Clone, Debug)]
pub(super) struct LoadSegment {
    pub(super) address: u64,
    pub(super) offset: u64,
    /// Never reaches past the end of the file, whatever the header says.
    pub(super) file_bytes: u64,
    pub(super) executable: bool,
    pub(super) writable: bool,
}

impl LoadSegment {
    /// Cuts the segment off where the file ends. `None` if no byte of it is in the file or its addresses wrap
    /// around.
    pub(super) fn within(mut self, file_length: u64) -> Option<LoadSegment> {
        self.file_bytes = self.file_bytes.min(file_length.checked_sub(self.offset)?);
        self.address.checked_add(self.file_bytes)?;
        (self.file_bytes > 0).then_some(self)
    }

    fn offset_of(&self, address: ElfAddress) -> Option<u64> {
        let distance = address.0.checked_sub(self.address)?;
        (distance < self.file_bytes).then(|| self.offset + distance)
    }

    fn address_of(&self, offset: FileOffset) -> Option<u64> {
        let distance = offset.0.checked_sub(self.offset)?;
        (distance < self.file_bytes).then(|| self.address + distance)
    }
}

/// All load segments that have bytes in the file.
#[derive(Clone, Debug)]
pub(super) struct LoadSegments(pub(super) Vec<LoadSegment>);

impl LoadSegments {
    /// The file offset of the byte that is loaded at `address`; `None` if no file byte is (gaps, zeroed
    /// memory).
    pub(super) fn file_offset(&self, address: ElfAddress) -> Option<FileOffset> {
        self.0.iter().find_map(|segment| segment.offset_of(address)).map(FileOffset)
    }

    /// The address at which the byte at `offset` is loaded. Where two segments hold the same byte, the
    /// executable one decides, since probes are set on code.
    pub(super) fn elf_address(&self, offset: FileOffset) -> Option<ElfAddress> {
        let of_kind = |executable| {
            let mut alike = self.0.iter().filter(move |segment| segment.executable == executable);
            alike.find_map(|segment| segment.address_of(offset))
        };
        of_kind(true).or_else(|| of_kind(false)).map(ElfAddress)
    }

    /// Whether `address` is code that comes from the file.
    pub(super) fn is_executable(&self, address: ElfAddress) -> bool {
        self.0.iter().any(|segment| segment.executable && segment.offset_of(address).is_some())
    }

    /// The file offset of `address` and how many bytes of the file follow it in the same segment, itself
    /// included.
    pub(super) fn run_from(&self, address: ElfAddress) -> Option<(u64, u64)> {
        self.0.iter().find_map(|segment| {
            let offset = segment.offset_of(address)?;
            Some((offset, segment.file_bytes - (offset - segment.offset)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(address: u64, offset: u64, file_bytes: u64, executable: bool) -> LoadSegment {
        LoadSegment { address, offset, file_bytes, executable, writable: !executable }
    }

    #[test]
    fn translates_within_file_bytes_only() {
        let segments = LoadSegments(vec![
            segment(0x900000, 0x1000, 0x200, true),
            segment(0xa00000, 0x1200, 0x10, false),
        ]);
        assert_eq!(segments.file_offset(ElfAddress(0x9001ff)), Some(FileOffset(0x11ff)));
        assert_eq!(segments.file_offset(ElfAddress(0x900200)), None);
        assert_eq!(segments.file_offset(ElfAddress(0x8fffff)), None);
        assert_eq!(segments.elf_address(FileOffset(0x1200)), Some(ElfAddress(0xa00000)));
        assert_eq!(segments.elf_address(FileOffset(0x1210)), None);
        assert!(segments.is_executable(ElfAddress(0x900000)));
        assert!(!segments.is_executable(ElfAddress(0xa00000)));
        assert_eq!(segments.run_from(ElfAddress(0x900100)), Some((0x1100, 0x100)));
    }

    #[test]
    fn the_executable_segment_decides_for_a_shared_byte() {
        let segments =
            LoadSegments(vec![segment(0x1000, 0, 0x100, false), segment(0x402000, 0x80, 0x100, true)]);
        assert_eq!(segments.elf_address(FileOffset(0x90)), Some(ElfAddress(0x402010)));
        assert_eq!(segments.elf_address(FileOffset(0x10)), Some(ElfAddress(0x1010)));
    }

    #[test]
    fn is_cut_off_at_the_end_of_the_file() {
        let cut = segment(0x1000, 0x100, 0x1000, true).within(0x180).map(|segment| segment.file_bytes);
        assert_eq!(cut, Some(0x80));
        assert!(segment(0x1000, 0x100, 0x1000, true).within(0x100).is_none());
        assert!(segment(0x1000, 0x200, 0x1000, true).within(0x100).is_none());
        assert!(segment(u64::MAX - 3, 0, 0x10, true).within(0x100).is_none());
        assert!(segment(0x1000, u64::MAX, u64::MAX, true).within(0x100).is_none());
    }
}
