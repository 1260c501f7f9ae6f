//! Names for stacks whose names are missing, because the recording ends before: from the file that the code is in, when
//! that file is on this host and is the same by its build id; otherwise from the place in it.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    fs::File,
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
};

use blazesym::symbolize::{
    Input, Symbolized, Symbolizer,
    source::{Elf, Source},
};
use object::Object as _;

use super::line::{Frame, Mapping, Stack};
use crate::symbols::mark;

/// The frame that stands for the outermost frames that were not walked.
const CUT: &str = "[deeper frames not recorded]";

/// Names the code of one process.
pub(super) struct Unnamed<'a> {
    /// Its mappings by their first address, with the address behind the last one.
    mappings: BTreeMap<u64, (u64, &'a Mapping)>,
    symbolizer: Symbolizer,
    /// Files of this host; `None`: it isn't there, or another one.
    files: RefCell<HashMap<(&'a str, &'a str), Option<File>>>,
    names: RefCell<HashMap<u64, String>>,
}

impl<'a> Unnamed<'a> {
    pub(super) fn of(mappings: &'a [Mapping]) -> Self {
        let by_start = mappings.iter().filter_map(|mapping| {
            let (start, end) = (number(&mapping.start)?, number(&mapping.end)?);
            Some((start, (end, mapping)))
        });
        Self {
            mappings: by_start.collect(),
            symbolizer: Symbolizer::builder().enable_code_info(false).enable_inlined_fns(false).build(),
            files: RefCell::default(),
            names: RefCell::default(),
        }
    }

    /// The stack's frames with names, innermost first.
    pub(super) fn frames(&self, stack: &Stack) -> Vec<Frame> {
        let mut frames = Vec::new();
        for text in &stack.addresses {
            let Some(address) = number(text) else { continue };
            match mark(address) {
                Some(None) => {}
                Some(Some(name)) => frames.push(Frame { name: name.to_owned(), address: None }),
                // The walk had come to an end that looked like one more frame.
                None if address == 0 && !frames.is_empty() => break,
                None => {
                    // All but the innermost are return addresses, and the call is before them.
                    let instruction = if frames.is_empty() { address } else { address.saturating_sub(1) };
                    frames.push(Frame { name: self.name(instruction), address: Some(text.clone()) });
                }
            }
        }
        if stack.cut {
            frames.push(Frame { name: CUT.to_owned(), address: None });
        }
        frames
    }

    fn name(&self, address: u64) -> String {
        if let Some(known) = self.names.borrow().get(&address) {
            return known.clone();
        }
        let name = self.look_up(address).unwrap_or_else(|| format!("[{address:#x}]"));
        self.names.borrow_mut().insert(address, name.clone());
        name
    }

    fn look_up(&self, address: u64) -> Option<String> {
        let (start, (end, mapping)) = self.mappings.range(..=address).next_back()?;
        if address >= *end {
            return None;
        }
        if mapping.file.starts_with('[') {
            return Some(mapping.file.clone());
        }
        let offset = (address - start).checked_add(mapping.offset_bytes)?;
        let file = mapping.file.rsplit('/').next().unwrap_or_default();
        Some(self.symbol(mapping, offset).unwrap_or_else(|| format!("[{file}+{offset:#x}]")))
    }

    fn symbol(&self, mapping: &'a Mapping, offset: u64) -> Option<String> {
        let build_id = mapping.build_id.as_deref()?;
        let mut files = self.files.borrow_mut();
        let file = files
            .entry((&mapping.file, build_id))
            .or_insert_with(|| same_file(Path::new(&mapping.file), build_id));
        let mut elf = Elf::new(PathBuf::from(format!("/proc/self/fd/{}", file.as_ref()?.as_raw_fd())));
        elf.debug_syms = false;
        match self.symbolizer.symbolize_single(&Source::Elf(elf), Input::FileOffset(offset)) {
            Ok(Symbolized::Sym(symbol)) => Some(symbol.name.into_owned()),
            _ => None,
        }
    }
}

/// The file of this host, if it has that build id.
fn same_file(path: &Path, build_id: &str) -> Option<File> {
    // A recording can come from anywhere: nothing is opened that opening does something to.
    if !path.is_absolute() || !path.metadata().ok()?.is_file() {
        return None;
    }
    let file = File::open(path).ok()?;
    // SAFETY: the file is mapped for reading only; one that is changed meanwhile gives wrong bytes, which are checked.
    let bytes = unsafe { memmap2::Mmap::map(&file) }.ok()?;
    let found = object::File::parse(&bytes[..]).ok()?.build_id().ok()??.to_vec();
    let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
    (found == build_id).then_some(file)
}

fn number(hexadecimal: &str) -> Option<u64> {
    u64::from_str_radix(hexadecimal.strip_prefix("0x").unwrap_or(hexadecimal), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(file: &str, build_id: Option<String>) -> Mapping {
        Mapping {
            process: 1,
            start: "0x10000".to_owned(),
            end: "0x20000".to_owned(),
            offset_bytes: 0x1000,
            file: file.to_owned(),
            build_id,
        }
    }

    fn names(mappings: &[Mapping], addresses: &[&str], cut: bool) -> Vec<String> {
        let addresses = addresses.iter().map(|address| (*address).to_owned()).collect();
        let stack = Stack { process: 1, stack: 1, addresses, cut, at_entry: false };
        Unnamed::of(mappings).frames(&stack).into_iter().map(|frame| frame.name).collect()
    }

    #[test]
    fn code_is_named_by_its_place() {
        let mappings = [mapping("/nonexistent/api", Some("00".to_owned()))];
        assert_eq!(
            names(&mappings, &["0x10010", "0x10010", "0x20000", "0x3", "0x0", "0x10010"], true),
            [
                "[api+0x1010]",
                "[api+0x100f]",
                "[api+0x10fff]",
                "[unwinding stopped: no unwind information]",
                CUT
            ]
        );
        assert_eq!(names(&mappings, &["0x20000", "what", "0xffffffffffffffffff"], false), ["[0x20000]"]);
        assert_eq!(names(&[mapping("[vdso]", None)], &["0x10010"], false), ["[vdso]"]);
        assert_eq!(
            names(&[mapping("/dev/zero", Some("00".to_owned()))], &["0x10010"], false),
            ["[zero+0x1010]"]
        );
    }

    #[test]
    fn a_file_that_is_the_same_tells_its_functions() {
        #[unsafe(no_mangle)]
        extern "C" fn pauselens_test_of_unnamed_code() -> u64 {
            std::hint::black_box(7)
        }
        let address = pauselens_test_of_unnamed_code as *const () as usize as u64;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let range = |line: &str| {
            let (start, rest) = line.split_once('-').unwrap();
            (
                u64::from_str_radix(start, 16).unwrap(),
                u64::from_str_radix(rest.split(' ').next().unwrap(), 16).unwrap(),
            )
        };
        let line = maps.lines().find(|line| (range(line).0..range(line).1).contains(&address)).unwrap();
        let fields: Vec<&str> = line.split_whitespace().collect();
        let bytes = std::fs::read(fields[5]).unwrap();
        let build_id = object::File::parse(&bytes[..]).unwrap().build_id().unwrap();
        let Some(build_id) = build_id else { return };
        let mut mapping = Mapping {
            start: format!("{:#x}", range(line).0),
            end: format!("{:#x}", range(line).1),
            offset_bytes: u64::from_str_radix(fields[2], 16).unwrap(),
            ..mapping(fields[5], Some(build_id.iter().map(|byte| format!("{byte:02x}")).collect()))
        };
        let here = format!("{address:#x}");
        assert_eq!(names(&[mapping.clone()], &[&here], false), ["pauselens_test_of_unnamed_code"]);
        mapping.build_id = Some("00".to_owned());
        assert!(names(&[mapping], &[&here], false)[0].starts_with('['));
    }
}
