//! Pointers in position-independent files: their values stand in relocations, and the place itself may hold
//! zero.

use object::{
    LittleEndian, elf,
    elf::{Dyn64, Rela64},
    pod,
    read::elf::{Dyn, ProgramHeader, Rela},
};

use super::{ElfAddress, Image, bytes::u64_at};

/// The relative relocations of one file, found through its dynamic segment, so that section headers aren't
/// needed.
///
/// Packed ones (`DT_RELR`) need no reading: with them the place holds the value itself.
#[derive(Clone, Copy)]
pub(super) struct RelativeRelocations<'image> {
    entries: &'image [Rela64<LittleEndian>],
    kind: u32,
}

impl<'image> RelativeRelocations<'image> {
    /// Reads the table. A file without one, or with a damaged one, has no relocations.
    pub(super) fn read(image: &'image Image) -> RelativeRelocations<'image> {
        let entries = entries(image).unwrap_or_default();
        RelativeRelocations { entries, kind: image.machine().relative_relocation() }
    }

    /// The places that hold `value` once the file is loaded at its own addresses.
    pub(super) fn places_of(self, value: ElfAddress) -> impl Iterator<Item = ElfAddress> + 'image {
        self.relative().filter(move |(_, written)| *written == value).map(|(place, _)| place)
    }

    /// The `COUNT` pointers from `place` on: relocated ones first, and what the file holds for the others.
    pub(super) fn pointers<const COUNT: usize>(
        self,
        image: &Image,
        place: ElfAddress,
    ) -> Option<[u64; COUNT]> {
        let bytes = image.bytes(place, COUNT * 8)?;
        let mut pointers = [0; COUNT];
        for (index, pointer) in pointers.iter_mut().enumerate() {
            *pointer = u64_at(bytes, index * 8)?;
        }
        for (at, value) in self.relative() {
            let distance = at.0.wrapping_sub(place.0);
            if distance.is_multiple_of(8)
                && let Some(pointer) = pointers.get_mut(usize::try_from(distance / 8).ok()?)
            {
                *pointer = value.0;
            }
        }
        Some(pointers)
    }

    fn relative(self) -> impl Iterator<Item = (ElfAddress, ElfAddress)> + 'image {
        let relative =
            self.entries.iter().filter(move |entry| entry.r_type(LittleEndian, false).0 == self.kind);
        relative.map(|entry| {
            let value = entry.r_addend(LittleEndian).cast_unsigned();
            (ElfAddress(entry.r_offset(LittleEndian)), ElfAddress(value))
        })
    }
}

/// The bytes from `start` to the end of its load segment, at most `most_bytes`, as they are once the file is loaded at its
/// own addresses: relative relocations are applied. `None`: the file does not hold that address.
pub fn relocated_bytes(image: &Image, start: ElfAddress, most_bytes: usize) -> Option<Vec<u8>> {
    let held = image.bytes_from(start)?;
    let mut bytes = held.get(..most_bytes).unwrap_or(held).to_vec();
    for (at, value) in RelativeRelocations::read(image).relative() {
        let place = at.0.checked_sub(start.0).and_then(|distance| usize::try_from(distance).ok());
        if let Some(pointer) = place.and_then(|place| bytes.get_mut(place..)?.first_chunk_mut::<8>()) {
            *pointer = value.0.to_le_bytes();
        }
    }
    Some(bytes)
}

fn entries(image: &Image) -> Option<&[Rela64<LittleEndian>]> {
    let dynamic = image
        .program_headers()
        .iter()
        .find_map(|header| header.dynamic(LittleEndian, image.file_bytes()).ok().flatten())?;
    let value_of = |tag: elf::DynamicTag| {
        let entry = dynamic.iter().find(|entry: &&Dyn64<LittleEndian>| entry.d_tag(LittleEndian) == tag)?;
        Some(entry.d_val(LittleEndian))
    };
    let size_bytes = usize::try_from(value_of(elf::DT_RELASZ)?).ok()?;
    let bytes = image.bytes(ElfAddress(value_of(elf::DT_RELA)?), size_bytes)?;
    pod::slice_from_all_bytes(bytes).ok()
}
