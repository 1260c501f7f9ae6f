//! The mapping of this program's own code.

use std::process;

use anyhow::{Context as _, Result};

use super::{super::world, Pages};
use crate::target::read_maps;

/// A read fault maps what else is cached in the same window (Linux: `fault_around_bytes`).
const WINDOW_BYTES: usize = 64 * 1024;

/// It.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct OwnText {
    start: usize,
    end: usize,
}

/// Finds it: it is where the pause functions are.
pub(in super::super) fn mapping() -> Result<OwnText> {
    let function = world::pauselens_demo_stop_world as *const () as u64;
    let mappings = read_maps(process::id()).context("could not read /proc/self/maps")?;
    let text = mappings
        .iter()
        .find(|mapping| mapping.contains(function))
        .context("/proc/self/maps does not have this program's own code")?;
    Ok(OwnText { start: usize::try_from(text.start)?, end: usize::try_from(text.end)? })
}

impl OwnText {
    pub(in super::super) fn all(self) -> Pages {
        Pages::new(self.start as *mut u8, self.end - self.start, 1)
    }

    /// One page in each window: mapping one maps no other.
    pub(in super::super) fn one_in_each_window(self) -> impl Iterator<Item = *mut u8> {
        (self.start.next_multiple_of(WINDOW_BYTES)..self.end)
            .step_by(WINDOW_BYTES)
            .map(|address| address as *mut u8)
    }
}
