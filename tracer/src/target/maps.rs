//! `/proc/PID/maps`: which addresses belong to which mapping.

use std::{ffi::OsString, fs, io, os::unix::ffi::OsStringExt as _};

/// What stands behind a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Private anonymous memory, the heap and stacks included.
    Anonymous,
    /// A private mapping of a file.
    PrivateFile,
    /// A shared mapping of a file.
    SharedFile,
    /// Shared memory: `/dev/shm`, `memfd`, System V, `MAP_SHARED|MAP_ANONYMOUS`.
    SharedMemory,
    /// The page in which the kernel steps probed instructions: there because of a tracer.
    ProbeSteps,
}

/// Which file stands behind a mapping, as the map gives it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Device, such as `fe:00`.
    pub device: String,
    /// Inode; 0 for none.
    pub inode: u64,
}

/// One line of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Offset of `start` in the file, in bytes.
    pub offset_bytes: u64,
    /// Whether code may be executed there.
    pub executable: bool,
    /// Whether it may be read.
    pub readable: bool,
    /// Whether it may be written to.
    pub writable: bool,
    /// Which file it is.
    pub file: FileId,
    /// What stands behind it.
    pub backing: Backing,
    /// The path, or the kernel's name in brackets, as the kernel prints it; empty when it has none.
    pub name: OsString,
}

impl Mapping {
    /// Whether the address is inside.
    #[must_use]
    pub fn contains(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// Whether it may be accessed at all: addresses that are only reserved may not.
    #[must_use]
    pub fn accessible(&self) -> bool {
        self.readable || self.writable || self.executable
    }

    /// Whether a file that can be opened stands behind it.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.file.inode != 0
    }
}

/// Reads the map of a process, ordered by address.
///
/// # Errors
/// When `/proc/PID/maps` can't be read.
pub fn read_maps(pid: u32) -> io::Result<Vec<Mapping>> {
    Ok(parse_maps(&fs::read(format!("/proc/{pid}/maps"))?))
}

/// Parses the text of a map. A line that is not of the known form is left out: one odd line must not stop anything.
#[must_use]
pub fn parse_maps(text: &[u8]) -> Vec<Mapping> {
    text.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mapping> {
    // start-end perms offset dev inode   name; the name may hold anything but a newline.
    let mut fields = Fields { rest: line };
    let (start, end) = fields.next_word()?.split_once('-')?;
    let permissions = fields.next_word()?.as_bytes();
    let offset = fields.next_word()?;
    let device = fields.next_word()?;
    let inode: u64 = fields.next_word()?.parse().ok()?;
    let name = fields.rest.trim_ascii_start();
    let shared = permissions.get(3) == Some(&b's');
    let is_shared_memory = name.starts_with(b"/dev/shm/")
        || name.starts_with(b"/memfd:")
        || name.starts_with(b"/SYSV")
        || name.starts_with(b"/dev/zero");
    let backing = match (inode != 0, shared) {
        _ if name == b"[uprobes]" => Backing::ProbeSteps,
        (_, true) if is_shared_memory || inode == 0 => Backing::SharedMemory,
        (true, true) => Backing::SharedFile,
        (true, false) => Backing::PrivateFile,
        (false, _) => Backing::Anonymous,
    };
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        offset_bytes: u64::from_str_radix(offset, 16).ok()?,
        executable: permissions.get(2) == Some(&b'x'),
        readable: permissions.first() == Some(&b'r'),
        writable: permissions.get(1) == Some(&b'w'),
        file: FileId { device: device.to_owned(), inode },
        backing,
        name: OsString::from_vec(name.to_vec()),
    })
}

struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn next_word(&mut self) -> Option<&'a str> {
        let text = self.rest.trim_ascii_start();
        let length = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(length);
        self.rest = rest;
        if word.is_empty() { None } else { std::str::from_utf8(word).ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_lines_stop_nothing() {
        let text = b"00400000-0047f000 r-xp 00001000 fe:00 131 /usr/bin/a b\n\
            \n\
            garbage\n\
            7f00-zz r-xp 0 0:0 0\n\
            c000000000-c000400000 rw-p 00000000 00:00 0 [anon: Go: heap]\n\
            7f0000000000-7f0000001000 rw-s 00000000 00:01 77 /memfd:x (deleted)\n\
            7f0000001000-7f0000002000 rw-s 00000000 fe:00 78 /data/with\\012newline\n\
            7ffd0000-7ffe0000 rw-p 00000000 00:00 0                          [stack]\n\
            7f0000003000-7f0000004000 r--p 00000000 fe:00 79 /lib/\xff\xfe.so";
        let maps = parse_maps(text);
        let backings: Vec<_> = maps.iter().map(|mapping| mapping.backing).collect();
        assert_eq!(
            backings,
            [
                Backing::PrivateFile,
                Backing::Anonymous,
                Backing::SharedMemory,
                Backing::SharedFile,
                Backing::Anonymous,
                Backing::PrivateFile
            ]
        );
        assert_eq!(maps[0].name, "/usr/bin/a b");
        assert!(maps.iter().all(|mapping| mapping.accessible()));
        assert!(!parse_maps(b"1000-2000 ---p 0 0:0 0\n")[0].accessible());
        assert!(maps[1].writable && !maps[0].writable);
        assert!(maps[0].executable && maps[0].is_file() && maps[0].contains(0x47_efff));
        assert!(!maps[0].contains(0x47_f000));
        assert_eq!(maps[1].name, "[anon: Go: heap]");
        assert_eq!(maps[5].name.as_encoded_bytes(), b"/lib/\xff\xfe.so");
    }

    #[test]
    fn our_own_map_is_read() {
        let maps = read_maps(std::process::id()).expect("our own map");
        let here = our_own_map_is_read as fn() as usize as u64;
        assert!(maps.iter().any(|mapping| mapping.contains(here) && mapping.executable && mapping.is_file()));
        assert!(maps.iter().any(|mapping| mapping.name == "[stack]"));
    }
}
