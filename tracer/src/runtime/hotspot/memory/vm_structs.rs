//! The table of fields that a libjvm gives out.
//!
//! Names, and the addresses of static fields, are in the file (as relocations): the process need not have touched them. How
//! far a field is from the begin of its object, most builds work out when the library is loaded, so that number is read from
//! the process.

use std::collections::HashMap;

use crate::elf::{ElfAddress, Image, find_variables, relocated_bytes};

/// The library's variable that points at the table.
const TABLE: &str = "gHotSpotVMStructs";
/// More than the table of any version, in bytes: those of 8 to 25 have 588 to 837 entries.
const MOST_BYTES: usize = 1 << 20;
/// Longer than any name in it.
const MOST_NAME_BYTES: usize = 256;

/// An entry, and where in it the type's and the field's name, whether it is static, the offset and the address are (JDK
/// `src/hotspot/share/runtime/vmStructs.hpp`, `VMStructEntry`; the same in 8 to 25).
const ENTRY_BYTES: usize = 48;
const TYPE_NAME: usize = 0;
const FIELD_NAME: usize = 8;
const IS_STATIC: usize = 24;
const OFFSET: usize = 32;
const ADDRESS: usize = 40;

/// What the file tells of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The field is at this address.
    Static(ElfAddress),
    /// How far it is from the begin of its object stands at this address.
    Offset(ElfAddress),
}

/// All fields of the table, by type and name.
#[derive(Debug, Default)]
pub(super) struct VmStructs {
    fields: HashMap<String, Place>,
}

/// Why a field's place is not known.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(in crate::runtime) enum NoField {
    #[error("the library gives out no table of its fields (the variable {TABLE})")]
    NoTable,
    #[error("this version has no {kind} {field} in its table of fields ({TABLE})")]
    NotInTable { kind: &'static str, field: String },
}

impl VmStructs {
    pub(super) fn read(image: &Image) -> Result<Self, NoField> {
        Self::in_file(image).filter(|structs| !structs.fields.is_empty()).ok_or(NoField::NoTable)
    }

    fn in_file(image: &Image) -> Option<Self> {
        let [variable] = find_variables(image, [TABLE]);
        let table = word(&relocated_bytes(image, variable?, 8)?, 0)?;
        let bytes = relocated_bytes(image, ElfAddress(table), MOST_BYTES)?;
        let mut fields = HashMap::new();
        for (entry, at) in bytes.chunks_exact(ENTRY_BYTES).zip((table..).step_by(ENTRY_BYTES)) {
            // The table ends with an entry without names.
            let type_name @ 1.. = word(entry, TYPE_NAME)? else { break };
            let (kind, field) = (text(image, type_name), text(image, word(entry, FIELD_NAME)?));
            let (Some(kind), Some(field)) = (kind, field) else { continue };
            let place = if *entry.get(IS_STATIC)? == 0 {
                Place::Offset(ElfAddress(at + OFFSET as u64))
            } else {
                Place::Static(ElfAddress(word(entry, ADDRESS)?))
            };
            fields.entry(full_name(kind, field)).or_insert(place);
        }
        Some(Self { fields })
    }

    /// The address of a static field.
    pub(super) fn variable(&self, kind: &str, field: &str) -> Result<ElfAddress, NoField> {
        match self.fields.get(&full_name(kind, field)) {
            Some(Place::Static(address)) => Ok(*address),
            _ => Err(NoField::NotInTable { kind: "static field", field: full_name(kind, field) }),
        }
    }

    /// The address of a number: how far a field is from the begin of its object, in bytes.
    pub(super) fn offset(&self, kind: &str, field: &str) -> Result<ElfAddress, NoField> {
        match self.fields.get(&full_name(kind, field)) {
            Some(Place::Offset(address)) => Ok(*address),
            _ => Err(NoField::NotInTable { kind: "field", field: full_name(kind, field) }),
        }
    }

    /// A table of these fields alone.
    #[cfg(test)]
    pub(super) fn of_fields<'a>(
        statics: impl IntoIterator<Item = (&'a str, u64)>,
        offsets: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Self {
        let statics = statics.into_iter().map(|(name, at)| (name.to_owned(), Place::Static(ElfAddress(at))));
        let offsets = offsets.into_iter().map(|(name, at)| (name.to_owned(), Place::Offset(ElfAddress(at))));
        Self { fields: statics.chain(offsets).collect() }
    }
}

fn full_name(kind: &str, field: &str) -> String {
    format!("{kind}::{field}")
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn text(image: &Image, address: u64) -> Option<&str> {
    let bytes = (1..=MOST_NAME_BYTES).find_map(|length| {
        let bytes = image.bytes(ElfAddress(address), length)?;
        (bytes.last() == Some(&0)).then(|| &bytes[..length - 1])
    })?;
    str::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::test_files::{compile, open};

    /// A library with a table like that of a libjvm.
    const SOURCE: &str = r#"
        struct entry { const char *kind, *field, *type; int is_static; unsigned long offset; void *address; };
        static long heap = 7;
        static struct entry fields[] = {
            { "Universe", "_collectedHeap", "CollectedHeap*", 1, 0, &heap },
            { "CollectedHeap", "_reserved", "MemRegion", 0, 32, 0 },
            { 0, 0, 0, 0, 0, 0 },
            { "TheEnd", "_behind", "long", 0, 99, 0 } };
        struct entry *gHotSpotVMStructs = fields;
        int main(void) { return 0; }"#;

    #[test]
    fn the_table_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        for arguments in [&["-shared", "-fPIC"][..], &["-no-pie", "-rdynamic"], &["-shared", "-fPIC", "-s"]] {
            let image = open(&compile(folder.path(), SOURCE, arguments));
            let structs = VmStructs::read(&image).unwrap();
            for (at, number) in [
                (structs.variable("Universe", "_collectedHeap"), 7_u64),
                (structs.offset("CollectedHeap", "_reserved"), 32),
            ] {
                assert_eq!(image.bytes(at.unwrap(), 8), Some(&number.to_le_bytes()[..]), "{arguments:?}");
            }
            for (kind, field) in [("Universe", "_collectedHeap"), ("TheEnd", "_behind"), ("", "")] {
                let error = structs.offset(kind, field).unwrap_err().to_string();
                assert!(error.contains(&format!("no field {kind}::{field}")), "{error}");
            }
        }
    }

    #[test]
    fn a_file_without_a_table_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let image = open(&compile(folder.path(), "int main(void) { return 0; }", &[]));
        assert_eq!(VmStructs::read(&image).unwrap_err(), NoField::NoTable);
    }
}
