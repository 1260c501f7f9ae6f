//! The functions of a Go program: by name and by address.

use std::{fmt, ops::Range};

use super::{
    PclntabError,
    header::ENTRY_BYTES,
    locate::{Located, locate},
    text_base::{Extent, text_base},
};
use crate::elf::{
    ElfAddress, Function, Image, SymbolSource,
    bytes::{text_at, u32_at},
};

/// All functions of a Go program, copied out of its function table, so that the file may be closed.
pub struct GoFunctions {
    text_base: ElfAddress,
    /// In the order of their addresses.
    entries: Box<[Entry]>,
    /// The distance from the text base at which the last function ends.
    end: u32,
    /// The names, each with a zero byte behind it.
    names: Box<[u8]>,
}

#[derive(Clone, Copy)]
struct Entry {
    /// The distance from the text base at which the function begins.
    start: u32,
    /// Where in the names its name begins; past their end if its record is damaged.
    name: u32,
}

impl GoFunctions {
    /// Reads the table of a Go program, stripped or not, position-independent or not, linked by Go or by
    /// another linker.
    ///
    /// # Errors
    ///
    /// No table, one of an unknown version, or one that contradicts itself, its module data or the file's
    /// code. A single function whose record is out of reach is no error; it has no name.
    pub fn read(image: &Image) -> Result<GoFunctions, PclntabError> {
        let Located { address, table, header } = locate(image)?;
        let damaged = |what: String| PclntabError::Damaged { address, what };
        let list = &table[header.entries..];
        let missing = |index: usize| damaged(format!("its entry {index} is past its end"));
        let start = |index: usize| u32_at(list, index * ENTRY_BYTES).ok_or_else(|| missing(index));
        // A record begins with the same distance from the text base, and the place of the name follows.
        let record = |index: usize| {
            let at = usize::try_from(u32_at(list, index * ENTRY_BYTES + 4)?).ok()?;
            Some((u32_at(list, at)?, u32_at(list, at.checked_add(4)?)?))
        };
        let mut entries = Vec::with_capacity(header.functions);
        for index in 0..header.functions {
            let start = start(index)?;
            let (start_again, name) = record(index).unwrap_or((start, u32::MAX));
            if start_again != start {
                return Err(damaged(format!(
                    "its function {index} begins at {start:#x} by its entry and at {start_again:#x} by its \
                     record"
                )));
            }
            entries.push(Entry { start, name });
        }
        let end = start(header.functions)?;
        let ends = entries.iter().skip(1).map(|entry| entry.start).chain([end]);
        if let Some(index) = entries.iter().zip(ends).position(|(entry, next)| entry.start > next) {
            return Err(damaged(format!(
                "its functions {index} and {} are not in order of address",
                index + 1
            )));
        }
        let first = entries.first().map_or(0, |entry| entry.start);
        let text_base = text_base(image, address, &header, Extent { first, end })?;
        Ok(GoFunctions { text_base, entries: entries.into(), end, names: table[header.names].into() })
    }

    /// Finds the functions with exactly these names, in order of address. Their size is the distance to the
    /// next function, padding included. Functions that the compiler put into others everywhere aren't in the
    /// table.
    pub fn find(&self, names: &[&str]) -> Vec<Function> {
        let is_wanted = |entry: &Entry| {
            let name = self.names.get(entry.name as usize..)?;
            let ends_here = |wanted: &&&str| name.get(wanted.len()) == Some(&0);
            names.iter().filter(ends_here).find(|wanted| name.starts_with(wanted.as_bytes())).copied()
        };
        let named =
            self.entries.iter().enumerate().filter_map(|(index, entry)| Some((index, is_wanted(entry)?)));
        named
            .map(|(index, name)| Function {
                name: name.to_owned(),
                address: self.address(self.entries[index].start),
                size_bytes: u64::from(self.end_of(index) - self.entries[index].start),
                source: SymbolSource::Pclntab,
            })
            .collect()
    }

    /// The name of the function that `address` is in, and where it begins. `None` outside Go's text, and for
    /// a function whose record is damaged.
    pub fn name_at(&self, address: ElfAddress) -> Option<(&str, ElfAddress)> {
        let distance = u32::try_from(address.0.checked_sub(self.text_base.0)?).ok()?;
        if distance >= self.end {
            return None;
        }
        let after = self.entries.partition_point(|entry| entry.start <= distance);
        let entry = self.entries.get(after.checked_sub(1)?)?;
        let name = text_at(&self.names, usize::try_from(entry.name).ok()?)?;
        let name = str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
        Some((name, self.address(entry.start)))
    }

    /// From the first function's begin to the last one's end.
    pub fn text_range(&self) -> Range<ElfAddress> {
        let first = self.entries.first().map_or(self.end, |entry| entry.start);
        self.address(first)..self.address(self.end)
    }

    fn end_of(&self, index: usize) -> u32 {
        self.entries.get(index + 1).map_or(self.end, |next| next.start)
    }

    /// Reading checked that the text base and the end add up to an address in the file.
    fn address(&self, distance: u32) -> ElfAddress {
        ElfAddress(self.text_base.0.wrapping_add(distance.into()))
    }
}

impl fmt::Debug for GoFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text_range();
        write!(f, "GoFunctions({} in {}..{})", self.entries.len(), text.start, text.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::{
        Machine,
        test_files::{compile, open},
    };

    /// A program with a function table made by hand: three functions of 16 bytes, the first 32 bytes behind
    /// the text base. Words in capitals are replaced.
    const PROGRAM: &str = r#"
        __asm__(R"(
            .text
            .p2align 4
        text: .skip 32, 0x90
        first: nop
            .p2align 4
        second: nop
            .p2align 4
        third: nop
            .p2align 4
        end: nop

            .section .SECTION,"aFLAGS",@progbits
            .p2align 5
        table: .long 0xfffffff1
            .byte 0, 0, QUANTUM, 8
            .quad 3, 0, HEADER_BASE
            .quad names - table, units - table, units - table, units - table, entries - table
        names: .byte 0
        name1: .asciz "main.first"
        name2: .asciz "main.(*T[go.shape.int]).second one"
        name3: .asciz "main.third"
            .p2align 3
        units: .quad 0
        entries: .long first - text, record1 - entries, second - text, record2 - entries
            .long third - text, record3 - entries, end - text
        record1: .long first - text, name1 - names
        record2: .long SECOND - text, name2 - names
        record3: .long third - text, name3 - names

            .data
            .p2align 3
            .quad table
            .quad POINTED, names, 8, 8, units, 0, 0, 0, 0, 0, 0, 0, 0, table, 0, 0, entries, 4, 4, 0
            .quad first, MAX, text, end
        )");
        int main(void) { return 0; }"#;

    const GOOD: [(&str, &str); 7] = [
        ("SECTION", "gopclntab"),
        ("FLAGS", ""),
        ("HEADER_BASE", "0"),
        ("SECOND", "second"),
        ("POINTED", "table"),
        ("MAX", "end"),
        ("QUANTUM", if matches!(Machine::HOST, Machine::Aarch64) { "4" } else { "1" }),
    ];

    fn image(arguments: &[&str], changes: &[(&str, &str)]) -> Image {
        let words = changes.iter().chain(&GOOD);
        let source = words.fold(PROGRAM.to_owned(), |source, (word, value)| source.replace(word, value));
        let folder = tempfile::tempdir().unwrap();
        open(&compile(folder.path(), &source, arguments))
    }

    fn damage(changes: &[(&str, &str)]) -> String {
        match GoFunctions::read(&image(&["-no-pie"], changes)) {
            Err(PclntabError::Damaged { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    }

    /// Text base from module data, in the file or in relocations; from the header; and the table in a merged
    /// section.
    #[test]
    fn reads_every_layout() {
        for (arguments, changes) in [
            (&["-no-pie"][..], &[][..]),
            (&["-pie", "-fPIE"], &[]),
            (&["-pie", "-fPIE"], &[("SECTION", "data.rel.ro"), ("FLAGS", "w")]),
            (&["-pie", "-fPIE"], &[("SECTION", "data.rel.ro"), ("FLAGS", "w"), ("HEADER_BASE", "text")]),
            (&["-pie", "-fPIE"], &[("SECTION", "data.rel.ro.gopclntab"), ("FLAGS", "w")]),
            (&["-no-pie"], &[("HEADER_BASE", "text")]),
            (&["-no-pie"], &[("HEADER_BASE", "text"), ("POINTED", "text")]),
        ] {
            let image = image(arguments, changes);
            let functions = GoFunctions::read(&image)
                .unwrap_or_else(|error| panic!("{arguments:?} {changes:?}: {error}"));
            let known = crate::elf::functions_where(&image, |_| true);
            assert!(known.iter().all(|function| functions.name_at(function.address).is_none()));
            let found = functions.find(&["main.third", "main.first", "main.fir", "irst", ""]);
            let names: Vec<&str> = found.iter().map(|function| function.name.as_str()).collect();
            assert_eq!(names, ["main.first", "main.third"], "{arguments:?} {changes:?}");
            let text = functions.text_range();
            assert_eq!(
                (found[0].address, found[0].size_bytes, found[0].source),
                (text.start, 16, SymbolSource::Pclntab)
            );
            assert_eq!((found[1].address.0, text.end.0), (text.start.0 + 32, text.start.0 + 48));
            assert!(image.is_executable(text.start));
        }
    }

    #[test]
    fn names_addresses_inside_go_text_only() {
        let functions = GoFunctions::read(&image(&["-no-pie"], &[])).unwrap();
        let start = functions.text_range().start.0;
        let at = |distance: u64| functions.name_at(ElfAddress(start.wrapping_add(distance)));
        assert_eq!(at(0), Some(("main.first", ElfAddress(start))));
        assert_eq!(at(31), Some(("main.(*T[go.shape.int]).second one", ElfAddress(start + 16))));
        assert_eq!(at(47), Some(("main.third", ElfAddress(start + 32))));
        assert_eq!((at(48), at(1_u64.wrapping_neg()), at(1 << 40)), (None, None, None));
    }

    #[test]
    fn contradictions_are_damage() {
        assert!(damage(&[("SECOND", "first")]).contains("by its record"));
        assert!(damage(&[("MAX", "third")]).contains("module data"));
        assert!(damage(&[("HEADER_BASE", "first")]).contains("text base"));
        assert!(damage(&[("POINTED", "text"), ("HEADER_BASE", "table")]).contains("outside the file's code"));
        assert!(damage(&[("QUANTUM", "2")]).contains("bytes 4 to 7"));
    }

    #[test]
    fn says_what_is_missing() {
        let read = |changes: &[(&str, &str)]| GoFunctions::read(&image(&["-no-pie"], changes)).unwrap_err();
        assert!(matches!(read(&[("POINTED", "text")]), PclntabError::NoTextBase { .. }));
        assert!(matches!(read(&[("SECTION", "elsewhere")]), PclntabError::NotFound));
        let other = read(&[("0xfffffff1", "0xfffffff7")]);
        assert!(matches!(other, PclntabError::UnknownMagic { found: 0xffff_fff7, .. }));
    }
}
