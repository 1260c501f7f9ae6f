//! The sections of the debug information, decompressed where they have to be.

use std::{borrow::Cow, io::Read as _};

use object::{LittleEndian, elf, read::elf::SectionHeader as _};

use super::DebugInfoError;
use crate::elf::Image;

/// A larger section is not read. Programs of a hundred megabytes have less than half of it.
const MOST_BYTES: u64 = 1 << 30;

/// A file's debug information on data.
#[derive(Debug)]
pub struct DebugInfo<'image> {
    pub(super) info: Cow<'image, [u8]>,
    pub(super) abbreviations: Cow<'image, [u8]>,
    pub(super) strings: Cow<'image, [u8]>,
    pub(super) line_strings: Cow<'image, [u8]>,
}

impl<'image> DebugInfo<'image> {
    /// Reads the sections.
    ///
    /// # Errors
    /// There are none, they are too large, or they can't be decompressed.
    pub fn read(image: &'image Image) -> Result<Self, DebugInfoError> {
        Ok(Self {
            info: section(image, ".debug_info")?.ok_or(DebugInfoError::Absent)?,
            abbreviations: section(image, ".debug_abbrev")?.ok_or(DebugInfoError::Absent)?,
            strings: section(image, ".debug_str")?.unwrap_or_default(),
            line_strings: section(image, ".debug_line_str")?.unwrap_or_default(),
        })
    }
}

/// A section's bytes. Compressed ones are marked by a flag (ELF's own way), or have `.zdebug_` names and a header of
/// 12 bytes (the GNU way, which Go used up to 1.18).
fn section<'image>(
    image: &'image Image,
    name: &'static str,
) -> Result<Option<Cow<'image, [u8]>>, DebugInfoError> {
    let Some(sections) = image.sections() else { return Ok(None) };
    let data = image.file_bytes();
    let damaged = |what: String| DebugInfoError::Damaged(format!("{name}: {what}"));
    if let Some((_, header)) = sections.section_by_name(LittleEndian, name.as_bytes()) {
        let compressed =
            header.compression(LittleEndian, data).map_err(|error| damaged(error.to_string()))?;
        let Some((compression, offset, size)) = compressed else {
            let bytes = header.data(LittleEndian, data).map_err(|error| damaged(error.to_string()))?;
            return Ok(Some(Cow::Borrowed(bytes)));
        };
        if compression.ch_type.get(LittleEndian) != elf::ELFCOMPRESS_ZLIB {
            let kind = compression.ch_type.get(LittleEndian);
            return Err(damaged(format!("it is compressed in a way that is not known (type {kind})")));
        }
        let bytes = range(data, offset, size).ok_or_else(|| damaged("it reaches past the end".to_owned()))?;
        return inflated(name, bytes, compression.ch_size.get(LittleEndian)).map(Some);
    }
    let old_name = name.replace(".debug_", ".zdebug_");
    let Some((_, header)) = sections.section_by_name(LittleEndian, old_name.as_bytes()) else {
        return Ok(None);
    };
    let bytes = header.data(LittleEndian, data).map_err(|error| damaged(error.to_string()))?;
    let size = bytes.strip_prefix(b"ZLIB").and_then(|rest| rest.first_chunk::<8>());
    let size = size.ok_or_else(|| damaged("it has no header".to_owned()))?;
    inflated(name, &bytes[12..], u64::from_be_bytes(*size)).map(Some)
}

fn range(data: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let offset = usize::try_from(offset).ok()?;
    data.get(offset..offset.checked_add(usize::try_from(size).ok()?)?)
}

fn inflated(name: &'static str, bytes: &[u8], size_bytes: u64) -> Result<Cow<'static, [u8]>, DebugInfoError> {
    if size_bytes > MOST_BYTES {
        return Err(DebugInfoError::TooLarge { section: name, bytes: size_bytes, most: MOST_BYTES });
    }
    let mut inflated = Vec::new();
    // A header that lies about the size must not take memory that is not needed.
    let read = flate2::read::ZlibDecoder::new(bytes).take(size_bytes).read_to_end(&mut inflated);
    match read {
        Ok(read) if read as u64 == size_bytes => Ok(Cow::Owned(inflated)),
        Ok(read) => Err(DebugInfoError::Damaged(format!("{name}: {read} of {size_bytes} bytes are there"))),
        Err(error) => Err(DebugInfoError::Damaged(format!("{name}: {error}"))),
    }
}
