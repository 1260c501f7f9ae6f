//! Which processes a trace is of: those there at its start, and those that come while it runs.

use std::time::Duration;

use super::{matching::Matching, subject::Subject};
use crate::{runtime::Chosen, target::Target};
use tracer_common::lineage::tell;

/// Which processes are traced.
#[derive(Debug)]
pub struct Scope {
    /// Those that are known, with their runtimes.
    pub subjects: Vec<Subject>,
    /// Processes in which no runtime is recognised yet, and why not. They are looked at again while the trace runs.
    pub awaited: Vec<(Target, String)>,
    /// Which windows are looked for in processes that are looked at while the trace runs.
    pub chosen: Chosen,
    /// How long they are waited for when nothing else is traced; `None`: as long as the trace is to run.
    pub wait: Option<Duration>,
    /// Every process that matches, also those that start later.
    pub matching: Option<Matching>,
    /// Children of the targets become processes of their own, and so does what an exec in a target begins.
    pub follow_forks: bool,
}

impl Scope {
    /// No process yet.
    #[must_use]
    pub fn new(chosen: Chosen) -> Self {
        Self {
            subjects: Vec::new(),
            awaited: Vec::new(),
            chosen,
            wait: None,
            matching: None,
            follow_forks: false,
        }
    }

    /// One process.
    #[must_use]
    pub fn of(subject: Subject) -> Self {
        Self { subjects: vec![subject], ..Self::new(Chosen::Recognised) }
    }

    /// Of which new processes the kernel side tells, as bits of [`tell`]; `None` when no news is wanted.
    pub(super) fn tell(&self) -> Option<u32> {
        match (&self.matching, self.follow_forks) {
            (None, false) => None,
            (None, true) => Some(tell::DESCENDANTS),
            (Some(_), false) => Some(tell::EVERY_EXEC),
            (Some(_), true) => Some(tell::DESCENDANTS | tell::EVERY_EXEC),
        }
    }
}
