//! Variables, constants and types by name.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use gimli::{
    Abbreviations, AttributeValue, DebugAbbrev, DebugInfo as Units, DebugInfoOffset, DebugLineStr, DebugStr,
    DebuggingInformationEntry, EndianSlice, LittleEndian, Operation, UnitHeader, constants as dw,
};

use super::{DebugInfo, DebugInfoError};
use crate::elf::ElfAddress;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

/// A chain of names for one type is not followed any further.
const MOST_TYPEDEFS: usize = 16;

/// What the units of one name say of data.
pub struct Types<'a> {
    abbreviations: DebugAbbrev<Slice<'a>>,
    strings: DebugStr<Slice<'a>>,
    line_strings: DebugLineStr<Slice<'a>>,
    /// In the order of their places in the section.
    units: Vec<UnitHeader<Slice<'a>>>,
    /// By their place in the section: most units share one table.
    tables: Mutex<HashMap<usize, Arc<Abbreviations>>>,
    variables: HashMap<String, (ElfAddress, usize)>,
    constants: HashMap<String, i64>,
    structures: HashMap<String, usize>,
}

/// A type: a place in the debug information.
#[derive(Clone, Copy)]
pub struct Type<'t, 'a> {
    types: &'t Types<'a>,
    at: usize,
}

impl<'a> Types<'a> {
    /// Looks for variables, constants and structures of these names in the units of this name.
    ///
    /// # Errors
    /// The section can't be read. A name that is not there is an error when it is asked for.
    pub fn of_unit(
        debug: &'a DebugInfo<'_>,
        unit_name: &str,
        names: &[&str],
    ) -> Result<Self, DebugInfoError> {
        let slice = |bytes: &'a [u8]| EndianSlice::new(bytes, LittleEndian);
        let mut types = Self {
            abbreviations: DebugAbbrev::new(&debug.abbreviations, LittleEndian),
            strings: DebugStr::new(&debug.strings, LittleEndian),
            line_strings: DebugLineStr::from(slice(&debug.line_strings)),
            units: Vec::new(),
            tables: Mutex::default(),
            variables: HashMap::new(),
            constants: HashMap::new(),
            structures: HashMap::new(),
        };
        let mut headers = Units::new(&debug.info, LittleEndian).units();
        while let Some(header) = headers.next()? {
            types.units.push(header);
        }
        for index in 0..types.units.len() {
            types.look_through(index, unit_name, names)?;
        }
        Ok(types)
    }

    fn look_through(&mut self, index: usize, unit_name: &str, names: &[&str]) -> Result<(), DebugInfoError> {
        let unit = self.units[index];
        let table = self.table(&unit)?;
        let mut entries = unit.entries(&table);
        let Some(root) = entries.next_dfs()? else { return Ok(()) };
        if self.name(root) != Some(unit_name.as_bytes()) {
            return Ok(());
        }
        while let Some(entry) = entries.next_dfs()? {
            let wanted =
                matches!(entry.tag(), dw::DW_TAG_variable | dw::DW_TAG_constant | dw::DW_TAG_structure_type);
            if entry.depth() != 1 || !wanted {
                continue;
            }
            let Some(name) = self.name(entry).and_then(|name| str::from_utf8(name).ok()) else { continue };
            if !names.contains(&name) {
                continue;
            }
            let name = name.to_owned();
            if entry.tag() == dw::DW_TAG_constant {
                let value = entry.attr_value(dw::DW_AT_const_value).and_then(|value| value.sdata_value());
                self.constants.extend(value.map(|value| (name, value)));
            } else if entry.tag() == dw::DW_TAG_structure_type {
                let at = entry.offset().to_debug_info_offset(&unit);
                self.structures.extend(at.map(|at| (name, at.0)));
            } else if let (Some(address), Some(at)) = (address(entry, &unit)?, reference(entry, &unit)) {
                self.variables.insert(name, (address, at));
            }
        }
        Ok(())
    }

    /// A variable's address and type.
    ///
    /// # Errors
    /// [`DebugInfoError::NoVariable`].
    pub fn variable<'t>(&'t self, name: &str) -> Result<(ElfAddress, Type<'t, 'a>), DebugInfoError> {
        let found = self.variables.get(name).ok_or_else(|| DebugInfoError::NoVariable(name.to_owned()))?;
        Ok((found.0, Type { types: self, at: found.1 }))
    }

    /// A structure by its name.
    ///
    /// # Errors
    /// [`DebugInfoError::NoType`].
    pub fn structure<'t>(&'t self, name: &str) -> Result<Type<'t, 'a>, DebugInfoError> {
        let at = self.structures.get(name).ok_or_else(|| DebugInfoError::NoType(name.to_owned()))?;
        Ok(Type { types: self, at: *at })
    }

    /// An integer constant's value.
    ///
    /// # Errors
    /// [`DebugInfoError::NoConstant`].
    pub fn constant(&self, name: &str) -> Result<i64, DebugInfoError> {
        self.constants.get(name).copied().ok_or_else(|| DebugInfoError::NoConstant(name.to_owned()))
    }

    fn table(&self, unit: &UnitHeader<Slice<'a>>) -> Result<Arc<Abbreviations>, DebugInfoError> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let at = unit.debug_abbrev_offset().0;
        if let Some(table) = tables.get(&at) {
            return Ok(Arc::clone(table));
        }
        let table = Arc::new(unit.abbreviations(&self.abbreviations)?);
        tables.insert(at, Arc::clone(&table));
        Ok(table)
    }

    /// The unit that holds this place of the section.
    fn unit_of(&self, at: usize) -> Result<&UnitHeader<Slice<'a>>, DebugInfoError> {
        let begin =
            |unit: &UnitHeader<Slice<'a>>| unit.debug_info_offset().map_or(usize::MAX, |offset| offset.0);
        let after = self.units.partition_point(|unit| begin(unit) <= at);
        let unit = after.checked_sub(1).and_then(|index| self.units.get(index));
        unit.ok_or_else(|| DebugInfoError::Damaged(format!("no unit holds the offset {at:#x}")))
    }

    fn name(&self, entry: &Entry<'a>) -> Option<&'a [u8]> {
        let text = match entry.attr_value(dw::DW_AT_name)? {
            AttributeValue::String(text) => text,
            AttributeValue::DebugStrRef(at) => self.strings.get_str(at).ok()?,
            AttributeValue::DebugLineStrRef(at) => self.line_strings.get_str(at).ok()?,
            _ => return None,
        };
        Some(text.slice())
    }
}

impl fmt::Debug for Types<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Types").field("variables", &self.variables).finish_non_exhaustive()
    }
}

impl fmt::Debug for Type<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())
    }
}

impl<'t, 'a> Type<'t, 'a> {
    /// Its size.
    ///
    /// # Errors
    /// It has none.
    pub fn size_bytes(self) -> Result<u64, DebugInfoError> {
        let (entry, _) = self.named_last()?;
        match entry.attr_value(dw::DW_AT_byte_size).and_then(|value| value.udata_value()) {
            Some(bytes) => Ok(bytes),
            None if entry.tag() == dw::DW_TAG_pointer_type => Ok(8),
            None if entry.tag() == dw::DW_TAG_array_type => {
                let (element, count) = self.elements()?;
                element
                    .size_bytes()?
                    .checked_mul(count)
                    .ok_or_else(|| self.other("has a size that is no number".to_owned()))
            }
            None => Err(self.other("has no size".to_owned())),
        }
    }

    /// Where a field begins in it, and the field's type. Several names lead into fields of fields.
    ///
    /// # Errors
    /// There is no such field.
    pub fn field(self, names: &[&str]) -> Result<(u64, Type<'t, 'a>), DebugInfoError> {
        names.iter().try_fold((0, self), |(offset_bytes, holder): (u64, Type<'t, 'a>), name| {
            let (inside, field) = holder.own_field(name)?;
            Ok((offset_bytes.wrapping_add(inside), field))
        })
    }

    fn own_field(self, name: &str) -> Result<(u64, Type<'t, 'a>), DebugInfoError> {
        let (entry, at) = self.named_last()?;
        let missing = || self.other(format!("has no field {name}"));
        if entry.tag() != dw::DW_TAG_structure_type {
            return Err(missing());
        }
        let unit = *self.types.unit_of(at)?;
        let table = self.types.table(&unit)?;
        let mut tree = unit.entries_tree(&table, DebugInfoOffset(at).to_unit_offset(&unit))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let member = child.entry();
            if member.tag() == dw::DW_TAG_member && self.types.name(member) == Some(name.as_bytes()) {
                let place = member.attr_value(dw::DW_AT_data_member_location);
                let offset_bytes = place.and_then(|value| value.udata_value()).ok_or_else(missing)?;
                let at = reference(member, &unit).ok_or_else(missing)?;
                return Ok((offset_bytes, Type { types: self.types, at }));
            }
        }
        Err(missing())
    }

    /// Of an array: the type of its elements, and how many there are.
    ///
    /// # Errors
    /// It is no array of a known length.
    pub fn elements(self) -> Result<(Type<'t, 'a>, u64), DebugInfoError> {
        let (entry, at) = self.named_last()?;
        let unit = *self.types.unit_of(at)?;
        let no_array = || self.other("is no array of a known length".to_owned());
        if entry.tag() != dw::DW_TAG_array_type {
            return Err(no_array());
        }
        let table = self.types.table(&unit)?;
        let mut tree = unit.entries_tree(&table, DebugInfoOffset(at).to_unit_offset(&unit))?;
        let mut children = tree.root()?.children();
        let element = reference(&entry, &unit).ok_or_else(no_array)?;
        while let Some(child) = children.next()? {
            let number = |name| child.entry().attr_value(name).and_then(|value| value.udata_value());
            let bound = number(dw::DW_AT_upper_bound).and_then(|bound| bound.checked_add(1));
            if let Some(count) = number(dw::DW_AT_count).or(bound) {
                return Ok((Type { types: self.types, at: element }, count));
            }
        }
        Err(no_array())
    }

    /// Of a pointer: the type of what it points to.
    ///
    /// # Errors
    /// It is no pointer, or points to anything.
    pub fn target(self) -> Result<Type<'t, 'a>, DebugInfoError> {
        let (entry, at) = self.named_last()?;
        let unit = self.types.unit_of(at)?;
        let target = (entry.tag() == dw::DW_TAG_pointer_type).then(|| reference(&entry, unit)).flatten();
        let at = target.ok_or_else(|| self.other("is no pointer to a known type".to_owned()))?;
        Ok(Type { types: self.types, at })
    }

    fn entry(self) -> Result<Entry<'a>, DebugInfoError> {
        let unit = self.types.unit_of(self.at)?;
        let table = self.types.table(unit)?;
        let offset = DebugInfoOffset(self.at).to_unit_offset(unit);
        let offset = offset.ok_or_else(|| self.damaged("lies outside of its unit"))?;
        Ok(unit.entry(&table, offset)?)
    }

    /// The type itself, past other names for it, and its place.
    fn named_last(self) -> Result<(Entry<'a>, usize), DebugInfoError> {
        let mut at = self;
        for _ in 0..MOST_TYPEDEFS {
            let entry = at.entry()?;
            if entry.tag() != dw::DW_TAG_typedef {
                return Ok((entry, at.at));
            }
            let next = reference(&entry, self.types.unit_of(at.at)?);
            at.at = next.ok_or_else(|| self.damaged("is another name for nothing"))?;
        }
        Err(self.damaged("is a name for a name for a name, without end"))
    }

    fn name(self) -> String {
        let entry = self.entry().ok();
        let name =
            entry.and_then(|entry| Some(String::from_utf8_lossy(self.types.name(&entry)?).into_owned()));
        name.unwrap_or_else(|| format!("at {:#x}", self.at))
    }

    fn other(self, what: String) -> DebugInfoError {
        DebugInfoError::OtherForm { type_name: self.name(), what }
    }

    fn damaged(self, what: &str) -> DebugInfoError {
        DebugInfoError::Damaged(format!("the type at {:#x} {what}", self.at))
    }
}

/// The place of an entry's type.
fn reference(entry: &Entry<'_>, unit: &UnitHeader<Slice<'_>>) -> Option<usize> {
    match entry.attr_value(dw::DW_AT_type)? {
        AttributeValue::UnitRef(offset) => offset.to_debug_info_offset(unit).map(|offset| offset.0),
        AttributeValue::DebugInfoRef(offset) => Some(offset.0),
        _ => None,
    }
}

/// A variable's fixed address.
fn address(entry: &Entry<'_>, unit: &UnitHeader<Slice<'_>>) -> Result<Option<ElfAddress>, DebugInfoError> {
    let Some(AttributeValue::Exprloc(place)) = entry.attr_value(dw::DW_AT_location) else { return Ok(None) };
    let operation = place.operations(unit.encoding()).next()?;
    Ok(operation.and_then(|operation| match operation {
        Operation::Address { address } => Some(ElfAddress(address)),
        _ => None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::test_files::{compile, open};

    const SOURCE: &str = "
        struct inner { char skipped[24]; long wanted; };
        typedef struct inner named;
        struct outer { int first; named *pointed; named many[7]; };
        struct outer global = { .first = 1 };
        int main(void) { return global.first - 1; }";

    fn described(arguments: &[&str], test: impl FnOnce(&Types<'_>, &crate::elf::Image)) {
        let folder = tempfile::tempdir().unwrap();
        let path = compile(folder.path(), SOURCE, arguments);
        let image = open(&path);
        let debug = DebugInfo::read(&image).unwrap();
        // A C compiler names its units by path.
        let unit = path.with_extension("c");
        test(&Types::of_unit(&debug, &unit.to_string_lossy(), &["global"]).unwrap(), &image);
    }

    #[test]
    fn fields_are_found_by_name_in_every_dwarf_version() {
        for arguments in [
            &["-g", "-gdwarf-4"][..],
            &["-g", "-gdwarf-5"],
            &["-g", "-gz=zlib"],
            &["-g", "-gz=none"],
            &["-g", "-pie", "-fPIE"],
        ] {
            described(arguments, |types, image| {
                let (address, outer) = types.variable("global").unwrap();
                assert_eq!(image.bytes(address, 4), Some(&[1, 0, 0, 0][..]), "{arguments:?}");
                assert_eq!(outer.field(&["pointed"]).unwrap().0, 8);
                let (at, many) = outer.field(&["many"]).unwrap();
                let (element, count) = many.elements().unwrap();
                assert_eq!((at, count, element.size_bytes(), many.size_bytes()), (16, 7, Ok(32), Ok(7 * 32)));
                let pointed = outer.field(&["pointed"]).unwrap().1.target().unwrap();
                assert_eq!(pointed.field(&["wanted"]).unwrap().0, 24);
                let missing = outer.field(&["absent"]).unwrap_err();
                assert_eq!(missing.to_string(), "the type outer has no field absent");
                assert!(outer.target().is_err() && outer.elements().is_err());
                assert_eq!(
                    types.variable("absent").unwrap_err(),
                    DebugInfoError::NoVariable("absent".to_owned())
                );
            });
        }
    }

    #[test]
    fn a_stripped_file_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let image = open(&compile(folder.path(), SOURCE, &["-s"]));
        assert_eq!(DebugInfo::read(&image).unwrap_err(), DebugInfoError::Absent);
    }

    /// Whatever byte is damaged: an error at worst.
    #[test]
    fn damage_is_an_error_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = compile(folder.path(), SOURCE, &["-g", "-gz=none"]);
        let (image, unit, mut read) = (open(&path), path.with_extension("c"), 0);
        let whole = DebugInfo::read(&image).unwrap();
        for at in (0..whole.info.len()).step_by(3) {
            for value in [0x00, 0x7f, 0xff] {
                let mut info = whole.info.to_vec();
                info[at] = value;
                let damaged = DebugInfo {
                    info: info.into(),
                    abbreviations: whole.abbreviations.clone(),
                    strings: whole.strings.clone(),
                    line_strings: whole.line_strings.clone(),
                };
                let Ok(types) = Types::of_unit(&damaged, &unit.to_string_lossy(), &["global"]) else {
                    continue;
                };
                let Ok((_, outer)) = types.variable("global") else { continue };
                read += 1;
                let _ = outer.field(&["many"]).and_then(|(_, many)| many.elements());
                let _ = outer.field(&["pointed"]).and_then(|(_, pointed)| pointed.target());
            }
        }
        assert!(read > 0, "no damage left anything to read");
    }
}
