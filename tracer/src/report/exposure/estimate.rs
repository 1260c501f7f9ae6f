//! From what is out to what the next pause costs: a pure function.
//!
//! The number of reads is what a pause of this runtime was measured to take when everything is out, scaled by how much
//! is. The time of a read is measured on this host. Both ends are rounded away from the middle.

use super::{
    model::{Estimate, Exposed},
    reads::{Reads, reads},
};
use crate::{
    exposure::{Exposure, Latency, LatencySource, SwapState},
    report::{model::Unavailable, units},
    runtime::RuntimeKind,
};

/// The mean of the reads of one pause lies between these parts of what a read usually takes, in percent: a device that
/// others use at the same moment takes longer.
const USUAL_PERCENT: (u64, u64) = (90, 200);
/// And, where single reads take much longer than usual, this part of the mean of all, in percent.
const MEAN_PERCENT: u64 = 110;
/// A page that is in the swap cache, or was read ahead, takes this long at most, in ns.
const CACHED_NS: u64 = 6_000;
/// How many times its share of the reads can fall on the part of the memory that is out.
const UNEVEN: u64 = 2;
/// Code is read from its file in pieces of this size (the kernel reads around: `mm/filemap.c`, `do_sync_mmap_readahead`).
const CODE_PIECE_BYTES: u64 = 64 << 10;
/// All, in the unit of shares.
const WHOLE: u64 = 1_000;

/// What a trace knows of the process's pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usual {
    /// What a pause takes outside of faults, in the mean.
    pub pause_ns: Option<u64>,
}

impl Usual {
    /// A pause without faults: least and most.
    fn range(self, reads: &Reads) -> (u64, u64) {
        match self.pause_ns {
            Some(ns) => (ns / 2, ns.saturating_mul(3).max(reads.without_faults_ns.0 * 10)),
            None => reads.without_faults_ns,
        }
    }
}

/// Adds the estimate. `runtime`: `Err` says why none was recognised.
#[must_use]
pub fn exposed(
    found: Exposure,
    runtime: Result<RuntimeKind, String>,
    usual: Usual,
) -> (Exposed, Vec<Unavailable>) {
    let next_pause = next_pause(&found, runtime, usual);
    let unavailable = next_pause.as_ref().err().cloned();
    (Exposed { found, next_pause: next_pause.ok() }, unavailable.into_iter().collect())
}

fn next_pause(
    found: &Exposure,
    runtime: Result<RuntimeKind, String>,
    usual: Usual,
) -> Result<Estimate, Unavailable> {
    let unavailable = |why: String| Unavailable { part: "estimate of the next pause".to_owned(), why };
    let runtime = runtime.map_err(unavailable)?;
    let reads = reads(runtime).ok_or_else(|| {
        unavailable(
            "what this runtime reads with the world stopped has not been measured; for Go it has".to_owned(),
        )
    })?;
    let out = Out::of(found, reads).ok_or_else(|| {
        unavailable("how much of the memory that the runtime reads is swapped out is not known".to_owned())
    })?;
    if out.pages_out == 0 {
        return Ok(nothing_out(found, reads, &out, usual.range(reads)));
    }
    let Some(latency) = &found.latency else {
        return Err(unavailable(format!(
            "{} of the memory that the runtime reads with the world stopped are out, but how long reading one takes is \
             not known here",
            units::counted(out.pages_out, "page", "pages")
        )));
    };
    Ok(with_reads(found, reads, &out, latency, usual.range(reads)))
}

/// How much of what the runtime reads is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    pages_out: u64,
    pages: u64,
    /// Reads for code that is in no memory at all.
    code_reads: u64,
}

impl Out {
    fn of(found: &Exposure, reads: &Reads) -> Option<Self> {
        if found.unread_bytes > 0 {
            return None;
        }
        let page_bytes = rustix::param::page_size() as u64;
        let (mut swapped, mut all) = (0, 0);
        for region in found.regions.iter().filter(|region| reads.regions.contains(&region.region)) {
            let out = region.bytes.swapped_bytes?;
            swapped += out;
            all += out + region.bytes.resident_bytes.saturating_sub(region.bytes.resident_file_bytes);
        }
        // Without an answer nothing is added: code is used all the time, and rarely leaves memory.
        let code_bytes = found.code_not_cached_bytes.unwrap_or(0);
        Some(Self {
            pages_out: swapped / page_bytes,
            pages: all / page_bytes,
            code_reads: code_bytes.div_ceil(CODE_PIECE_BYTES).min(reads.most_code),
        })
    }

    /// In thousandths.
    fn share(&self) -> u64 {
        self.pages_out * WHOLE / self.pages.max(1)
    }
}

fn nothing_out(found: &Exposure, reads: &Reads, out: &Out, usual_ns: (u64, u64)) -> Estimate {
    let code_ns = found.latency.map_or(0, |latency| out.code_reads * most_of(&latency));
    Estimate {
        least_ns: 0,
        most_ns: usual_ns.1 + code_ns,
        least_reads: 0,
        most_reads: out.code_reads,
        regions: reads.regions.to_vec(),
        pages_out: 0,
        pages: out.pages,
        basis: vec![format!(
            "none of the {} that the runtime can read with the world stopped is swapped out: swap adds nothing to the \
             usual pause, which is taken as at most {}",
            units::counted(out.pages, "page", "pages"),
            units::duration(usual_ns.1)
        )],
    }
}

fn with_reads(
    found: &Exposure,
    reads: &Reads,
    out: &Out,
    latency: &Latency,
    usual_ns: (u64, u64),
) -> Estimate {
    let not_cached = not_cached_share(found.swap.as_ref());
    let most_pages = (reads.most * (out.share() * UNEVEN).min(WHOLE)).div_ceil(WHOLE).min(out.pages_out);
    let least_reads = (reads.least * out.share() / WHOLE * not_cached / WHOLE).min(out.pages_out);
    // With nearly all of it in the swap cache no more than the rest can be read from the device.
    let most_reads =
        most_pages.min(not_cached_pages(found.swap.as_ref()).unwrap_or(u64::MAX)) + out.code_reads;
    let least_ns = least_reads * least_of(latency) + usual_ns.0;
    let cached_pages = most_pages.saturating_sub(most_reads);
    let most_ns = most_reads * most_of(latency) + cached_pages * CACHED_NS + usual_ns.1;
    let usual = units::duration(latency.usual_ns);
    let measured = match latency.source {
        LatencySource::Probe => format!(
            "a read takes {usual} in the mean of {} of {} of pauselens's own memory, swapped out and read back a moment \
             ago, without the slowest twentieth",
            units::count(latency.reads),
            units::bytes(latency.probe_bytes.unwrap_or(0))
        ),
        LatencySource::Trace => format!(
            "a read takes {usual} in the mean of the {} that the trace saw in pauses",
            units::counted(latency.reads, "swap-in", "swap-ins")
        ),
    };
    let mut basis = vec![
        format!(
            "{}; {} of their {} are swapped out ({})",
            reads.why,
            units::count(out.pages_out),
            units::counted(out.pages, "page", "pages"),
            units::share(out.pages_out, out.pages)
        ),
        measured,
        format!(
            "at least: {} of {} each: a program with few size classes, and read-ahead of {} that brings most of the others \
             along",
            units::counted(least_reads, "read", "reads"),
            units::duration(least_of(latency)),
            units::counted(found.swap.map_or(8, |swap| swap.read_ahead_pages), "page", "pages"),
        ),
        format!(
            "at most: {}, one by one, of {} each: a program with nearly all size classes, read-ahead that brings nothing \
             that is needed, and a device that others use as well",
            units::counted(most_reads, "read", "reads"),
            units::duration(most_of(latency)),
        ),
    ];
    if not_cached < WHOLE * 9 / 10 {
        basis.push(format!(
            "{} of what the host has swapped out is in its swap cache still, and takes no read",
            units::share(WHOLE - not_cached, WHOLE)
        ));
    }
    if out.code_reads > 0 {
        basis.push(format!(
            "up to {} for the program's code, of which {} is not in memory; its disk is taken to be as fast as swap",
            units::counted(out.code_reads, "read", "reads"),
            units::bytes(found.code_not_cached_bytes.unwrap_or(0))
        ));
    }
    Estimate {
        least_ns,
        most_ns,
        least_reads,
        most_reads,
        regions: reads.regions.to_vec(),
        pages_out: out.pages_out,
        pages: out.pages,
        basis,
    }
}

/// The mean of one pause's reads, at best: what was usual may have been slow, because others used the device just then.
fn least_of(latency: &Latency) -> u64 {
    let usual_ns = latency.usual_ns * USUAL_PERCENT.0 / 100;
    latency.p10_ns.map_or(usual_ns, |p10_ns| p10_ns.min(usual_ns))
}

/// And at worst.
fn most_of(latency: &Latency) -> u64 {
    (latency.usual_ns * USUAL_PERCENT.1 / 100).max(latency.mean_ns * MEAN_PERCENT / 100)
}

/// How much of what is swapped out only the device has, in thousandths.
fn not_cached_share(swap: Option<&SwapState>) -> u64 {
    swap.map_or(WHOLE, |swap| {
        let out = swap.swapped_bytes.saturating_sub(swap.cached_bytes);
        (out * WHOLE).checked_div(swap.swapped_bytes).unwrap_or(WHOLE)
    })
}

/// How many pages only the device has.
fn not_cached_pages(swap: Option<&SwapState>) -> Option<u64> {
    let page_bytes = rustix::param::page_size() as u64;
    swap.map(|swap| swap.swapped_bytes.saturating_sub(swap.cached_bytes) / page_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        exposure::{Bytes, RegionBytes},
        memory::Region,
    };

    const PAGE: u64 = 4096;
    const MS: u64 = 1_000_000;

    /// A Go program: so many pages of its bookkeeping are out, so many in memory.
    fn found(out: u64, resident: u64, usual_ns: Option<u64>) -> Exposure {
        let page = rustix::param::page_size() as u64;
        let region = |region, out: u64, resident: u64| RegionBytes {
            region,
            inferred: true,
            bytes: Bytes {
                mapped_bytes: (out + resident) * page,
                resident_bytes: resident * page,
                swapped_bytes: Some(out * page),
                ..Bytes::none()
            },
        };
        let latency = usual_ns.and_then(|ns| Latency::of_trace(100, 100 * ns));
        Exposure {
            taken_unix_ms: 0,
            took_ns: 0,
            read_by: "pagemap".to_owned(),
            // All of the heap is out; the pause does not read it.
            regions: vec![
                region(Region::RuntimeHeap, 100_000, 0),
                region(Region::RuntimeMetadata, out, resident),
            ],
            total: Bytes::none(),
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
            latency,
        }
    }

    fn estimate(found: &Exposure) -> Estimate {
        next_pause(found, Ok(RuntimeKind::Go), Usual::default()).unwrap()
    }

    #[test]
    fn everything_out() {
        let found = found(500, 0, Some(100_000));
        let estimate = estimate(&found);
        assert_eq!((estimate.least_reads, estimate.most_reads), (24, 190));
        assert_eq!((estimate.pages_out, estimate.pages), (500, 500));
        // The worst pauses seen on disks: 28 to 185 reads. See `reads.rs`.
        assert!(estimate.least_ns < 28 * 100_000 && estimate.most_ns > 185 * 150_000, "{estimate:?}");
        assert!(estimate.most_ns < 20 * estimate.least_ns, "{estimate:?}");
        assert!(!estimate.basis.is_empty());
    }

    #[test]
    fn nothing_out_costs_nothing() {
        let found = found(0, 500, None);
        let estimate = estimate(&found);
        assert_eq!((estimate.least_ns, estimate.least_reads, estimate.most_reads), (0, 0, 0));
        assert!(estimate.most_ns < MS, "{estimate:?}");
    }

    #[test]
    fn less_out_is_less() {
        let half = estimate(&found(250, 250, Some(100_000)));
        assert_eq!((half.least_reads, half.most_reads), (12, 190));
        let little = estimate(&found(50, 450, Some(100_000)));
        assert_eq!((little.least_reads, little.most_reads), (2, 38));
        // Never more reads than pages that are out.
        let few = estimate(&found(7, 0, Some(100_000)));
        assert_eq!((few.least_reads, few.most_reads), (7, 7));
    }

    #[test]
    fn what_is_in_the_swap_cache_takes_no_read() {
        let mut all = found(500, 0, Some(100_000));
        if let Some(swap) = &mut all.swap {
            swap.cached_bytes = swap.swapped_bytes;
        }
        let estimate = estimate(&all);
        assert_eq!((estimate.least_reads, estimate.most_reads), (0, 0));
        assert!(estimate.most_ns < 3 * MS && estimate.least_ns > 0, "{estimate:?}");
    }

    #[test]
    fn code_that_is_not_in_memory_is_read_too() {
        let mut found = found(500, 0, Some(100_000));
        found.code_not_cached_bytes = Some(3 * PAGE);
        assert_eq!(estimate(&found).most_reads, 191);
        found.code_not_cached_bytes = Some(1 << 30);
        assert_eq!(estimate(&found).most_reads, 202);
    }

    #[test]
    fn a_trace_knows_the_usual_pause() {
        let usual = Usual { pause_ns: Some(2 * MS) };
        let estimate = next_pause(&found(0, 500, None), Ok(RuntimeKind::Go), usual).unwrap();
        assert_eq!((estimate.least_ns, estimate.most_ns), (0, 6 * MS));
    }

    #[test]
    fn what_is_missing_is_said() {
        let why = |found: &Exposure, runtime| next_pause(found, runtime, Usual::default()).unwrap_err().why;
        let known = found(500, 0, Some(100_000));
        assert_eq!(why(&known, Err("no runtime".to_owned())), "no runtime");
        assert!(why(&known, Ok(RuntimeKind::Demo)).contains("has not been measured"));
        assert!(why(&found(500, 0, None), Ok(RuntimeKind::Go)).contains("500 pages"));
        let mut unknown = known;
        unknown.regions[1].bytes.swapped_bytes = None;
        assert!(why(&unknown, Ok(RuntimeKind::Go)).contains("not known"));
        let cut = Exposure { unread_bytes: 4096, ..found(0, 500, None) };
        assert!(why(&cut, Ok(RuntimeKind::Go)).contains("not known"));
    }
}
