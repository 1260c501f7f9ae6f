//! Processes that were asked for and hold no runtime (yet): looked at again when they have mapped another executable file
//! or run another program, and listed in the end.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::{Duration, Instant},
};

use super::{
    outcome::Unrecognised,
    subject::{Refused, Subject, SubjectError},
};
use crate::{
    message::message,
    runtime::Chosen,
    target::{FileId, Target, TargetError, read_maps},
};

/// A process that is new is looked at each time that the rings are emptied: a launcher maps its runtime early.
const EARLY: Duration = Duration::from_secs(10);
/// An older one as often as this.
const LATER: Duration = Duration::from_millis(200);
/// As many unrecognised processes are listed.
const LISTED: usize = 1000;

/// Why a process that is gone is not traced.
const ENDED: &str = "it ended before it could be looked at";

/// One of them.
#[derive(Debug)]
struct Candidate {
    target: Target,
    why: String,
    files: BTreeSet<FileId>,
    since: Instant,
    looked: Instant,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Candidates {
    chosen: Chosen,
    waiting: BTreeMap<u32, Candidate>,
    /// Those that were given up, until there is news of them.
    refused: BTreeSet<u32>,
    given_up: Vec<Unrecognised>,
    more: u64,
}

impl Candidates {
    /// None yet. `chosen`: the windows that are looked for.
    pub(super) fn new(chosen: Chosen) -> Self {
        Self { chosen, waiting: BTreeMap::new(), refused: BTreeSet::new(), given_up: Vec::new(), more: 0 }
    }

    /// Whether any may still hold a runtime one day.
    pub(super) fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn is_waiting(&self, pid: u32) -> bool {
        self.waiting.contains_key(&pid)
    }

    /// Whether the process was given up. Its id can be another process's later on: news of that one counts.
    pub(super) fn has_given_up(&self, pid: u32) -> bool {
        self.refused.contains(&pid)
    }

    /// The process runs another program: what was known of it is void.
    pub(super) fn forget(&mut self, pid: u32) {
        self.waiting.remove(&pid);
        self.refused.remove(&pid);
    }

    /// Forgets those that have been given up and are gone: their ids can be used again.
    pub(super) fn forget_ended(&mut self) {
        self.refused.retain(|pid| Target::exists(*pid));
    }

    /// A process in which no runtime was recognised.
    pub(super) fn add(&mut self, target: Target, why: String) {
        let pid = target.pid();
        let files = executable_files(pid);
        let now = Instant::now();
        self.waiting.insert(pid, Candidate { target, why, files, since: now, looked: now });
    }

    /// A process that can't be traced, whatever it does.
    pub(super) fn give_up(&mut self, pid: u32, exe: Option<PathBuf>, why: String) {
        self.refused.insert(pid);
        if self.given_up.len() < LISTED {
            self.given_up.push(Unrecognised { pid, exe, why });
        } else {
            self.more += 1;
        }
    }

    /// Looks at a process for the first time, or anew because it runs another program.
    pub(super) fn look(&mut self, pid: u32) -> Option<Subject> {
        self.forget(pid);
        let target = match Target::open(pid) {
            Ok(target) => target,
            Err(TargetError::Gone { .. } | TargetError::Zombie { .. }) => {
                self.give_up(pid, None, ENDED.to_owned());
                return None;
            }
            Err(error) => {
                self.give_up(pid, None, message(&error));
                return None;
            }
        };
        self.look_into(target)
    }

    /// Looks again at those that have changed. Those that have ended are given up.
    pub(super) fn look_again(&mut self) -> Vec<Subject> {
        let now = Instant::now();
        let due = |candidate: &Candidate| {
            now.duration_since(candidate.since) < EARLY || now.duration_since(candidate.looked) >= LATER
        };
        let due: Vec<u32> =
            self.waiting.iter().filter(|(_, candidate)| due(candidate)).map(|(pid, _)| *pid).collect();
        due.into_iter().filter_map(|pid| self.look_at(pid, now)).collect()
    }

    fn look_at(&mut self, pid: u32, now: Instant) -> Option<Subject> {
        let candidate = self.waiting.get_mut(&pid)?;
        candidate.looked = now;
        let files = executable_files(pid);
        if files.is_empty() || !candidate.target.is_alive() {
            let Candidate { target, why, .. } = self.waiting.remove(&pid)?;
            self.give_up(pid, Some(target.exe().to_owned()), why);
            return None;
        }
        if files == candidate.files {
            return None;
        }
        // Its executable can be another one by now, so it is looked at from the start.
        let before = self.waiting.remove(&pid)?;
        let found = self.look(pid);
        if let Some(candidate) = self.waiting.get_mut(&pid) {
            candidate.since = before.since;
        }
        found
    }

    fn look_into(&mut self, target: Target) -> Option<Subject> {
        match Subject::of(target, &self.chosen) {
            Ok(subject) => Some(subject),
            Err(refused) => {
                let Refused { target, error } = *refused;
                self.refused(target, &error);
                None
            }
        }
    }

    fn refused(&mut self, target: Target, error: &SubjectError) {
        if target.has_ended() {
            // What can't be read of it says nothing.
            self.give_up(target.pid(), Some(target.exe().to_owned()), ENDED.to_owned());
        } else if error.may_change() {
            self.add(target, message(error));
        } else {
            self.give_up(target.pid(), Some(target.exe().to_owned()), message(error));
        }
    }

    /// Why each one is not traced, those that are still waited for included; and how many more there were.
    pub(super) fn finish(mut self) -> (Vec<Unrecognised>, u64) {
        for (pid, candidate) in std::mem::take(&mut self.waiting) {
            self.give_up(pid, Some(candidate.target.exe().to_owned()), candidate.why);
        }
        (self.given_up, self.more)
    }
}

/// The files that the process has mapped for execution.
fn executable_files(pid: u32) -> BTreeSet<FileId> {
    let mappings = read_maps(pid).unwrap_or_default();
    mappings
        .into_iter()
        .filter(|mapping| mapping.executable && mapping.is_file())
        .map(|mapping| mapping.file)
        .collect()
}
