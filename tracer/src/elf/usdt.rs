//! User-space tracepoints (USDT): the notes that a file holds of them, with where each one is and where its arguments are.
//!
//! The form of the notes is SystemTap's `sys/sdt.h`, version 3: a note of type 3, named `stapsdt`, in `.note.stapsdt`.

use object::{LittleEndian, read::elf::SectionHeader as _};

use super::{ElfAddress, FileOffset, Image};

const NOTE_TYPE: u32 = 3;
const NOTE_NAME: &[u8] = b"stapsdt";
/// The section whose address tells by how much the file was moved after it was linked.
const BASE_SECTION: &[u8] = b".stapsdt.base";

/// One place of a tracepoint; the same tracepoint can have several.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Usdt {
    /// Who provides it, such as `hotspot`.
    pub provider: String,
    /// Its name, such as `gc__begin`.
    pub name: String,
    /// The instruction.
    pub address: ElfAddress,
    /// The counter that must be raised for the tracepoint to be reached; `None` when there is none.
    pub semaphore: Option<FileOffset>,
    /// Where its arguments are, in order.
    pub arguments: Vec<Operand>,
}

/// Where an argument is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Operand {
    /// In a register: its name without `%`, the argument's size in bytes, and whether it is signed.
    Register {
        /// Such as `rdi` or `edi` or `x0`.
        name: String,
        /// 1, 2, 4 or 8.
        size_bytes: u8,
        /// Whether it is signed.
        signed: bool,
    },
    /// A constant.
    Constant(i64),
    /// In memory.
    Memory {
        /// The register that the address is counted from, such as `rsp`.
        register: String,
        /// How far from there, in bytes.
        offset_bytes: i32,
        /// 1, 2, 4 or 8.
        size_bytes: u8,
        /// Whether it is signed.
        signed: bool,
    },
    /// In a form that is not known: as the note has it.
    Elsewhere(String),
}

/// The tracepoints of a file, as its notes tell. Notes that are damaged are left out.
#[must_use]
pub fn usdt(image: &Image) -> Vec<Usdt> {
    let Some(sections) = image.sections() else { return Vec::new() };
    let data = image.file_bytes();
    let base = sections
        .section_by_name(LittleEndian, BASE_SECTION)
        .map(|(_, section)| section.sh_addr(LittleEndian));
    let mut found = Vec::new();
    for section in sections.iter() {
        let Ok(Some(mut notes)) = section.notes(LittleEndian, data) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.n_type(LittleEndian).0 == NOTE_TYPE && note.name() == NOTE_NAME {
                found.extend(parse(image, note.desc(), base));
            }
        }
    }
    found
}

fn parse(image: &Image, note: &[u8], base: Option<u64>) -> Option<Usdt> {
    let word = |index: usize| {
        let bytes = note.get(8 * index..8 * index + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let (address, linked_base, semaphore) = (word(0)?, word(1)?, word(2)?);
    let moved = base.filter(|_| linked_base != 0).map_or(0, |base| base.wrapping_sub(linked_base));
    let mut texts = note.get(24..)?.split(|byte| *byte == 0).map(|text| str::from_utf8(text).ok());
    let (provider, name) = (texts.next()??, texts.next()??);
    let arguments = texts.next().flatten().unwrap_or_default();
    let semaphore = (semaphore != 0).then(|| image.file_offset(ElfAddress(semaphore.wrapping_add(moved))));
    // Without its counter's place the tracepoint would stay silent.
    let semaphore = match semaphore {
        None => None,
        Some(Some(offset)) => Some(offset),
        Some(None) => return None,
    };
    Some(Usdt {
        provider: provider.to_owned(),
        name: name.to_owned(),
        address: ElfAddress(address.wrapping_add(moved)),
        semaphore,
        arguments: words(arguments).map(operand).collect(),
    })
}

/// Splits at blanks outside brackets: `8@[sp, 16]` is one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |character: char| {
        match character {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ => {}
        }
        character.is_ascii_whitespace() && depth <= 0
    })
    .filter(|word| !word.is_empty())
}

fn operand(text: &str) -> Operand {
    let elsewhere = || Operand::Elsewhere(text.to_owned());
    let Some((size, place)) = text.split_once('@') else { return elsewhere() };
    let Ok(size) = size.parse::<i8>() else { return elsewhere() };
    if let Some(number) = place.strip_prefix('$') {
        return number.parse().map_or_else(|_| elsewhere(), Operand::Constant);
    }
    if let Ok(number) = place.parse() {
        return Operand::Constant(number);
    }
    if let Some((register, offset_bytes)) = memory(place) {
        return Operand::Memory { register, offset_bytes, size_bytes: size.unsigned_abs(), signed: size < 0 };
    }
    let name = place.strip_prefix('%').unwrap_or(place);
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return elsewhere();
    }
    Operand::Register { name: name.to_owned(), size_bytes: size.unsigned_abs(), signed: size < 0 }
}

/// A register and a distance: `-8(%rbp)` on x86, `[sp, 16]` on Arm. Other forms of addresses are not read.
fn memory(place: &str) -> Option<(String, i32)> {
    let (register, offset) = if let Some(inside) = place.strip_prefix('[') {
        let inside = inside.strip_suffix(']')?;
        let (register, offset) = inside.split_once(',').unwrap_or((inside, "0"));
        (register.trim(), offset.trim().trim_start_matches('#'))
    } else {
        let (offset, rest) = place.split_once('(')?;
        (rest.strip_suffix(')')?.strip_prefix('%')?, if offset.is_empty() { "0" } else { offset })
    };
    let plain = !register.is_empty() && register.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then_some(())?;
    Some((register.to_owned(), offset.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::test_files::{compile, open};

    /// A note as `sys/sdt.h` makes it, written out: the header need not be installed.
    const SOURCE: &str = r#"
        unsigned short counter __attribute__((section(".probes"), used)) = 0;
        __attribute__((noinline, used)) int probed(int x) {
            __asm__ volatile(
                "990: nop\n"
                ".pushsection .note.stapsdt,\"?\",\"note\"\n"
                ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
                "991: .asciz \"stapsdt\"\n992: .balign 4\n"
                "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte counter\n"
                ".asciz \"demo\"\n.asciz \"begin\"\n.asciz \"-4@%edi 8@$7 8@-24(%rbp) 8@[sp, 16]\"\n"
                "994: .balign 4\n.popsection\n"
                ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
                ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.popsection\n");
            return x;
        }
        int main(int argc, char **argv) { (void)argv; return probed(argc) + counter; }"#;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn reads_place_semaphore_and_arguments_however_linked() {
        for arguments in [&["-O1", "-no-pie"][..], &["-O1", "-pie", "-fPIE"], &["-O1", "-no-pie", "-s"]] {
            let folder = tempfile::tempdir().unwrap();
            let image = open(&compile(folder.path(), SOURCE, arguments));
            let found = usdt(&image);
            assert_eq!(found.len(), 1, "{arguments:?}");
            assert_eq!((found[0].provider.as_str(), found[0].name.as_str()), ("demo", "begin"));
            assert_eq!(image.bytes(found[0].address, 1), Some(&[0x90][..]), "{arguments:?}");
            assert!(found[0].semaphore.is_some());
            assert_eq!(
                found[0].arguments,
                [
                    Operand::Register { name: "edi".to_owned(), size_bytes: 4, signed: true },
                    Operand::Constant(7),
                    Operand::Memory {
                        register: "rbp".to_owned(),
                        offset_bytes: -24,
                        size_bytes: 8,
                        signed: false,
                    },
                    Operand::Memory {
                        register: "sp".to_owned(),
                        offset_bytes: 16,
                        size_bytes: 8,
                        signed: false,
                    },
                ]
            );
        }
    }

    #[test]
    fn operands_in_memory_are_a_register_and_a_distance() {
        let read = |text: &str| match operand(text) {
            Operand::Memory { register, offset_bytes, size_bytes, signed } => {
                Some((register, offset_bytes, size_bytes, signed))
            }
            _ => None,
        };
        let at = |register: &str, offset, size, signed| Some((register.to_owned(), offset, size, signed));
        assert_eq!(read("-4@112(%rsp)"), at("rsp", 112, 4, true));
        assert_eq!(read("8@(%rax)"), at("rax", 0, 8, false));
        assert_eq!(read("-4@[sp, 44]"), at("sp", 44, 4, true));
        assert_eq!(read("4@[x0]"), at("x0", 0, 4, false));
        // Other ways of addressing.
        assert_eq!(read("8@8(%rax,%rbx,4)"), None);
        assert_eq!(read("8@counter(%rip)"), None);
        assert_eq!(read("8@[x0, x1]"), None);
    }

    #[test]
    fn a_file_without_notes_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(usdt(&open(&compile(folder.path(), "int main(void) { return 0; }", &[]))), []);
    }
}
