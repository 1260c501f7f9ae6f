//! One pass over a process's mappings: bytes by region and state.

use std::{collections::BTreeMap, io, time::Instant};

use super::{
    model::{Bytes, RegionBytes},
    pages::{Counted, Pages},
};
use crate::{
    memory::{AddressSpace, Region},
    target::{Backing, Mapping},
};

/// Reserved addresses beyond this size are taken to hold nothing where each page would have to be read.
const RESERVED_BYTES: u64 = 64 << 20;

/// What one pass has found.
#[derive(Clone, Debug, Default)]
pub(super) struct ByRegion {
    pub(super) regions: Vec<RegionBytes>,
    pub(super) total: Bytes,
    /// Mappings that were others, or gone, after the pass.
    pub(super) changed: u64,
    /// Addresses that were not read by the deadline.
    pub(super) unread_bytes: u64,
}

/// Counts the pages of every mapping.
///
/// # Errors
/// When the page map can't be read any more.
pub(super) fn by_region(
    space: &mut AddressSpace,
    pages: &mut Pages,
    deadline: Instant,
) -> io::Result<ByRegion> {
    let mappings: Vec<Mapping> = space.mappings().to_vec();
    let mut found = ByRegion { total: Bytes::none(), ..ByRegion::default() };
    let mut counted = Vec::with_capacity(mappings.len());
    for mapping in &mappings {
        if !is_memory(mapping) {
            continue;
        }
        // What is only reserved nearly always holds nothing, and asking page by page takes long.
        let large = mapping.end.saturating_sub(mapping.start) > RESERVED_BYTES;
        let skipped = !mapping.accessible() && large && !pages.skips_holes();
        let end = if skipped { mapping.start } else { mapping.end };
        match pages.count(mapping.start, end, deadline)? {
            Some(count) => counted.push((mapping, count)),
            // The next ones are not begun: only what is read whole counts.
            None => found.unread_bytes += mapping.end.saturating_sub(mapping.start),
        }
    }
    // A mapping that went away while it was read was counted as one that holds nothing, or in part.
    space.reread();
    let mut regions: BTreeMap<Region, RegionBytes> = BTreeMap::new();
    for (mapping, count) in counted {
        let now = space.mappings().iter().find(|now| now.start == mapping.start);
        if !now.is_some_and(|now| is_same(now, mapping)) {
            found.changed += 1;
            continue;
        }
        let placed = space.place_now(mapping.start);
        let bytes = states(mapping, count);
        let entry = regions.entry(placed.region).or_insert(RegionBytes {
            region: placed.region,
            inferred: false,
            bytes: Bytes::none(),
        });
        entry.inferred |= placed.inferred;
        entry.bytes.add(&bytes);
        found.total.add(&bytes);
    }
    found.regions = regions.into_values().collect();
    Ok(found)
}

/// Neither the page in which the kernel steps probed instructions, nor what the kernel maps into every process.
fn is_memory(mapping: &Mapping) -> bool {
    let name = mapping.name.as_encoded_bytes();
    mapping.backing != Backing::ProbeSteps && !name.starts_with(b"[v")
}

/// It may have grown or shrunk by a little; then what was counted still is of it.
fn is_same(now: &Mapping, then: &Mapping) -> bool {
    (now.end, now.backing, &now.file, now.accessible())
        == (then.end, then.backing, &then.file, then.accessible())
}

fn states(mapping: &Mapping, count: Counted) -> Bytes {
    let Counted { resident_bytes, resident_file_bytes, swapped_bytes } = count;
    let length = mapping.end.saturating_sub(mapping.start);
    let rest = length.saturating_sub(resident_bytes).saturating_sub(swapped_bytes);
    let known =
        Bytes { resident_bytes, resident_file_bytes, swapped_bytes: Some(swapped_bytes), ..Bytes::none() };
    if !mapping.accessible() {
        return Bytes { reserved_bytes: length, ..known };
    }
    let known = Bytes { mapped_bytes: length, ..known };
    match mapping.backing {
        Backing::Anonymous | Backing::ProbeSteps => Bytes { untouched_bytes: rest, ..known },
        Backing::PrivateFile | Backing::SharedFile => Bytes { file_not_mapped_bytes: rest, ..known },
        // The page map does not show what of shared memory is swapped out (`fs/proc/task_mmu.c`).
        Backing::SharedMemory => Bytes { shared_not_mapped_bytes: rest, swapped_bytes: None, ..known },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{memory::Program, target::parse_maps};

    #[test]
    fn states_add_up_to_the_mapping() {
        let maps = parse_maps(
            b"1000-5000 rw-p 0 0:0 0\n5000-9000 r--p 0 fe:0 7 /a\n9000-d000 rw-s 0 0:1 8 /memfd:x\n\
              d000-11000 ---p 0 0:0 0\n",
        );
        let count = Counted { resident_bytes: 0x1000, resident_file_bytes: 0, swapped_bytes: 0x1000 };
        let of = |index: usize| states(&maps[index], count);
        assert_eq!((of(0).untouched_bytes, of(0).swapped_bytes), (0x2000, Some(0x1000)));
        assert_eq!(of(1).file_not_mapped_bytes, 0x2000);
        assert_eq!((of(2).shared_not_mapped_bytes, of(2).swapped_bytes), (0x2000, None));
        assert_eq!((of(3).reserved_bytes, of(3).mapped_bytes, of(3).untouched_bytes), (0x4000, 0, 0));
    }

    /// This process, against what the kernel says of it. Other tests run in it meanwhile.
    #[test]
    fn our_own_memory_is_about_what_the_kernel_says() {
        let pid = std::process::id();
        let mut space = AddressSpace::of(pid, Program::default());
        let mut pages = Pages::open(pid).unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        let found = by_region(&mut space, &mut pages, deadline).unwrap();
        assert_eq!(found.unread_bytes, 0);
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let rss: u64 = line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() << 10;
        let ours = found.total.resident_bytes;
        assert!(ours.abs_diff(rss) < rss / 2, "{ours} against {rss}");
        let sum: u64 = found.regions.iter().map(|region| region.bytes.resident_bytes).sum();
        assert_eq!(sum, ours);
    }
}
