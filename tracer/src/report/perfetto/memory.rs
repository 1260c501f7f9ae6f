//! The state of memory as counters: of each process, of its cgroup, and of the host.
//!
//! What the kernel counts since its start becomes a rate: between two readings, from the first of them on.

use std::collections::HashMap;

use super::{
    packets::Packets,
    tracks::{Counter, HostCounter, HostTracks, Ids, Tracks},
};
use crate::{recording::line::Memory, report::memory_state::Since};

/// Readings of the host that are nearer to each other give no rate: each of several processes is read with the host.
const LEAST_NS: u64 = 50_000_000;

/// Writes states of memory, which must come in the order of time.
#[derive(Debug, Default)]
pub(super) struct States<'a> {
    tracks: HostTracks,
    before: HashMap<u32, &'a Memory>,
    host_before: Option<&'a Memory>,
}

impl<'a> States<'a> {
    /// Writes one; `tracks`: of its process.
    pub(super) fn add(
        &mut self,
        memory: &'a Memory,
        tracks: &mut Tracks,
        ids: &mut Ids,
        packets: &mut Packets<'_>,
    ) {
        let cgroup = memory.cgroup.as_ref();
        for (counter, value) in [
            (Counter::Resident, memory.resident_bytes),
            (Counter::Swapped, memory.swapped_bytes),
            (Counter::CgroupUsed, cgroup.and_then(|cgroup| cgroup.used_bytes)),
            (Counter::CgroupMost, cgroup.and_then(|cgroup| cgroup.max_bytes)),
        ] {
            if let Some(value) = value {
                let track = tracks.counter(counter, ids, packets);
                packets.counter(memory.at_ns, track, value);
            }
        }
        if let Some(before) = self.before.insert(memory.process, memory)
            && let Some(since) = memory.state(Some(before)).since
            && let Some(stalled_ns) = since.cgroup_stalled_ns
        {
            let track = tracks.counter(Counter::CgroupStalled, ids, packets);
            packets.share(before.at_ns, track, percent(stalled_ns, since.ns));
        }
        self.host(memory, ids, packets);
    }

    fn host(&mut self, memory: &'a Memory, ids: &mut Ids, packets: &mut Packets<'_>) {
        let Some(system) = &memory.system else { return };
        let Some(before) = self.host_before else {
            self.host_before = Some(memory);
            return;
        };
        let Some(since) = memory.state(Some(before)).since.filter(|since| since.ns >= LEAST_NS) else {
            return;
        };
        self.host_before = Some(memory);
        for (counter, value) in [
            (HostCounter::Available, system.available_bytes),
            (HostCounter::SwapFree, system.swap_free_bytes),
        ] {
            if let Some(value) = value {
                let track = self.tracks.counter(counter, ids, packets);
                packets.counter(memory.at_ns, track, value);
            }
        }
        let Since { ns, swapped_in_bytes, swapped_out_bytes, system_stalled_ns, .. } = since;
        for (counter, value) in
            [(HostCounter::SwapRead, swapped_in_bytes), (HostCounter::SwapWritten, swapped_out_bytes)]
        {
            if let Some(value) = value {
                let track = self.tracks.counter(counter, ids, packets);
                packets.counter(before.at_ns, track, per_second(value, ns));
            }
        }
        if let Some(stalled_ns) = system_stalled_ns {
            let track = self.tracks.counter(HostCounter::Stalled, ids, packets);
            packets.share(before.at_ns, track, percent(stalled_ns, ns));
        }
    }
}

fn per_second(bytes: u64, ns: u64) -> u64 {
    u64::try_from(u128::from(bytes) * 1_000_000_000 / u128::from(ns.max(1))).unwrap_or(u64::MAX)
}

fn percent(part_ns: u64, whole_ns: u64) -> f64 {
    part_ns as f64 * 100.0 / whole_ns.max(1) as f64
}
