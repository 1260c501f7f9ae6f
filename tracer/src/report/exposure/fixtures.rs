//! Looks at memory for tests.

use crate::{
    exposure::{Bytes, Exposure, Latency, LatencySource, RegionBytes, SwapState},
    memory::Region,
};

/// A Go program of which all but its code is swapped out.
pub(crate) fn swapped_out() -> Exposure {
    let page = rustix::param::page_size() as u64;
    let region = |region, inferred, out: u64| RegionBytes {
        region,
        inferred,
        bytes: Bytes { mapped_bytes: out * page, swapped_bytes: Some(out * page), ..Bytes::none() },
    };
    let regions = vec![
        region(Region::RuntimeHeap, true, 25_600),
        region(Region::RuntimeMetadata, true, 500),
        region(Region::ThreadStack, false, 4),
    ];
    let mut total = Bytes::none();
    regions.iter().for_each(|region| total.add(&region.bytes));
    Exposure {
        taken_unix_ms: 1_767_225_600_000,
        took_ns: 620_000,
        read_by: "PAGEMAP_SCAN".to_owned(),
        regions,
        total,
        code_not_cached_bytes: Some(0),
        unread_bytes: 0,
        changed_mappings: 0,
        swap: Some(SwapState {
            total_bytes: 1 << 30,
            used_bytes: 1 << 29,
            swapped_bytes: 1 << 29,
            cached_bytes: 0,
            read_ahead_pages: 8,
        }),
        latency: Some(Latency {
            source: LatencySource::Probe,
            reads: 128,
            mean_ns: 104_000,
            usual_ns: 100_000,
            p10_ns: Some(91_000),
            p50_ns: Some(98_000),
            p90_ns: Some(131_000),
            sequential_page_ns: Some(21_000),
            sequential_pages: Some(512),
            sequential_reads: Some(67),
            probe_bytes: Some(6 << 20),
        }),
    }
}
