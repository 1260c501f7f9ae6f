//! What an address belongs to, in words that a person can use.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use crate::target::{Backing, Mapping};

/// What an address belongs to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// The heap that the runtime's collector manages.
    RuntimeHeap,
    /// The runtime's own bookkeeping outside the heap: span sets, mark bits, arena maps.
    RuntimeMetadata,
    /// A thread's stack, as far as the kernel names it.
    ThreadStack,
    /// The program's own code and data.
    Binary,
    /// A library's code and data.
    Library,
    /// Another file.
    MappedFile,
    /// Shared memory.
    SharedMemory,
    /// Other private memory.
    OtherAnonymous,
    /// The address was in no known mapping, or the fault's detail was dropped.
    Unknown,
}

impl Region {
    /// The word of machine-readable output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::RuntimeHeap => "runtime_heap",
            Self::RuntimeMetadata => "runtime_metadata",
            Self::ThreadStack => "thread_stack",
            Self::Binary => "binary",
            Self::Library => "library",
            Self::MappedFile => "mapped_file",
            Self::SharedMemory => "shared_memory",
            Self::OtherAnonymous => "other_anonymous",
            Self::Unknown => "unknown",
        }
    }
}

impl Region {
    /// For people, after `on`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::RuntimeHeap => "the runtime's heap",
            Self::RuntimeMetadata => "the runtime's own bookkeeping, outside its heap",
            Self::ThreadStack => "a thread's stack",
            Self::Binary => "the program's binary",
            Self::Library => "libraries",
            Self::MappedFile => "mapped files",
            Self::SharedMemory => "shared memory",
            Self::OtherAnonymous => "anonymous memory",
            Self::Unknown => "memory that is not known",
        }
    }
}

/// A region, and whether it follows from a rule about the runtime's layout rather than from what the kernel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The region.
    pub region: Region,
    /// Whether it is an inference.
    pub inferred: bool,
}

/// How the target lays out its anonymous memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Nothing is known of it.
    #[default]
    Plain,
    /// As the Go runtime does.
    Go,
}

/// Addresses from here on are where the kernel puts mappings that ask for no place: below the stack, growing down
/// (Linux x86-64 `mmap_base`; at most 2^40 bytes of it are randomised away).
const KERNEL_CHOSEN: u64 = 0x7000_0000_0000;

/// Places an address. `before` is the mapping that ends where the address's own begins, if there is one.
#[must_use]
pub fn place(mapping: &Mapping, before: Option<&Mapping>, program: &OsString, layout: Layout) -> Placed {
    let seen = |region| Placed { region, inferred: false };
    let inferred = |region| Placed { region, inferred: true };
    match mapping.backing {
        Backing::SharedMemory => seen(Region::SharedMemory),
        Backing::ProbeSteps => seen(Region::Unknown),
        Backing::SharedFile => seen(Region::MappedFile),
        Backing::PrivateFile => seen(file_region(mapping, program)),
        Backing::Anonymous => {
            let name = mapping.name.as_encoded_bytes();
            if name.starts_with(b"[stack") {
                return seen(Region::ThreadStack);
            }
            if let Some(region) = go_name(name) {
                return seen(region);
            }
            // Data that starts as zeros follows the file that it belongs to.
            if let Some(file) = before.filter(|before| before.backing == Backing::PrivateFile) {
                return inferred(file_region(file, program));
            }
            match layout {
                // The heap's arenas are asked for at places of the runtime's choice, far below those that the kernel
                // chooses; everything else is taken where the kernel puts it (Go `src/runtime/malloc.go`).
                Layout::Go if name.is_empty() && mapping.start < KERNEL_CHOSEN => {
                    inferred(Region::RuntimeHeap)
                }
                Layout::Go if name.is_empty() => inferred(Region::RuntimeMetadata),
                _ => seen(Region::OtherAnonymous),
            }
        }
    }
}

/// The names that Go gives its mappings since 1.25, where the kernel keeps names.
fn go_name(name: &[u8]) -> Option<Region> {
    let name = name.strip_prefix(b"[anon: Go: ")?;
    Some(if name.starts_with(b"heap]") { Region::RuntimeHeap } else { Region::RuntimeMetadata })
}

fn file_region(mapping: &Mapping, program: &OsString) -> Region {
    let name = mapping.name.to_string_lossy();
    if mapping.name == *program {
        Region::Binary
    } else if name.contains(".so") {
        Region::Library
    } else {
        Region::MappedFile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::parse_maps;

    #[test]
    fn a_go_program_s_map() {
        let maps = parse_maps(
            b"400000-500000 r-xp 0 fe:00 1 /srv/api\n\
              500000-600000 rw-p 100000 fe:00 1 /srv/api\n\
              600000-640000 rw-p 0 0:0 0\n\
              c000000000-c004000000 rw-p 0 0:0 0\n\
              1d8d88000000-1d8d8c000000 rw-p 0 0:0 0\n\
              7f0000000000-7f0000100000 rw-p 0 0:0 0\n\
              7f0000200000-7f0000300000 r--p 0 fe:00 2 /lib/libc.so.6\n\
              7f0000300000-7f0000310000 rw-p 0 0:0 0\n\
              7f0000400000-7f0000500000 r--p 0 fe:00 3 /data/index\n\
              7f0000600000-7f0000700000 rw-p 0 0:0 0 [anon: Go: heap]\n\
              7f0000800000-7f0000900000 rw-p 0 0:0 0 [anon: Go: heap index]\n\
              7ffc00000000-7ffc00100000 rw-p 0 0:0 0 [stack]\n",
        );
        let expected = [
            (Region::Binary, false),
            (Region::Binary, false),
            (Region::Binary, true),
            (Region::RuntimeHeap, true),
            (Region::RuntimeHeap, true),
            (Region::RuntimeMetadata, true),
            (Region::Library, false),
            (Region::Library, true),
            (Region::MappedFile, false),
            (Region::RuntimeHeap, false),
            (Region::RuntimeMetadata, false),
            (Region::ThreadStack, false),
        ];
        let program = OsString::from("/srv/api");
        for (index, (region, inferred)) in expected.into_iter().enumerate() {
            let before =
                index.checked_sub(1).map(|before| &maps[before]).filter(|b| b.end == maps[index].start);
            let placed = place(&maps[index], before, &program, Layout::Go);
            assert_eq!(placed, Placed { region, inferred }, "{:?}", maps[index]);
        }
        assert_eq!(place(&maps[3], None, &program, Layout::Plain).region, Region::OtherAnonymous);
    }
}
