//! One look at a process's memory, from its map to the figures.

use std::{
    io,
    time::{Duration, Instant},
};

use thiserror::Error;

use super::{
    file_cache::cached_bytes,
    model::{Exposure, Latency, Missing},
    pages::Pages,
    probe::probe,
    regions::{ByRegion, by_region},
    swap::swap_state,
};
use crate::{
    clock::{monotonic_ns, unix_ms},
    memory::{AddressSpace, Layout},
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
pub struct TakeOptions {
    /// Reading pages may take this long.
    pub within: Duration,
    /// A latency that is known already.
    pub latency: Option<Latency>,
    /// Measure one, when something is swapped out and none is known.
    pub may_probe: bool,
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
    let mut space = AddressSpace::of(pid, target.exe().as_os_str().to_owned(), layout);
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
    let something_out = found.total.swapped_bytes != Some(0)
        && found.regions.iter().any(|region| region.bytes.swapped_bytes.is_some_and(|bytes| bytes > 0));
    let mut latency = options.latency;
    if latency.is_none() && something_out && options.may_probe {
        match probe() {
            Ok(probed) => latency = Some(probed),
            Err(error) => missing.push(Missing { part: "swap-in latency", why: error.to_string() }),
        }
    }
    let exposure = Exposure {
        taken_unix_ms,
        took_ns,
        read_by: pages.read_by().to_owned(),
        regions: found.regions,
        total: found.total,
        code_not_cached_bytes,
        changed_mappings: found.changed,
        swap,
        latency,
    };
    Ok((exposure, missing))
}

fn incomplete(found: &ByRegion, within: Duration, missing: &mut Vec<Missing>) {
    if let Some(at) = found.stopped_at {
        let why = format!(
            "the page map was read up to address {at:#x} in {within:?}; memory from there on is in no sum (a kernel from \
             6.7 on reads it faster)"
        );
        missing.push(Missing { part: "memory", why });
    }
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
