//! What a recorder and those of its processes share.

use std::time::{Duration, Instant};

use super::{file::RecordingFile, memory::MemorySampler};
use crate::{pause::Losses, report::described::Devices};

/// A recording while it is made.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) file: RecordingFile,
    pub(super) devices: Devices,
    pub(super) zero_ns: u64,
    pub(super) pauses: u64,
    pub(super) faults: u64,
    pub(super) memory: Option<MemorySampler>,
    pub(super) what: Recordable,
    pub(super) started: bool,
    pub(super) processes: u32,
    pub(super) flushed: Instant,
    pub(super) losses: Losses,
}

/// What is recorded, and how.
#[derive(Clone, Debug)]
pub struct Recordable {
    /// What is traced, in words.
    pub asked: String,
    /// The size in bytes that the file must not exceed.
    pub max_size_bytes: Option<u64>,
    /// The state of memory is read this often; zero: never.
    pub memory_interval: Duration,
    /// So many of the worst pauses are reported: the state of memory is read at their ends as well.
    pub worst: usize,
    /// So many of the longest pauses are listed in the report at most, with the state of memory at their ends.
    pub listed: usize,
}

/// A time from the start of the trace, in ns.
pub(super) fn since(zero_ns: u64, ns: u64) -> i64 {
    i64::try_from(i128::from(ns) - i128::from(zero_ns)).unwrap_or(i64::MAX)
}
