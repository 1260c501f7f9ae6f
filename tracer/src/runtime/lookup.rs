//! Constant text, functions and classes by their runtime address, in a process's files: nothing of the process itself is read.

use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::Loaded;
use crate::{
    elf::{DebugFile, ElfAddress, Image, find_debug_file, function_around, function_at, variable_at},
    target::Mapping,
};

/// The longest text that is taken for a name, in bytes.
const LONGEST_TEXT_BYTES: usize = 128;

/// In front of a class's virtual functions: how far the object is from the whole one, and the address of the class's type.
const TABLE_HEADER_BYTES: u64 = 16;

/// The files, and where each is loaded.
#[derive(Debug, Default)]
pub struct Lookup {
    files: Vec<(Arc<Image>, Loaded)>,
    /// Of each file without symbols, once it is asked for: its separate debug file.
    debug_files: Vec<OnceCell<Option<DebugFile>>>,
    root: PathBuf,
    texts: RefCell<HashMap<u64, Option<String>>>,
    functions: RefCell<HashMap<u64, Option<String>>>,
    classes: RefCell<HashMap<u64, Option<String>>>,
    around: RefCell<HashMap<u64, Option<String>>>,
}

impl Lookup {
    /// Finds where the files are loaded. A file that is not mapped is left out. `root_of_target`: a folder that stands for
    /// the target's root, where separate debug files are looked for.
    #[must_use]
    pub fn new(files: &[Arc<Image>], mappings: &[Mapping], root_of_target: &Path) -> Self {
        let loaded = files.iter().filter_map(|image| {
            let loaded = Loaded::find(image, image.shown_as().as_os_str(), mappings)?;
            Some((Arc::clone(image), loaded))
        });
        let files: Vec<_> = loaded.collect();
        let debug_files = files.iter().map(|_| OnceCell::new()).collect();
        Self { files, debug_files, root: root_of_target.to_owned(), ..Self::default() }
    }

    /// The text at an address: what is there up to the first zero, if it is printable.
    pub fn text(&self, address: u64) -> Option<String> {
        let find = || {
            self.files.iter().find_map(|(image, loaded)| {
                let bytes = image.constant_bytes(loaded.elf_address(address)?)?;
                let length = bytes.iter().take(LONGEST_TEXT_BYTES).position(|byte| *byte == 0)?;
                let text = str::from_utf8(&bytes[..length]).ok()?;
                let printable = !text.is_empty() && !text.chars().any(char::is_control);
                printable.then(|| text.to_owned())
            })
        };
        self.texts.borrow_mut().entry(address).or_insert_with(find).clone()
    }

    /// The name of the function that begins at an address.
    pub fn function(&self, address: u64) -> Option<String> {
        let find =
            || self.files.iter().find_map(|(image, loaded)| function_at(image, loaded.elf_address(address)?));
        self.functions.borrow_mut().entry(address).or_insert_with(find).clone()
    }
}

impl Lookup {
    /// The C++ class whose objects begin with this word: the address of its table of virtual functions, behind the two words
    /// that precede them (Itanium C++ ABI, section 2.5.2), which compilers for Linux name after it (`_ZTV` and the class).
    pub fn class(&self, word: u64) -> Option<String> {
        let find = || {
            self.files.iter().enumerate().find_map(|(file, (image, loaded))| {
                let table = loaded.elf_address(word.checked_sub(TABLE_HEADER_BYTES)?)?;
                let in_debug_file = || variable_at(&self.debug_file(file)?.image, table);
                let name = variable_at(image, table).or_else(in_debug_file)?;
                name.starts_with("_ZTV").then(|| class_of(&name)).flatten()
            })
        };
        self.classes.borrow_mut().entry(word).or_insert_with(find).clone()
    }

    fn debug_file(&self, file: usize) -> Option<&DebugFile> {
        let (image, _) = self.files.get(file)?;
        let find = || find_debug_file(image, &self.root).ok().filter(|_| !image.has_symbols());
        self.debug_files.get(file)?.get_or_init(find).as_ref()
    }

    /// The name of the function that an address is in.
    pub fn function_around(&self, address: u64) -> Option<String> {
        let find = || {
            let around =
                |(image, loaded): &(Arc<Image>, Loaded)| function_around(image, loaded.elf_address(address)?);
            self.files.iter().find_map(around)
        };
        self.around.borrow_mut().entry(address).or_insert_with(find).clone()
    }
}

/// The class that a table of virtual functions is named after.
fn class_of(table: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(table.as_bytes()).ok()?;
    // As `c++filt` reads it: "{vtable(CLASS)}" here.
    let read = symbol.demangle().ok()?;
    let class = read.strip_prefix("{vtable(").and_then(|rest| rest.strip_suffix(")}"));
    class.or_else(|| read.strip_prefix("vtable for ")).map(str::to_owned)
}

impl Loaded {
    /// The file's own address of a runtime address; the caller checks that the file has it.
    fn elf_address(self, address: u64) -> Option<ElfAddress> {
        address.checked_sub(self.address(ElfAddress(0))).map(ElfAddress)
    }
}

#[cfg(test)]
mod tests {
    use super::class_of;

    #[test]
    fn tables_are_named_after_their_classes() {
        for (table, class) in [
            ("_ZTV16VM_G1CollectFull", Some("VM_G1CollectFull")),
            ("_ZTVN7metrics9OperationE", Some("metrics::Operation")),
            ("_ZN12VM_Operation8evaluateEv", None),
            ("_ZTV", None),
        ] {
            assert_eq!(class_of(table).as_deref(), class, "{table}");
        }
    }
}
