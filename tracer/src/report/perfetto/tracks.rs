//! The tracks of a process, each made when something is on it for the first time.

use std::collections::HashMap;

use super::{
    lanes::Lanes,
    message::{
        CounterDescriptor, ProcessDescriptor, ThreadDescriptor, TrackDescriptor, UNIT_BYTES, UNIT_COUNT,
        UNIT_TIME_NS,
    },
    packets::Packets,
};
use crate::{
    recording::Recorded,
    report::{inert, model::Unit},
};

/// Hands out ids of tracks.
#[derive(Debug, Default)]
pub(super) struct Ids(u64);

impl Ids {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// A counter of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Counter {
    Resident,
    Swapped,
    CgroupUsed,
    CgroupMost,
    CgroupStalled,
    Faults,
    InFaults,
}

impl Counter {
    fn name(self) -> &'static str {
        match self {
            Self::Resident => "resident memory",
            Self::Swapped => "swapped memory",
            Self::CgroupUsed => "cgroup memory used",
            Self::CgroupMost => "cgroup memory limit",
            Self::CgroupStalled => "cgroup stalled on memory",
            Self::Faults => "faults in pauses so far",
            Self::InFaults => "time in faults in pauses so far",
        }
    }

    fn unit(self) -> CounterDescriptor {
        match self {
            Self::Faults => unit(UNIT_COUNT),
            Self::InFaults => unit(UNIT_TIME_NS),
            Self::Resident | Self::Swapped | Self::CgroupUsed | Self::CgroupMost => unit(UNIT_BYTES),
            Self::CgroupStalled => named_unit(PERCENT),
        }
    }
}

/// A counter of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum HostCounter {
    Available,
    SwapFree,
    SwapRead,
    SwapWritten,
    Stalled,
}

impl HostCounter {
    fn name(self) -> &'static str {
        match self {
            Self::Available => "host's available memory",
            Self::SwapFree => "host's free swap",
            Self::SwapRead => "host reads from swap",
            Self::SwapWritten => "host writes to swap",
            Self::Stalled => "host stalled on memory",
        }
    }

    fn unit(self) -> CounterDescriptor {
        match self {
            Self::Available | Self::SwapFree => unit(UNIT_BYTES),
            Self::SwapRead | Self::SwapWritten => named_unit("B/s"),
            Self::Stalled => named_unit(PERCENT),
        }
    }
}

const PERCENT: &str = "%";

fn unit(unit: i32) -> CounterDescriptor {
    CounterDescriptor { unit: Some(unit), unit_name: None }
}

fn named_unit(name: &str) -> CounterDescriptor {
    CounterDescriptor { unit: None, unit_name: Some(name.to_owned()) }
}

/// The tracks of the host, which are under no process.
#[derive(Debug, Default)]
pub(super) struct HostTracks(HashMap<HostCounter, u64>);

impl HostTracks {
    /// The track of a counter.
    pub(super) fn counter(&mut self, counter: HostCounter, ids: &mut Ids, packets: &mut Packets<'_>) -> u64 {
        let make = || new(counter.name(), None, Some(counter.unit()), ids, packets);
        *self.0.entry(counter).or_insert_with(make)
    }
}

/// Tracks of a process that can be several side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sort {
    /// Complete pauses and their phases.
    Pauses,
    /// Their budgets.
    Budget,
    /// A thread's faults.
    Faults(u32),
}

/// The tracks of a process.
#[derive(Debug)]
pub(super) struct Tracks {
    pid: u32,
    unit: Unit,
    process: u64,
    thread_names: HashMap<u32, String>,
    threads: HashMap<u32, u64>,
    counters: HashMap<Counter, u64>,
    lanes: HashMap<Sort, Lanes>,
    moments: Option<u64>,
}

impl Tracks {
    /// Makes the track of the process itself.
    pub(super) fn new(recorded: &Recorded, ids: &mut Ids, packets: &mut Packets<'_>) -> Self {
        let target = &recorded.process.target;
        let process = ids.next();
        let descriptor = ProcessDescriptor {
            pid: i32::try_from(target.pid).ok(),
            process_name: Some(inert::inert(&target.exe, &[]).into_owned()),
        };
        packets.track(TrackDescriptor {
            uuid: Some(process),
            process: Some(descriptor),
            ..TrackDescriptor::default()
        });
        let named =
            |thread: &crate::report::model::ThreadReconciliation| Some((thread.tid, thread.name.clone()?));
        Self {
            pid: target.pid,
            unit: recorded.process.windows.unit,
            process,
            thread_names: recorded.report.trace.threads.iter().filter_map(named).collect(),
            threads: HashMap::new(),
            counters: HashMap::new(),
            lanes: HashMap::new(),
            moments: None,
        }
    }

    /// The track for a slice.
    pub(super) fn slice(
        &mut self,
        sort: Sort,
        (begin_ns, end_ns): (i64, i64),
        ids: &mut Ids,
        packets: &mut Packets<'_>,
    ) -> u64 {
        let (name, parent) = match (sort, self.unit) {
            (Sort::Pauses, Unit::Pause) => ("pauses", self.process),
            (Sort::Pauses, Unit::Call) => ("calls", self.process),
            (Sort::Pauses, Unit::Window) => ("windows", self.process),
            (Sort::Budget, _) => ("budget (sums, not in order)", self.process),
            (Sort::Faults(tid), _) => ("faults in pauses", self.thread(tid, ids, packets)),
        };
        let make = || new(name, Some(parent), None, ids, packets);
        self.lanes.entry(sort).or_default().place(begin_ns, end_ns, make)
    }

    /// The track for moments: pauses that were not seen whole, and what is missing.
    pub(super) fn moments(&mut self, ids: &mut Ids, packets: &mut Packets<'_>) -> u64 {
        let process = self.process;
        *self.moments.get_or_insert_with(|| new("incomplete", Some(process), None, ids, packets))
    }

    /// The track of a counter.
    pub(super) fn counter(&mut self, counter: Counter, ids: &mut Ids, packets: &mut Packets<'_>) -> u64 {
        let process = self.process;
        let make = || new(counter.name(), Some(process), Some(counter.unit()), ids, packets);
        *self.counters.entry(counter).or_insert_with(make)
    }

    fn thread(&mut self, tid: u32, ids: &mut Ids, packets: &mut Packets<'_>) -> u64 {
        if let Some(&track) = self.threads.get(&tid) {
            return track;
        }
        let track = ids.next();
        let descriptor = ThreadDescriptor {
            pid: i32::try_from(self.pid).ok(),
            tid: Some(i64::from(tid)),
            thread_name: self.thread_names.get(&tid).map(|name| inert::inert(name, &[]).into_owned()),
        };
        packets.track(TrackDescriptor {
            uuid: Some(track),
            parent_uuid: Some(self.process),
            thread: Some(descriptor),
            ..TrackDescriptor::default()
        });
        self.threads.insert(tid, track);
        track
    }
}

fn new(
    name: &str,
    parent: Option<u64>,
    counter: Option<CounterDescriptor>,
    ids: &mut Ids,
    packets: &mut Packets<'_>,
) -> u64 {
    let track = ids.next();
    packets.track(TrackDescriptor {
        uuid: Some(track),
        name: Some(name.to_owned()),
        parent_uuid: parent,
        counter,
        ..TrackDescriptor::default()
    });
    track
}
