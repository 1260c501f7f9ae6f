//! One look at a process's memory, from its map to the figures.

use std::{
    io,
    time::{Duration, Instant},
};

use thiserror::Error;

use super::{
    areas::{areas, is_same},
    file_cache::cached_bytes,
    model::{Exposure, Latency, Missing},
    pages::Pages,
    probe::{Probed, probe},
    regions::{ByRegion, by_region},
    swap::swap_state,
};
use crate::{
    clock::{monotonic_ns, unix_ms},
    memory::{AddressSpace, Layout, Program, Region},
    target::{Backing, Target},
};

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The process.
    pub target: &'a Target,
    /// How its runtime lays out memory.
    pub layout: Layout,
}

/// How to look.
#[derive(Clone, Copy, Debug)]
pub struct TakeOptions<'a> {
    /// Reading pages may take this long.
    pub within: Duration,
    /// A latency that is known already.
    pub latency: Option<Latency>,
    /// Measure one, when something of these regions is swapped out and none is known.
    pub may_probe: bool,
    /// The regions that the latency is wanted for; none: all.
    pub regions: &'a [Region],
}

/// Why there is nothing.
#[derive(Debug, Error)]
pub enum ExposureError {
    /// The page map can't be opened.
    #[error(
        "the page map of process {pid} can't be read: /proc/{pid}/pagemap: {source}; run pauselens as root: `sudo \
         pauselens exposure --pid {pid}`"
    )]
    Unreadable {
        /// The process.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The process ended.
    #[error(
        "process {pid} ended while its memory was looked at; `pgrep -a NAME` or `ps -e` shows the ones that run"
    )]
    Ended {
        /// The process.
        pid: u32,
    },
}

/// Looks. What can't be had is `None` in the result, and named beside it.
///
/// # Errors
/// When there is nothing at all: see [`ExposureError`].
pub fn take(subject: Subject<'_>, options: TakeOptions) -> Result<(Exposure, Vec<Missing>), ExposureError> {
    let Subject { target, layout } = subject;
    let pid = target.pid();
    let taken_unix_ms = unix_ms();
    let begin_ns = monotonic_ns();
    let failed = |source| {
        if target.is_alive() {
            ExposureError::Unreadable { pid, source }
        } else {
            ExposureError::Ended { pid }
        }
    };
    let mut pages = Pages::open(pid).map_err(failed)?;
    let mut space = AddressSpace::of(
        pid,
        Program { path: target.exe().as_os_str().to_owned(), layout, zeroed: Vec::new() },
    );
    let found = by_region(&mut space, &mut pages, Instant::now() + options.within).map_err(failed)?;
    if !target.is_alive() {
        return Err(ExposureError::Ended { pid });
    }
    let mut missing = Vec::new();
    incomplete(&found, options.within, &mut missing);
    let code_not_cached_bytes = code_not_cached(target, &space);
    let swap = swap_state();
    if swap.is_none() {
        let why = "/proc/meminfo has no SwapTotal, SwapFree and SwapCached; `swapon --show` lists the areas";
        missing.push(Missing { part: "swap", why: why.to_owned() });
    }
    let took_ns = monotonic_ns().saturating_sub(begin_ns);
    let wanted = |region: Region| options.regions.is_empty() || options.regions.contains(&region);
    let something_out = found
        .regions
        .iter()
        .any(|region| wanted(region.region) && region.bytes.swapped_bytes.is_some_and(|bytes| bytes > 0));
    let mut latency = options.latency;
    if latency.is_none() && something_out && options.may_probe {
        match probe()
            .map_err(|error| error.to_string())
            .and_then(|probed| for_these(&probed, pid, &mut space, options.regions).map(|()| probed.latency))
        {
            Ok(probed) => latency = Some(probed),
            Err(why) => missing.push(Missing { part: "swap-in latency", why }),
        }
    }
    let exposure = Exposure {
        taken_unix_ms,
        took_ns,
        read_by: pages.read_by().to_owned(),
        regions: found.regions,
        total: found.total,
        code_not_cached_bytes,
        unread_bytes: found.unread_bytes,
        changed_mappings: found.changed,
        swap,
        latency,
    };
    Ok((exposure, missing))
}

fn incomplete(found: &ByRegion, within: Duration, missing: &mut Vec<Missing>) {
    if found.unread_bytes > 0 {
        let why = format!(
            "pages of {} bytes of addresses were not read in {within:?}, and are in no sum; Linux 6.7 and later show only \
             pages that there are, which is faster",
            found.unread_bytes
        );
        missing.push(Missing { part: "memory", why });
    }
}

/// More are not looked at to find out which swap areas they are in.
const MOST_PAGES: u64 = 4 << 20;

/// Whether the latency holds for the swap area that the target's pages are in. If not, says so.
fn for_these(probed: &Probed, pid: u32, space: &mut AddressSpace, regions: &[Region]) -> Result<(), String> {
    let ranges: Vec<(u64, u64)> = space
        .mappings()
        .iter()
        .filter(|mapping| mapping.accessible() && mapping.backing != Backing::SharedMemory)
        .map(|mapping| (mapping.start, mapping.end))
        .collect();
    let of_regions = ranges
        .into_iter()
        .filter(|(start, _)| regions.is_empty() || regions.contains(&space.place_now(*start).region));
    let theirs = areas(pid, of_regions, MOST_PAGES).map_err(|error| {
        format!("the swap area of its pages can't be told: /proc/{pid}/pagemap: {error}; try again")
    })?;
    if is_same(&theirs, &probed.areas) {
        return Ok(());
    }
    Err(format!(
        "swap-ins were measured in another swap area ({}) than the process's pages are in ({}), which may be faster or \
         slower; `swapon --show` lists them, and `pauselens attach --pid {pid}` measures the process's own swap-ins",
        numbers(&probed.areas),
        numbers(&theirs)
    ))
}

/// `number 0: 120 pages, number 1: 3 pages`.
fn numbers(areas: &super::areas::Areas) -> String {
    let words: Vec<String> =
        areas.iter().map(|(area, pages)| format!("number {area}: {pages} pages")).collect();
    words.join(", ")
}

/// How much of the program's code is in no memory. `None`: that can't be told.
fn code_not_cached(target: &Target, space: &AddressSpace) -> Option<u64> {
    let file = target.open_executable().ok()?;
    let code = space.mappings().iter().filter(|mapping| {
        mapping.executable
            && mapping.backing == Backing::PrivateFile
            && *mapping.name == *target.exe().as_os_str()
    });
    let mut sum = None;
    for mapping in code {
        let length = mapping.end.saturating_sub(mapping.start);
        let cached = cached_bytes(&file, mapping.offset_bytes, length)?;
        sum = Some(sum.unwrap_or(0) + length.saturating_sub(cached));
    }
    sum
}
