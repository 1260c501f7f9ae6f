//! What a mapping is, from the mapping, the program's file, and, last, rules about the runtime's layout.

use std::{ffi::OsString, ops::Range};

use super::{
    go_names,
    region::{Placed, Region},
};
use crate::target::{Backing, Mapping};

/// How the target lays out its anonymous memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Nothing is known of it.
    #[default]
    Plain,
    /// As the Go runtime does.
    Go,
    /// As HotSpot does.
    HotSpot,
}

/// What is known of the program that the process runs.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its path, as the map shows it.
    pub path: OsString,
    /// How its runtime lays out memory.
    pub layout: Layout,
    /// The runtime addresses that its file has loaded as zeros.
    pub zeroed: Vec<Range<u64>>,
}

/// Addresses from here on are where the kernel puts mappings that ask for no place: below the stack, growing down
/// (Linux x86-64 `mmap_base`; at most 2^40 bytes of it are randomised away).
pub(super) const KERNEL_CHOSEN: u64 = 0x7000_0000_0000;

/// ZGC's heap is shared memory of this name (JDK `src/hotspot/os/linux/gc/z/zPhysicalMemoryBacking_linux.cpp`), mapped in
/// pieces, and several times over in its older form.
const ZGC_HEAP: &str = "/memfd:java_heap";

/// In place of a path that is missing.
const NAMELESS_SHARED: &str = "shared memory without a name";

/// Places a mapping. `before` is the one that ends where it begins, if there is one.
#[must_use]
pub fn place(mapping: &Mapping, before: Option<&Mapping>, program: &Program) -> Placed {
    let name = mapping.name.to_string_lossy();
    match mapping.backing {
        Backing::SharedMemory if program.layout == Layout::HotSpot && name.starts_with(ZGC_HEAP) => {
            Placed::seen(Region::RuntimeHeap, "Java heap")
        }
        Backing::SharedMemory if name.is_empty() => Placed::seen(Region::SharedMemory, NAMELESS_SHARED),
        Backing::SharedMemory => Placed::seen(Region::SharedMemory, &*name),
        Backing::ProbeSteps => {
            Placed::seen(Region::Unknown, "[uprobes], the page in which probed instructions are stepped")
        }
        Backing::SharedFile => Placed::seen(Region::MappedFile, &*name),
        Backing::PrivateFile => match file_region(mapping, program) {
            Region::Binary => Placed::seen(Region::Binary, segment(mapping)),
            region => Placed::seen(region, &*name),
        },
        Backing::Anonymous => anonymous(mapping, before, program),
    }
}

fn anonymous(mapping: &Mapping, before: Option<&Mapping>, program: &Program) -> Placed {
    let name = mapping.name.to_string_lossy();
    if name.starts_with("[stack") {
        return Placed::seen(Region::ThreadStack, &*name);
    }
    if let Some(placed) = go_names::place(mapping.name.as_encoded_bytes()) {
        return placed;
    }
    if !name.is_empty() {
        return Placed::seen(Region::OtherAnonymous, &*name);
    }
    if program.zeroed.iter().any(|zeroed| zeroed.start < mapping.end && mapping.start < zeroed.end) {
        return Placed::seen(Region::Binary, "zeroed data");
    }
    // Data that starts as zeros follows the file that it belongs to.
    if let Some(file) = before.filter(|before| before.backing == Backing::PrivateFile && before.writable) {
        return match file_region(file, program) {
            Region::Binary => Placed::inferred(Region::Binary, "zeroed data"),
            region => Placed::inferred(region, format!("{}, zeroed data", file.name.to_string_lossy())),
        };
    }
    match program.layout {
        // The heap's arenas are asked for at places of the runtime's choice, far below those that the kernel
        // chooses; everything else is taken where the kernel puts it (Go `src/runtime/malloc.go`).
        Layout::Go if mapping.start < KERNEL_CHOSEN => Placed::inferred(Region::RuntimeHeap, "heap arenas"),
        Layout::Go => Placed::inferred(Region::RuntimeMetadata, "bookkeeping"),
        Layout::Plain | Layout::HotSpot => Placed::seen(Region::OtherAnonymous, "anonymous memory"),
    }
}

fn segment(mapping: &Mapping) -> &'static str {
    match (mapping.executable, mapping.writable) {
        (true, _) => "text",
        (false, true) => "data",
        (false, false) => "read-only data",
    }
}

fn file_region(mapping: &Mapping, program: &Program) -> Region {
    let name = mapping.name.to_string_lossy();
    if mapping.name == program.path {
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
              500000-600000 r--p 100000 fe:00 1 /srv/api\n\
              600000-610000 rw-p 200000 fe:00 1 /srv/api\n\
              610000-640000 rw-p 0 0:0 0\n\
              640000-680000 rw-p 0 0:0 0 [heap]\n\
              c000000000-c004000000 rw-p 0 0:0 0\n\
              1d8d88000000-1d8d8c000000 rw-p 0 0:0 0\n\
              7f0000000000-7f0000100000 rw-p 0 0:0 0\n\
              7f0000200000-7f0000300000 rw-p 0 fe:00 2 /lib/libc.so.6\n\
              7f0000300000-7f0000310000 rw-p 0 0:0 0\n\
              7f0000400000-7f0000500000 r--p 0 fe:00 3 /data/index\n\
              7f0000500000-7f0000510000 rw-p 0 0:0 0\n\
              7f0000600000-7f0000700000 rw-p 0 0:0 0 [anon: Go: heap]\n\
              7f0000800000-7f0000900000 rw-p 0 0:0 0 [anon: Go: heap index]\n\
              7f0000900000-7f0000a00000 rw-s 0 0:1 5 /memfd:x (deleted)\n\
              7ffc00000000-7ffc00100000 rw-p 0 0:0 0 [stack]\n\
              7ffc00200000-7ffc00300000 r-xp 0 0:0 0 [vdso]\n",
        );
        let expected = [
            (Region::Binary, "text", false),
            (Region::Binary, "read-only data", false),
            (Region::Binary, "data", false),
            (Region::Binary, "zeroed data", true),
            (Region::OtherAnonymous, "[heap]", false),
            (Region::RuntimeHeap, "heap arenas", true),
            (Region::RuntimeHeap, "heap arenas", true),
            (Region::RuntimeMetadata, "bookkeeping", true),
            (Region::Library, "/lib/libc.so.6", false),
            (Region::Library, "/lib/libc.so.6, zeroed data", true),
            (Region::MappedFile, "/data/index", false),
            (Region::RuntimeMetadata, "bookkeeping", true),
            (Region::RuntimeHeap, "heap arenas", false),
            (Region::RuntimeMetadata, "arena index", false),
            (Region::SharedMemory, "/memfd:x (deleted)", false),
            (Region::ThreadStack, "[stack]", false),
            (Region::OtherAnonymous, "[vdso]", false),
        ];
        let program = Program { path: "/srv/api".into(), layout: Layout::Go, zeroed: Vec::new() };
        for (index, (region, what, inferred)) in expected.into_iter().enumerate() {
            let before =
                index.checked_sub(1).map(|before| &maps[before]).filter(|b| b.end == maps[index].start);
            let placed = place(&maps[index], before, &program);
            let found = (placed.region, &*placed.what, placed.inferred);
            assert_eq!(found, (region, what, inferred), "{:?}", maps[index]);
        }
        let plain = Program { layout: Layout::Plain, ..program.clone() };
        assert_eq!(place(&maps[5], None, &plain).region, Region::OtherAnonymous);
        let heap = parse_maps(b"40000000000-40000200000 rw-s 0 0:1 5 /memfd:java_heap (deleted)\n");
        let hotspot = Program { layout: Layout::HotSpot, ..program.clone() };
        assert_eq!(place(&heap[0], None, &hotspot).region, Region::RuntimeHeap);
        assert_eq!(place(&heap[0], None, &plain).region, Region::SharedMemory);
        // What the file's headers say is no inference.
        let zeroed = std::iter::once(0x60_8000..0x63_f123).collect();
        let placed = place(&maps[3], Some(&maps[2]), &Program { zeroed, ..program });
        assert_eq!((placed.region, placed.inferred), (Region::Binary, false));
    }
}
