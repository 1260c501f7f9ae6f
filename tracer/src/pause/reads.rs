//! What a pause's faults read, by device.

use std::collections::BTreeMap;

use tracer_common::fault::FaultRecord;

use super::kind::Kind;

const PAGE_BYTES: u64 = 4096;

/// Where a fault's page came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A block device, as the block layer numbers it, and whether it was read for swap or for files.
    Device {
        /// major << 20 | minor.
        device: u32,
        /// Whether it was a swap-in.
        swap: bool,
    },
    /// Nothing was asked of any device, and the thread waited: another thread's read brought the page.
    AnotherRead,
    /// Nothing was asked of any device, and the thread did not wait: a compressed copy in memory.
    Memory,
}

/// Faults of one origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadTotal {
    /// How many faults.
    pub faults: u64,
    /// Their time, in ns.
    pub ns: u64,
    /// How many requests.
    pub requests: u64,
    /// How much was read, in bytes.
    pub bytes: u64,
    /// Pages beyond the one that each fault was about.
    pub read_ahead_pages: u64,
}

/// By origin.
pub type Reads = BTreeMap<Origin, ReadTotal>;

/// Adds a fault that read.
pub(super) fn add(reads: &mut Reads, record: &FaultRecord, kind: Kind, ns: u64) {
    let swap = match kind {
        Kind::SwapIn => true,
        Kind::FileRead => false,
        // A first touch that asks for a block, such as a hole's in a mapped file, is no reading of memory.
        _ if record.read_requests == 0 => return,
        _ => false,
    };
    let origin = if record.read_requests > 0 {
        Origin::Device { device: record.device, swap }
    } else if record.blocked_ns > 0 {
        Origin::AnotherRead
    } else {
        Origin::Memory
    };
    let total = reads.entry(origin).or_default();
    total.faults += 1;
    total.ns += ns;
    total.requests += u64::from(record.read_requests);
    total.bytes += record.read_bytes;
    total.read_ahead_pages += (record.read_bytes / PAGE_BYTES).saturating_sub(1);
}

/// Adds all of another pause's.
pub(super) fn add_all(to: &mut Reads, from: &Reads) {
    for (origin, total) in from {
        let sum = to.entry(*origin).or_default();
        sum.faults += total.faults;
        sum.ns += total.ns;
        sum.requests += total.requests;
        sum.bytes += total.bytes;
        sum.read_ahead_pages += total.read_ahead_pages;
    }
}
