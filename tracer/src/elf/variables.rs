//! Variables in the ELF symbol tables, by name.

use object::{
    LittleEndian, elf,
    read::elf::{Sym, SymbolTable},
};

use super::{ElfAddress, Image, image::Header};

/// The addresses of variables with exactly these names; `None` where there is none. The table that the dynamic linker
/// needs comes first: a variable that a library gives out is the one in there.
pub fn find_variables<const COUNT: usize>(
    image: &Image,
    names: [&str; COUNT],
) -> [Option<ElfAddress>; COUNT] {
    let mut found = [None; COUNT];
    let Some(sections) = image.sections() else { return found };
    for kind in [elf::SHT_DYNSYM, elf::SHT_SYMTAB] {
        let Ok(table) = sections.symbols(LittleEndian, image.file_bytes(), kind) else { continue };
        for symbol in table.iter().filter(|symbol| is_variable_here(symbol)) {
            let Some(place) = position(&table, symbol, &names) else { continue };
            found[place].get_or_insert(ElfAddress(symbol.st_value(LittleEndian)));
        }
    }
    found
}

/// The name of the variable that begins at an address.
#[must_use]
pub fn variable_at(image: &Image, address: ElfAddress) -> Option<String> {
    let sections = image.sections()?;
    [elf::SHT_SYMTAB, elf::SHT_DYNSYM].into_iter().find_map(|kind| {
        let table = sections.symbols(LittleEndian, image.file_bytes(), kind).ok()?;
        let is_here =
            |symbol: &&Symbol| is_variable_here(symbol) && symbol.st_value(LittleEndian) == address.0;
        let name = table.symbol_name(LittleEndian, table.iter().find(is_here)?).ok()?;
        str::from_utf8(name).ok().map(str::to_owned)
    })
}

type Symbol = elf::Sym64<LittleEndian>;

fn is_variable_here(symbol: &Symbol) -> bool {
    symbol.st_type() == elf::STT_OBJECT && !symbol.is_undefined(LittleEndian)
}

fn position(table: &SymbolTable<'_, Header>, symbol: &Symbol, names: &[&str]) -> Option<usize> {
    let name = table.symbol_name(LittleEndian, symbol).ok()?;
    names.iter().position(|wanted| wanted.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::test_files::{compile, open};

    #[test]
    fn variables_are_found_and_functions_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let source = "int given = 7; static int *own = &given; int main(void) { return *own; }";
        for arguments in [&["-O0"][..], &["-O0", "-pie", "-fPIE", "-rdynamic"]] {
            let image = open(&compile(folder.path(), source, arguments));
            let [given, own, main, none] = find_variables(&image, ["given", "own", "main", "none"]);
            assert_eq!((main, none), (None, None));
            assert_eq!(variable_at(&image, own.unwrap()).as_deref(), Some("own"));
            assert_eq!(variable_at(&image, ElfAddress(own.unwrap().0 + 1)), None);
            assert_eq!(image.bytes(given.unwrap(), 4), Some(&7_u32.to_le_bytes()[..]));
            // A pointer in a file that can be loaded anywhere stands in its relocations.
            let bytes = crate::elf::relocated_bytes(&image, own.unwrap(), 8).unwrap();
            assert_eq!(bytes, given.unwrap().0.to_le_bytes());
            assert!(crate::elf::relocated_bytes(&image, ElfAddress(u64::MAX), 8).is_none());
        }
    }
}
