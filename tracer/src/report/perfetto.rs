//! The recording as a trace for Perfetto: protobuf, packet by packet, so that its size needs no memory.
//!
//! For each process: its pauses with their phases inside them, their budgets (sums, laid out one after the other), a track
//! for the faults of each thread, counters of its memory and of faults so far; for the host, counters of its memory and swapping. Time is `CLOCK_MONOTONIC` from the
//! trace's start. Faults without details have no place in time: what of the summary has none is an argument of the moment
//! `[details dropped]` at the end, so that sums are those of the summary.

mod before;
mod faults;
mod lanes;
mod memory;
pub mod message;
mod packets;
mod pauses;
mod tracks;

use std::{collections::HashMap, io::Write};

use self::{
    before::Before,
    memory::States,
    packets::{Given, Happening, Packets},
    pauses::SoFar,
    tracks::{Ids, Tracks},
};
use super::{
    missing::missing,
    samples::{DETAILS_DROPPED, Total},
};
use crate::recording::{Item, Recorded, Recording, Wanted};

/// Writes it.
///
/// # Errors
/// When the recording can't be read any more, or nothing can be written.
pub fn write(recording: &Recording, out: &mut dyn Write) -> anyhow::Result<()> {
    let before = Before::read(recording)?;
    let packets = Packets::new(out, recording.header.started_unix_ms, before.earliest_ns);
    let mut writer = Writer { packets, ids: Ids::default(), processes: HashMap::new() };
    for recorded in &recording.processes {
        writer.process(recorded);
    }
    let mut states = States::default();
    for memory in &recording.memory {
        if let Some(of) = writer.processes.get_mut(&memory.process) {
            states.add(memory, &mut of.tracks, &mut writer.ids, &mut writer.packets);
        }
    }
    recording.each(Wanted { pauses: true, faults: true }, |item| writer.item(&item, &before))?;
    writer.end(recording);
    writer.packets.finish()
}

/// While it is written.
struct Writer<'a> {
    packets: Packets<'a>,
    ids: Ids,
    processes: HashMap<u32, OfProcess>,
}

struct OfProcess {
    tracks: Tracks,
    so_far: SoFar,
    /// What faults that are in the summary add up to.
    written: Total,
}

impl Writer<'_> {
    fn process(&mut self, recorded: &Recorded) {
        let tracks = Tracks::new(recorded, &mut self.ids, &mut self.packets);
        let of = OfProcess { tracks, so_far: SoFar::default(), written: Total::default() };
        self.processes.insert(recorded.process.process, of);
    }

    fn item(&mut self, item: &Item<'_>, before: &Before) {
        let (Item::Fault(recorded, _) | Item::Pause(recorded, _)) = item;
        let Some(of) = self.processes.get_mut(&recorded.process.process) else { return };
        let (tracks, ids, packets) = (&mut of.tracks, &mut self.ids, &mut self.packets);
        match item {
            Item::Fault(_, fault) => {
                of.written.add(faults::add(fault, recorded, before, tracks, ids, packets))
            }
            Item::Pause(_, pause) => of.so_far.add(pause, &recorded.process.windows, tracks, ids, packets),
        }
    }

    /// What of the summary has no place in time, and everything else that is missing.
    fn end(&mut self, recording: &Recording) {
        let mut without_details = Vec::new();
        for recorded in &recording.processes {
            let (summary, number) = (&recorded.report.summary, recorded.process.process);
            let Some(of) = self.processes.get_mut(&number) else { continue };
            let without = Total {
                count: summary.faults.saturating_sub(of.written.count),
                ns: summary.in_faults_ns.saturating_sub(of.written.ns),
            };
            without_details.push(without);
            if without != Total::default() {
                let arguments =
                    [("faults", Given::Number(without.count)), ("in_faults_ns", Given::Number(without.ns))];
                let track = of.tracks.moments(&mut self.ids, &mut self.packets);
                let name = DETAILS_DROPPED;
                let dropped = Happening { track, category: "incomplete", name, arguments: &arguments };
                self.packets.instant(end_ns(recorded), &dropped);
            }
        }
        let Some(first) = recording.processes.first() else { return };
        for what in missing(recording, without_details) {
            let Some(of) = self.processes.get_mut(&first.process.process) else { return };
            let track = of.tracks.moments(&mut self.ids, &mut self.packets);
            let arguments = [("what", Given::Text(&what))];
            let incomplete =
                Happening { track, category: "incomplete", name: "incomplete", arguments: &arguments };
            self.packets.instant(end_ns(first), &incomplete);
        }
    }
}

/// When the trace of a process ended.
fn end_ns(recorded: &Recorded) -> i64 {
    let trace = &recorded.report.trace;
    i64::try_from(trace.covered_from_ns.saturating_add(trace.duration_ns)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
