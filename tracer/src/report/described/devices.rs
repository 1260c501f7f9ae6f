//! Devices that faults read from, by name, and what each serves on this host.

use std::{collections::BTreeMap, fs, os::unix::fs::MetadataExt as _, path::Path};

use crate::{
    pause::{Origin, Reads},
    report::model::DeviceReads,
};

/// Bits of a device number that are the minor one, as the block layer's events have it (Linux `MINORBITS`).
const MINOR_BITS: u32 = 20;

/// What is known of this host's devices and swap areas at this moment.
#[derive(Debug, Default)]
pub struct Devices {
    /// What swaps on each device: `swap partition`, `swap file /var/swap`.
    swap: BTreeMap<(u32, u32), String>,
    zswap: bool,
}

impl Devices {
    /// Looks at the host.
    #[must_use]
    pub fn of_this_host() -> Self {
        let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
        let zswap = fs::read_to_string("/sys/module/zswap/parameters/enabled");
        let mut swap = BTreeMap::new();
        // The first line is the heading. Blanks in paths are `\040`.
        for line in swaps.lines().skip(1) {
            let mut words = line.split_whitespace();
            let (Some(path), Some(kind)) = (words.next(), words.next()) else { continue };
            let path = path.replace("\\040", " ");
            let Ok(metadata) = fs::metadata(&path) else { continue };
            let (number, what) = if kind == "partition" {
                (metadata.rdev(), format!("swap partition {path}"))
            } else {
                (metadata.dev(), format!("swap file {path}"))
            };
            let number = (rustix::fs::major(number), rustix::fs::minor(number));
            swap.entry(number).and_modify(|all: &mut String| *all = format!("{all}, {what}")).or_insert(what);
        }
        Self { swap, zswap: zswap.is_ok_and(|text| text.trim() == "Y") }
    }

    /// The reads of one pause, or of all, longest time first.
    #[must_use]
    pub fn named(&self, reads: &Reads) -> Vec<DeviceReads> {
        let mut named: Vec<DeviceReads> = reads
            .iter()
            .map(|(origin, total)| {
                let (device, serves, inferred) = self.name(*origin);
                DeviceReads {
                    device,
                    serves,
                    faults: total.faults,
                    ns: total.ns,
                    requests: total.requests,
                    bytes: total.bytes,
                    read_ahead_pages: total.read_ahead_pages,
                    inferred: if inferred { total.faults } else { 0 },
                }
            })
            .collect();
        named.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.device.cmp(&b.device)));
        named
    }

    /// The device, what it serves, and whether that is an inference.
    fn name(&self, origin: Origin) -> (String, Option<String>, bool) {
        match origin {
            Origin::Device { device, swap } => {
                let number = (device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1));
                let serves = if swap { self.swap.get(&number).cloned() } else { Some("files".to_owned()) };
                (device_name(number), serves, false)
            }
            Origin::AnotherRead => ("another thread's read".to_owned(), None, true),
            Origin::Memory if self.zswap => {
                ("zswap".to_owned(), Some("compressed cache of swap".to_owned()), true)
            }
            Origin::Memory => ("memory".to_owned(), None, true),
        }
    }
}

fn device_name((major, minor): (u32, u32)) -> String {
    let link = fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok();
    let name = link.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| format!("{major}:{minor}"))
}
