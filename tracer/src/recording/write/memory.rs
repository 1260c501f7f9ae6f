//! When the state of memory is read: now and then, and at the end of each long pause.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    time::Duration,
};

use crate::{
    clock::monotonic_ns,
    recording::line::Memory,
    report::memory_state::MemoryState,
    target::{HostMemory, ProcessMemory},
};

/// A pause that is longer than this is long.
const LONG_NS: u64 = 10_000_000;
/// At the ends of pauses it is read at most this often, of one process.
const SHORTEST_NS: u64 = 100_000_000;
/// Of the time, reading may take this share: one in so many parts. With many processes each is read less often then.
const SHARE: u64 = 100;
/// So many of the longest pauses are known, at most.
const MOST_LONGEST: usize = 1000;

/// Reads the state of memory of every traced process.
#[derive(Debug)]
pub struct MemorySampler {
    interval_ns: u64,
    zero_ns: u64,
    longest_known: usize,
    host: HostMemory,
    /// By their numbers in the recording.
    processes: BTreeMap<u32, Process>,
}

/// The state of memory at the end of a pause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtEnd {
    /// What was read then, if anything was.
    pub line: Option<Memory>,
    /// What was read then or last before, if the pause is long.
    pub state: Option<MemoryState>,
}

#[derive(Debug)]
struct Process {
    memory: ProcessMemory,
    /// When it is read next, because it is time to.
    due_ns: u64,
    /// When it may be read at the end of a pause.
    allowed_ns: u64,
    /// The lengths of the longest pauses so far.
    longest: BinaryHeap<Reverse<u64>>,
    /// What was read last, and the time before.
    latest: Option<Memory>,
    before: Option<Memory>,
}

impl MemorySampler {
    /// Reads each process every `interval`, and at the end of a pause that is one of its `worst` so far, or is longer than
    /// 10 ms. `zero_ns`: the start of the trace, on `CLOCK_MONOTONIC`.
    #[must_use]
    pub fn new(interval: Duration, worst: usize, zero_ns: u64) -> Self {
        Self {
            interval_ns: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
            zero_ns,
            longest_known: worst.min(MOST_LONGEST),
            host: HostMemory::open(),
            processes: BTreeMap::new(),
        }
    }

    /// From now on this process as well, which has the number in the recording. It is due at once.
    pub fn add(&mut self, process: u32, pid: u32) {
        let memory = ProcessMemory::of(pid);
        let new = Process {
            memory,
            due_ns: 0,
            allowed_ns: 0,
            longest: BinaryHeap::new(),
            latest: None,
            before: None,
        };
        self.processes.insert(process, new);
    }

    /// Reads a process for the last time; `None` when it has ended.
    pub fn last(&mut self, process: u32) -> Option<Memory> {
        let read = self.read(process, None);
        self.processes.remove(&process);
        read
    }

    /// Reads those for which it is time; to be called a few times in each interval.
    pub fn due(&mut self, mut take: impl FnMut(Memory)) {
        let now_ns = monotonic_ns();
        let due = self.processes.iter().filter(|(_, process)| process.due_ns <= now_ns);
        for number in due.map(|(number, _)| *number).collect::<Vec<_>>() {
            if let Some(memory) = self.read(number, None) {
                take(memory);
            }
        }
    }

    /// A pause has ended: if it is a long one the process is read, unless that was done a moment ago.
    pub fn at_end_of(&mut self, process: u32, pause: u64, duration_ns: u64) -> AtEnd {
        let Some(known) = self.processes.get_mut(&process) else { return AtEnd::default() };
        if !known.is_long(duration_ns, self.longest_known) {
            return AtEnd::default();
        }
        let is_allowed = known.allowed_ns <= monotonic_ns();
        let line = if is_allowed { self.read(process, Some(pause)) } else { None };
        AtEnd { line, state: self.latest(process) }
    }

    /// The process's memory as it was read last.
    fn latest(&self, process: u32) -> Option<MemoryState> {
        let Process { latest, before, .. } = self.processes.get(&process)?;
        latest.as_ref().map(|latest| latest.state(before.as_ref()))
    }

    fn read(&mut self, number: u32, at_end_of: Option<u64>) -> Option<Memory> {
        let count = self.processes.len() as u64;
        let process = self.processes.get_mut(&number)?;
        let begin_ns = monotonic_ns();
        let read = process.memory.read();
        let system = read.is_some().then(|| self.host.read());
        let end_ns = monotonic_ns();
        let rest_ns = end_ns.saturating_sub(begin_ns).saturating_mul(SHARE).saturating_mul(count);
        process.allowed_ns = end_ns.saturating_add(SHORTEST_NS.max(rest_ns));
        // What was read for a pause does not change when it is time to.
        if at_end_of.is_none() {
            process.due_ns = begin_ns.saturating_add(self.interval_ns.max(rest_ns));
        }
        let read = read?;
        let since_zero =
            |ns: u64| i64::try_from(i128::from(ns) - i128::from(self.zero_ns)).unwrap_or(i64::MAX);
        let memory = Memory {
            process: number,
            at_ns: since_zero(begin_ns),
            at_end_of,
            resident_bytes: read.resident_bytes,
            swapped_bytes: read.swapped_bytes,
            cgroup: read.cgroup,
            system,
        };
        process.before = process.latest.replace(memory.clone());
        Some(memory)
    }
}

impl Process {
    /// Whether a pause of this length is long, or one of the longest so far, which it is counted among then.
    fn is_long(&mut self, duration_ns: u64, known: usize) -> bool {
        let is_one = self.longest.len() < known
            || self.longest.peek().is_some_and(|Reverse(shortest)| duration_ns > *shortest);
        if is_one && known > 0 {
            if self.longest.len() >= known {
                self.longest.pop();
            }
            self.longest.push(Reverse(duration_ns));
        }
        duration_ns > LONG_NS || is_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recording's number for this process.
    const OWN: u32 = 7;

    fn sampler(interval: Duration, worst: usize) -> MemorySampler {
        let mut sampler = MemorySampler::new(interval, worst, monotonic_ns());
        sampler.add(OWN, std::process::id());
        sampler
    }

    fn count_due(sampler: &mut MemorySampler) -> usize {
        let mut count = 0;
        sampler.due(|memory| {
            assert_eq!((memory.process, memory.at_end_of), (OWN, None));
            count += 1;
        });
        count
    }

    #[test]
    fn it_is_read_at_once_and_then_once_in_each_interval() {
        let interval = Duration::from_secs(60);
        let mut sampler = sampler(interval, 5);
        assert_eq!((count_due(&mut sampler), count_due(&mut sampler)), (1, 0));
        let due_ns = sampler.processes[&OWN].due_ns;
        assert!(due_ns >= sampler.zero_ns + sampler.interval_ns);
        // A minute passes.
        sampler.processes.get_mut(&OWN).unwrap().due_ns = monotonic_ns();
        assert_eq!((count_due(&mut sampler), count_due(&mut sampler)), (1, 0));
        let latest = sampler.latest(OWN).unwrap();
        assert!(latest.since.unwrap().ns > 0 && latest.resident_bytes.unwrap() > 0);
        let memory = sampler.last(OWN).unwrap();
        assert!(memory.resident_bytes.unwrap() > 0 && memory.system.is_some());
        assert!(memory.at_ns > 0);
        assert_eq!((sampler.last(OWN), sampler.latest(OWN), count_due(&mut sampler)), (None, None, 0));
    }

    #[test]
    fn the_ends_of_long_pauses_are_read_but_not_too_often() {
        let mut sampler = sampler(Duration::from_secs(60), 2);
        let mut end = |pause, duration_ns, allowed_ns| {
            sampler.processes.get_mut(&OWN).unwrap().allowed_ns = allowed_ns;
            let AtEnd { line, state } = sampler.at_end_of(OWN, pause, duration_ns);
            let read = line.filter(|line| state.as_ref().is_some_and(|state| state.at_ns == line.at_ns))?;
            assert!(sampler.processes[&OWN].allowed_ns >= sampler.zero_ns + SHORTEST_NS);
            read.at_end_of
        };
        assert_eq!(end(1, 1_000, 0), Some(1), "among the two longest so far");
        assert_eq!(end(2, 20_000_000, u64::MAX), None, "a moment later");
        assert_eq!(end(3, 500, 0), None, "two were longer");
        assert_eq!(end(4, 1_500, 0), Some(4), "longer than one of the two");
        assert_eq!(end(5, 1_200, 0), None, "two were longer by now");
        assert_eq!(end(6, 11_000_000, 0), Some(6), "long");
        assert_eq!(sampler.at_end_of(OWN + 1, 1, u64::MAX), AtEnd::default());
        sampler.processes.get_mut(&OWN).unwrap().allowed_ns = u64::MAX;
        let AtEnd { line, state } = sampler.at_end_of(OWN, 7, 20_000_000);
        assert!(line.is_none() && state.is_some(), "a moment later the last one is told");
    }

    #[test]
    fn a_long_pause_stays_long_with_none_kept() {
        let mut sampler = sampler(Duration::from_secs(60), 0);
        assert_eq!(sampler.at_end_of(OWN, 1, LONG_NS), AtEnd::default());
        assert!(sampler.at_end_of(OWN, 2, LONG_NS + 1).line.is_some());
    }
}
