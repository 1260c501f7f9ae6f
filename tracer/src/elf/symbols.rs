//! Functions in the ELF symbol tables, `.symtab` and `.dynsym`.

use std::{collections::HashSet, fmt};

use object::{
    LittleEndian, elf,
    read::elf::{Sym, SymbolTable},
};

use super::{ElfAddress, Image, image::Header};

/// A function of an ELF file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Function {
    /// The name as the table gives it, not demangled.
    pub name: String,
    /// Where its first instruction is.
    pub address: ElfAddress,
    /// How long it is; 0 if the table does not say. Go's function table counts the padding behind it as well.
    pub size_bytes: u64,
    /// The table that it was found in.
    pub source: SymbolSource,
}

/// A table that names functions.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum SymbolSource {
    /// `.symtab`, which `strip` removes.
    Symtab,
    /// `.dynsym`, which the dynamic linker needs and so is always there.
    Dynsym,
    /// The tables of a separate debug file.
    DebugFile,
    /// Go's own function table, which is never stripped.
    Pclntab,
    /// The notes of user-space tracepoints.
    Note,
    /// The user named the offset.
    Given,
}

impl fmt::Display for SymbolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SymbolSource::Symtab => ".symtab",
            SymbolSource::Dynsym => ".dynsym",
            SymbolSource::DebugFile => "a separate debug file",
            SymbolSource::Pclntab => "Go's function table",
            SymbolSource::Note => "USDT notes",
            SymbolSource::Given => "offset as given",
        })
    }
}

/// Finds the functions with exactly these names: all of them, in one pass over each table.
///
/// One name can stand for several functions (static ones of different source files). A function that both
/// tables hold under one name is given once, from `.symtab`. The order is by place in `names`, then by
/// address. A damaged table counts as absent; a name that can't be read is passed over.
pub fn find_functions(image: &Image, names: &[&str]) -> Vec<Function> {
    let wanted: HashSet<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    let mut found = collect(image, |name| wanted.contains(name));
    let place = |function: &Function| names.iter().position(|name| *name == function.name);
    found.sort_by_key(|function| (place(function), function.address, function.source));
    without_twins(found)
}

/// Finds the functions whose name `wanted` accepts, in order of name and address; otherwise like
/// [`find_functions`].
///
/// `wanted` sees each function's name as bytes, once per table. The accepted names must be UTF-8.
pub fn functions_where(image: &Image, wanted: impl FnMut(&[u8]) -> bool) -> Vec<Function> {
    let mut found = collect(image, wanted);
    found.sort_by(|a, b| (&a.name, a.address, a.source).cmp(&(&b.name, b.address, b.source)));
    without_twins(found)
}

/// Keeps one of those that both tables hold: the first, in the order that the callers sort by.
/// The name of the function that begins at an address.
#[must_use]
pub fn function_at(image: &Image, address: ElfAddress) -> Option<String> {
    let sections = image.sections()?;
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        let Ok(table) = sections.symbols(LittleEndian, image.file_bytes(), kind) else { continue };
        let here = table
            .iter()
            .find(|symbol| is_function_here(symbol) && symbol.st_value(LittleEndian) == address.0);
        let name = here.and_then(|symbol| table.symbol_name(LittleEndian, symbol).ok());
        if let Some(name) = name.and_then(|name| str::from_utf8(name).ok()) {
            return Some(name.to_owned());
        }
    }
    None
}

/// The name of the function whose code an address is in.
#[must_use]
pub fn function_around(image: &Image, address: ElfAddress) -> Option<String> {
    let sections = image.sections()?;
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        let Ok(table) = sections.symbols(LittleEndian, image.file_bytes(), kind) else { continue };
        let around = |symbol: &&Symbol| {
            let distance = address.0.checked_sub(symbol.st_value(LittleEndian));
            is_function_here(symbol) && distance.is_some_and(|bytes| bytes < symbol.st_size(LittleEndian))
        };
        let name = table.iter().find(around).and_then(|symbol| table.symbol_name(LittleEndian, symbol).ok());
        if let Some(name) = name.and_then(|name| str::from_utf8(name).ok()) {
            return Some(name.to_owned());
        }
    }
    None
}

fn without_twins(mut sorted: Vec<Function>) -> Vec<Function> {
    sorted.dedup_by(|later, first| later.address == first.address && later.name == first.name);
    sorted
}

fn collect(image: &Image, mut wanted: impl FnMut(&[u8]) -> bool) -> Vec<Function> {
    let mut found = Vec::new();
    let Some(sections) = image.sections() else { return found };
    for (kind, source) in [(elf::SHT_SYMTAB, SymbolSource::Symtab), (elf::SHT_DYNSYM, SymbolSource::Dynsym)] {
        let Ok(table) = sections.symbols(LittleEndian, image.file_bytes(), kind) else { continue };
        let functions = table.iter().filter(|symbol| is_function_here(symbol));
        found.extend(functions.filter_map(|symbol| named(&table, symbol, source, &mut wanted)));
    }
    found
}

type Symbol = elf::Sym64<LittleEndian>;

/// A function that this file defines. An indirect one (`STT_GNU_IFUNC`) is left out: its address is that of
/// the code that picks an implementation, and probing it would show one call.
fn is_function_here(symbol: &Symbol) -> bool {
    symbol.st_type() == elf::STT_FUNC
        && !symbol.is_undefined(LittleEndian)
        && symbol.st_value(LittleEndian) != 0
}

fn named(
    table: &SymbolTable<'_, Header>,
    symbol: &Symbol,
    source: SymbolSource,
    wanted: &mut impl FnMut(&[u8]) -> bool,
) -> Option<Function> {
    let name = table.symbol_name(LittleEndian, symbol).ok().filter(|name| wanted(name))?;
    Some(Function {
        name: str::from_utf8(name).ok()?.to_owned(),
        address: ElfAddress(symbol.st_value(LittleEndian)),
        size_bytes: symbol.st_size(LittleEndian),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::test_files::{compile, open};

    const SOURCE: &str = "
        static __attribute__((noinline)) int twice(int x) { __asm__ volatile(\"\"); return 2 * x; }
        __attribute__((noinline)) int shown(int x) { __asm__ volatile(\"\"); return twice(x) + 1; }
        int pointed = 3;
        int main(int argc, char **argv) { (void)argv; return shown(argc) + pointed; }";

    fn found(arguments: &[&str], names: &[&str]) -> Vec<(String, SymbolSource)> {
        let folder = tempfile::tempdir().unwrap();
        let image = open(&compile(folder.path(), SOURCE, arguments));
        let found = find_functions(&image, names);
        assert!(
            found.iter().all(|function| image.is_executable(function.address) && function.size_bytes > 0)
        );
        found.into_iter().map(|function| (function.name, function.source)).collect()
    }

    #[test]
    fn prefers_symtab_and_keeps_the_callers_order() {
        let names = ["shown", "pointed", "absent", "twice"];
        let expected = ["shown", "twice"].map(|name| (name.to_owned(), SymbolSource::Symtab));
        assert_eq!(found(&["-O1", "-rdynamic"], &names), expected);
    }

    #[test]
    fn falls_back_to_dynsym() {
        let found = found(&["-O1", "-rdynamic", "-s"], &["shown", "twice"]);
        assert_eq!(found, [("shown".to_owned(), SymbolSource::Dynsym)]);
    }

    #[test]
    fn leaves_out_what_another_file_defines() {
        let source = "#include <stdlib.h>\nint main(void) { free(malloc(1)); return 0; }";
        let folder = tempfile::tempdir().unwrap();
        let image = open(&compile(folder.path(), source, &["-O0"]));
        assert_eq!(find_functions(&image, &["malloc", "free"]), []);
        assert_eq!(find_functions(&image, &["main"]).len(), 1);
    }
}
