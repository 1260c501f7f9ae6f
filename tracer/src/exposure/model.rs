//! Exposure as data, as it goes into the JSON output; `docs/json.md` describes the fields.

use serde::{Deserialize, Serialize};

use crate::memory::Region;

/// One look at a process's memory.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Exposure {
    /// When it was taken, milliseconds since 1970-01-01 UTC.
    pub taken_unix_ms: u64,
    /// How long the reading took.
    pub took_ns: u64,
    /// How pages were read: `PAGEMAP_SCAN` (Linux 6.7 and later) or `pagemap`.
    pub read_by: String,
    /// Memory by what it belongs to; only regions that there are.
    pub regions: Vec<RegionBytes>,
    /// All of it.
    pub total: Bytes,
    /// How much of the program's code is not in memory at all: not in the page cache either; `null` when that can't be
    /// told.
    pub code_not_cached_bytes: Option<u64>,
    /// Addresses whose pages were not read, because there was no time: they are in no sum.
    pub unread_bytes: u64,
    /// Mappings that were gone or others when the map was read again; they are in no sum.
    pub changed_mappings: u64,
    /// The host's swap; `null` when it can't be told.
    pub swap: Option<SwapState>,
    /// What reading a page back takes; `null` when it was not measured.
    pub latency: Option<Latency>,
}

/// Memory of one region.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct RegionBytes {
    /// What it belongs to.
    pub region: Region,
    /// Whether any of it was placed by a rule about the runtime's layout.
    pub inferred: bool,
    /// How much.
    #[serde(flatten)]
    pub bytes: Bytes,
}

/// Memory by its state. `null` where the kernel does not show it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Bytes {
    /// Addresses that may be accessed.
    pub mapped_bytes: u64,
    /// Addresses that are only reserved (`PROT_NONE`).
    pub reserved_bytes: u64,
    /// In memory, and mapped there by this process.
    pub resident_bytes: u64,
    /// Of that, pages of files and of shared memory: they are not the process's own.
    pub resident_file_bytes: u64,
    /// Swapped out; some of it can be in the kernel's swap cache still. Of shared memory that is not known.
    pub swapped_bytes: Option<u64>,
    /// Private anonymous memory that holds nothing yet.
    pub untouched_bytes: u64,
    /// Pages of files that this process has not mapped; they may or may not be in the page cache.
    pub file_not_mapped_bytes: u64,
    /// Shared memory that this process has not mapped: not touched, swapped out, or mapped by others only.
    pub shared_not_mapped_bytes: u64,
}

/// The host's swap.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct SwapState {
    /// The areas that are on, all together; 0: none is on.
    pub total_bytes: u64,
    /// What is used of them. Memory that is back keeps its place there until it is written again.
    pub used_bytes: u64,
    /// What all processes together have swapped out; where there are too many to ask, what is used.
    pub swapped_bytes: u64,
    /// Of that, what the kernel has in its swap cache still: getting it back takes no read.
    pub cached_bytes: u64,
    /// How many pages the kernel reads at most for one fault: 2 to the power of `vm.page-cluster`.
    pub read_ahead_pages: u64,
}

/// Where a latency is from.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LatencySource {
    /// Memory of pauselens's own, swapped out and read back.
    Probe,
    /// The swap-ins that the trace saw in pauses.
    Trace,
}

/// How long reading a swapped-out page back takes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Latency {
    /// Where it is from.
    pub source: LatencySource,
    /// How many reads of the device were timed, at addresses far from each other.
    pub reads: u64,
    /// Their mean.
    pub mean_ns: u64,
    /// What a read usually takes: the mean without the slowest twentieth; of a trace, the mean.
    pub usual_ns: u64,
    /// Their 10th percentile; `null` when only the mean is known.
    pub p10_ns: Option<u64>,
    /// Their median.
    pub p50_ns: Option<u64>,
    /// Their 90th percentile.
    pub p90_ns: Option<u64>,
    /// Per page, when pages are read one after the other and read-ahead helps.
    pub sequential_page_ns: Option<u64>,
    /// How many pages were read so.
    pub sequential_pages: Option<u64>,
    /// How many reads of the device that took.
    pub sequential_reads: Option<u64>,
    /// How much memory of its own the probe swapped out; `null` when there was none.
    pub probe_bytes: Option<u64>,
}

/// A part that can't be had, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The part.
    pub part: &'static str,
    /// Why, and what would help.
    pub why: String,
}

impl Bytes {
    /// Adds another one. What is unknown in one of them is unknown in the sum.
    pub fn add(&mut self, other: &Self) {
        let both = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        self.mapped_bytes += other.mapped_bytes;
        self.reserved_bytes += other.reserved_bytes;
        self.resident_bytes += other.resident_bytes;
        self.resident_file_bytes += other.resident_file_bytes;
        self.swapped_bytes = both(self.swapped_bytes, other.swapped_bytes);
        self.untouched_bytes += other.untouched_bytes;
        self.file_not_mapped_bytes += other.file_not_mapped_bytes;
        self.shared_not_mapped_bytes += other.shared_not_mapped_bytes;
    }

    /// Nothing, all of it known.
    #[must_use]
    pub fn none() -> Self {
        Self { swapped_bytes: Some(0), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_stays_unknown_in_a_sum() {
        let mut sum = Bytes::none();
        sum.add(&Bytes { resident_bytes: 1, swapped_bytes: Some(2), ..Bytes::none() });
        assert_eq!((sum.resident_bytes, sum.swapped_bytes), (1, Some(2)));
        sum.add(&Bytes { swapped_bytes: None, ..Bytes::none() });
        assert_eq!((sum.resident_bytes, sum.swapped_bytes), (1, None));
    }
}
