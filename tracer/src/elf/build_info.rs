//! Which Go version built a file, from the build information that Go's linker leaves in every program.
//!
//! The format is described in Go's own `debug/buildinfo`: a 16-byte-aligned magic string, the pointer size
//! and a byte of flags; since Go 1.18 the version follows at byte 32, with its length before it.

use super::{ElfAddress, Image, pclntab, relocations::RelativeRelocations};

const MAGIC: &[u8] = b"\xff Go buildinf:";
const ALIGNMENT: usize = 16;
const HEADER_BYTES: usize = 32;
/// Flag: numbers are big-endian.
const BIG_ENDIAN: u8 = 1;
/// Flag: the strings follow the header. Without it (before Go 1.18) the header holds pointers to them.
const INLINE: u8 = 2;
/// Longer than any version string; a length above it is damage.
const LONGEST_VERSION_BYTES: usize = 256;

/// What a file says about the Go toolchain that built it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GoBuild {
    /// The toolchain's version as it calls itself: `go1.27.3`, `devel go1.28-0123456789 …`, `go1.24.1
    /// X:synctest`.
    pub version: String,
}

/// The Go version that built the file; `None` if it holds no build information, or that is damaged. Stripped
/// files have it too.
pub fn go_version(image: &Image) -> Option<GoBuild> {
    let (address, bytes) = build_info(image)?;
    let flags = *bytes.get(15)?;
    let version = match flags & (INLINE | BIG_ENDIAN) {
        INLINE => inline_version(bytes)?,
        0 => pointed_version(image, address)?,
        _ => return None,
    };
    let version = str::from_utf8(version).ok()?.trim();
    let printable = !version.is_empty() && !version.chars().any(char::is_control);
    printable.then(|| GoBuild { version: version.to_owned() })
}

/// Whether the file holds Go code: it has Go's build information or Go's function table, whatever its name or
/// symbols.
///
/// A return probe must never be placed in such a file. A function table that is damaged counts as well.
pub fn holds_go_code(image: &Image) -> bool {
    has_build_info(image) || !matches!(pclntab::locate(image), Err(pclntab::PclntabError::NotFound))
}

/// Whether the file holds Go's build information, even if its version can't be read.
pub(crate) fn has_build_info(image: &Image) -> bool {
    build_info(image).is_some()
}

/// Finds the magic string: in its own section or, if there is none of that name, in the writable segments, so that
/// damaged or missing section headers don't make a Go program pass for another one.
fn build_info(image: &Image) -> Option<(ElfAddress, &[u8])> {
    let own_section = image.section(".go.buildinfo").and_then(|section| {
        let bytes = image.bytes(section.address, usize::try_from(section.size_bytes).ok()?)?;
        marked(section.address, bytes)
    });
    let anywhere =
        || image.loaded(|segment| segment.writable).find_map(|(address, bytes)| marked(address, bytes));
    own_section.or_else(anywhere)
}

fn marked(address: ElfAddress, bytes: &[u8]) -> Option<(ElfAddress, &[u8])> {
    let misaligned = usize::try_from(address.0 % ALIGNMENT as u64).ok()?;
    let first = (ALIGNMENT - misaligned) % ALIGNMENT;
    let at = (first..bytes.len()).step_by(ALIGNMENT).find(|at| bytes[*at..].starts_with(MAGIC))?;
    Some((ElfAddress(address.0 + at as u64), &bytes[at..]))
}

fn inline_version(bytes: &[u8]) -> Option<&[u8]> {
    let (length, length_bytes) = variable_length_number(bytes.get(HEADER_BYTES..)?)?;
    let start = HEADER_BYTES + length_bytes;
    let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_VERSION_BYTES)?;
    bytes.get(start..start.checked_add(length)?)
}

/// Before Go 1.18: byte 16 points to a Go string, which is a pointer and a length.
fn pointed_version(image: &Image, build_info: ElfAddress) -> Option<&[u8]> {
    let relocations = RelativeRelocations::read(image);
    let [string] = relocations.pointers(image, ElfAddress(build_info.0.checked_add(16)?))?;
    let [text, length] = relocations.pointers(image, ElfAddress(string))?;
    let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_VERSION_BYTES)?;
    image.bytes(ElfAddress(text), length)
}

/// An unsigned LEB128 number and how many bytes it takes.
fn variable_length_number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inline(length: &[u8], rest: &[u8]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[8, INLINE], &[0; 16]].concat();
        bytes.extend_from_slice(length);
        bytes.extend_from_slice(rest);
        bytes
    }

    #[test]
    fn reads_the_version_behind_its_length() {
        assert_eq!(inline_version(&inline(&[8], b"go1.27.3rest")), Some(&b"go1.27.3"[..]));
        assert_eq!(inline_version(&inline(&[0x88, 0], b"go1.27.3")), Some(&b"go1.27.3"[..]));
    }

    #[test]
    fn refuses_a_damaged_length() {
        for length in [&[9][..], &[0xff; 9], &[0xff, 0xff, 0x7f], &[]] {
            assert_eq!(inline_version(&inline(length, b"go1.27.3")), None, "{length:?}");
        }
        assert_eq!(inline_version(&inline(&[8], b"")), None);
        assert_eq!(inline_version(MAGIC), None);
    }

    #[test]
    fn finds_the_magic_string_at_aligned_addresses_only() {
        let mut bytes = vec![0; 100];
        bytes[40..40 + MAGIC.len()].copy_from_slice(MAGIC);
        assert_eq!(marked(ElfAddress(0x1008), &bytes).map(|(at, _)| at), Some(ElfAddress(0x1030)));
        assert_eq!(marked(ElfAddress(0x1000), &bytes), None);
        assert_eq!(marked(ElfAddress(0x1008), &[]), None);
    }
}
