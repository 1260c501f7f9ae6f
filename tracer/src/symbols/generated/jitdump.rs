//! Jitdump files: a header, then records of code that was made or moved.
//!
//! Linux `tools/perf/Documentation/jitdump-specification.txt`, version 1. Header: magic `JiTD`, version, its own size,
//! machine, padding, process id (4 bytes each), time stamp and flags (8 each). A record: its kind and its size with everything
//! in it (4 each), time stamp (8). Kind 0 is code that was made: process and thread (4 each), virtual address, address of
//! the code, its size, its number (8 each), the name ended by a zero byte, the code. Kind 1 is code that was moved: process and
//! thread, virtual address, old and new address, size, number. The others (debug information, close, unwinding) name nothing.

use std::{
    collections::HashMap,
    io::{self, BufRead, Read as _, Seek, SeekFrom},
};

use super::wanted::Wanted;

/// `JiTD` as a number, in the writer's byte order.
const MAGIC: u32 = 0x4a69_5444;
const HEADER_BYTES: usize = 40;
const RECORD_BYTES: u64 = 16;
const MADE: u32 = 0;
const MOVED: u32 = 1;
/// Of `MADE`, without the name and the code.
const MADE_BYTES: u64 = 40;
const MOVED_BYTES: u64 = 48;
/// A longer name is cut.
const LONGEST_NAME: u64 = 4096;

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DumpRecords {
    /// Functions that were made or moved.
    pub(super) functions: u64,
    /// Why reading ended before the file did; what came before was used.
    pub(super) damage: Option<String>,
}

/// Reads a dump that one of these processes must have written. A later record replaces earlier ones that overlap it.
pub(super) fn read_jitdump(
    reader: &mut (impl BufRead + Seek),
    process_ids: &[u32],
    wanted: &mut Wanted,
) -> DumpRecords {
    // Which of the numbers are of code that was moved to where it is wanted; most writers move nothing.
    let mut moved: HashMap<u64, Box<[u8]>> = HashMap::new();
    let first = read(reader, process_ids, |record| {
        if let Record::Moved { number, start, size_bytes } = record
            && wanted.any_in(start, size_bytes)
        {
            moved.insert(number, Box::default());
        }
    });
    if reader.seek(SeekFrom::Start(0)).is_err() {
        return first;
    }
    read(reader, process_ids, |record| match record {
        Record::Made { number, start, size_bytes, name } => {
            wanted.function(start, size_bytes, name);
            if let Some(kept) = moved.get_mut(&number) {
                *kept = name.into();
            }
        }
        Record::Moved { number, start, size_bytes } => {
            if let Some(name) = moved.get(&number).filter(|name| !name.is_empty()) {
                wanted.function(start, size_bytes, name);
            }
        }
    })
}

enum Record<'a> {
    Made { number: u64, start: u64, size_bytes: u64, name: &'a [u8] },
    Moved { number: u64, start: u64, size_bytes: u64 },
}

fn read(
    reader: &mut (impl BufRead + Seek),
    process_ids: &[u32],
    mut seen: impl FnMut(Record<'_>),
) -> DumpRecords {
    let mut records = DumpRecords::default();
    records.damage = read_all(reader, process_ids, &mut records.functions, &mut seen).err();
    records
}

fn read_all(
    reader: &mut (impl BufRead + Seek),
    process_ids: &[u32],
    functions: &mut u64,
    seen: &mut impl FnMut(Record<'_>),
) -> Result<(), String> {
    let mut offset = header(reader, process_ids)?;
    reader.seek(SeekFrom::Start(offset)).map_err(|error| error.to_string())?;
    let mut name = Vec::new();
    loop {
        let cut = |_| format!("it ends in the middle of a record, at byte {offset}");
        if reader.fill_buf().map_err(|error| error.to_string())?.is_empty() {
            return Ok(());
        }
        let head: [u8; RECORD_BYTES as usize] = bytes(reader).map_err(cut)?;
        let (kind, size_bytes) = (number32(&head, 0), u64::from(number32(&head, 4)));
        let least = match kind {
            MADE => RECORD_BYTES + MADE_BYTES + 1,
            MOVED => RECORD_BYTES + MOVED_BYTES,
            _ => RECORD_BYTES,
        };
        if size_bytes < least {
            // A writer that is killed leaves zeros behind where it had made room.
            return Err(format!(
                "the record at byte {offset} says that it has {size_bytes} bytes, and has at least {least}"
            ));
        }
        match kind {
            MADE => {
                let body: [u8; MADE_BYTES as usize] = bytes(reader).map_err(cut)?;
                name.clear();
                let room = size_bytes - RECORD_BYTES - MADE_BYTES;
                reader.by_ref().take(room.min(LONGEST_NAME)).read_until(0, &mut name).map_err(cut)?;
                let whole = name.pop_if(|last| *last == 0).is_some() || name.len() as u64 == LONGEST_NAME;
                if !whole {
                    return Err(format!("the name in the record at byte {offset} has no end"));
                }
                *functions += 1;
                let number = number64(&body, 32);
                seen(Record::Made {
                    number,
                    start: number64(&body, 16),
                    size_bytes: number64(&body, 24),
                    name: &name,
                });
            }
            MOVED => {
                let body: [u8; MOVED_BYTES as usize] = bytes(reader).map_err(cut)?;
                *functions += 1;
                seen(Record::Moved {
                    number: number64(&body, 40),
                    start: number64(&body, 24),
                    size_bytes: number64(&body, 32),
                });
            }
            _ => {}
        }
        offset += size_bytes;
        reader.seek(SeekFrom::Start(offset)).map_err(|error| error.to_string())?;
    }
}

/// Checks the header. Returns where the records begin.
fn header(reader: &mut impl BufRead, process_ids: &[u32]) -> Result<u64, String> {
    let head: [u8; HEADER_BYTES] = bytes(reader).map_err(|_| "it is shorter than its header".to_owned())?;
    let magic = number32(&head, 0);
    if magic == MAGIC.swap_bytes() {
        return Err("it was written on a machine of the other byte order".to_owned());
    }
    if magic != MAGIC {
        return Err(format!("it begins with {magic:#010x}, a jitdump file with {MAGIC:#010x}"));
    }
    let process = number32(&head, 20);
    if !process_ids.contains(&process) {
        return Err(format!("it was written by process {process}, which is another one"));
    }
    let size_bytes = u64::from(number32(&head, 8));
    if size_bytes < HEADER_BYTES as u64 {
        return Err(format!("its header says that it has {size_bytes} bytes, and has {HEADER_BYTES}"));
    }
    Ok(size_bytes)
}

fn bytes<const LENGTH: usize>(reader: &mut impl BufRead) -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The number at that byte; the caller's array is long enough.
fn number32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

fn number64(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const PROCESS: u32 = 4242;

    fn head() -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [MAGIC, 1, 40, 62, 0, PROCESS] {
            bytes.extend_from_slice(&number.to_ne_bytes());
        }
        bytes.resize(HEADER_BYTES, 0);
        bytes
    }

    fn record(kind: u32, numbers: &[u64], rest: &[u8]) -> Vec<u8> {
        let size = 16 + 8 + 8 * numbers.len() + rest.len();
        let mut bytes = [kind.to_ne_bytes(), u32::try_from(size).unwrap().to_ne_bytes()].concat();
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend([PROCESS, PROCESS].iter().flat_map(|id| id.to_ne_bytes()));
        bytes.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
        bytes.extend_from_slice(rest);
        bytes
    }

    fn made(number: u64, start: u64, size: u64, name: &str) -> Vec<u8> {
        let code = vec![0xc3; usize::try_from(size).unwrap()];
        record(MADE, &[start, start, size, number], &[name.as_bytes(), &[0], &code].concat())
    }

    fn moved(number: u64, from: u64, to: u64, size: u64) -> Vec<u8> {
        record(MOVED, &[to, from, to, size, number], &[])
    }

    fn named(bytes: &[u8], addresses: &[u64]) -> (Vec<Option<String>>, DumpRecords) {
        let mut wanted = Wanted::new(addresses.iter().copied());
        let records = read_jitdump(&mut Cursor::new(bytes), &[7, PROCESS], &mut wanted);
        (addresses.iter().map(|address| wanted.name(*address).map(str::to_owned)).collect(), records)
    }

    fn some(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| (!name.is_empty()).then(|| (*name).to_owned())).collect()
    }

    #[test]
    fn later_records_win_and_moves_are_followed() {
        let debug_information = record(2, &[0x1000, 1], b"lines");
        let dump = [
            head(),
            made(1, 0x1000, 0x40, "first <a b>;c"),
            debug_information,
            made(2, 0x2000, 0x20, "second"),
            moved(2, 0x2000, 0x3000, 0x20),
            made(3, 0x1020, 0x10, "over the first"),
            made(4, 0x2000, 0x20, "in the second's old place"),
            record(3, &[], &[]),
        ]
        .concat();
        let (names, records) = named(&dump, &[0x1000, 0x1020, 0x103f, 0x1040, 0x2000, 0x3000]);
        let expected =
            ["first <a b>;c", "over the first", "first <a b>;c", "", "in the second's old place", "second"];
        assert_eq!(names, some(&expected));
        assert_eq!(records, DumpRecords { functions: 5, damage: None });
    }

    #[test]
    fn a_cut_file_keeps_what_came_before() {
        let whole = [head(), made(1, 0x1000, 0x10, "one"), made(2, 0x2000, 0x10, "two")].concat();
        let first_two = head().len() + made(1, 0x1000, 0x10, "one").len();
        for length in 0..whole.len() {
            let (names, records) = named(&whole[..length], &[0x1000, 0x2000]);
            let code_is_cut = |end: usize| length >= end - 0x10;
            let expected = [
                if code_is_cut(first_two) { "one" } else { "" },
                if code_is_cut(whole.len()) { "two" } else { "" },
            ];
            assert_eq!(names, some(&expected), "{length}");
            assert_eq!(
                records.functions,
                expected.iter().filter(|name| !name.is_empty()).count() as u64,
                "{length} {:?}",
                records.damage
            );
        }
    }

    #[test]
    fn damage_is_told() {
        let says = |bytes: &[u8]| named(bytes, &[0x1000]).1.damage.unwrap_or_default();
        assert!(says(b"JiTD").contains("shorter than its header"));
        assert!(says(&[0; 64]).contains("begins with 0x00000000"));
        let mut other = head();
        other[20..24].copy_from_slice(&9_u32.to_ne_bytes());
        assert!(says(&other).contains("written by process 9"));
        other[..4].reverse();
        assert!(says(&other).contains("other byte order"));
        let zeros = [head(), made(1, 0x1000, 4, "one"), vec![0; 64]].concat();
        let (names, records) = named(&zeros, &[0x1000]);
        assert_eq!((names, records.functions), (some(&["one"]), 1));
        assert!(records.damage.unwrap().contains("says that it has 0 bytes"));
        let endless = [head(), record(MADE, &[0x1000, 0x1000, 4, 1], b"no end")].concat();
        assert!(says(&endless).contains("has no end"));
        let mut huge = [head(), made(1, 0x1000, 4, "one")].concat();
        huge[HEADER_BYTES + 4..HEADER_BYTES + 8].fill(0xff);
        assert_eq!(named(&huge, &[0x1000]).0, some(&["one"]), "what is there is used");
    }
}
