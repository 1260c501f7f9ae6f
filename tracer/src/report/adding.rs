//! Adding up: what a pause adds to a summary, and one summary to another.
//!
//! Quantiles can't be added: they are made of the lengths, wherever those are kept.

use std::collections::BTreeMap;

use super::model::{Bystanders, DeviceReads, KindTotal, Pause, State, Summary};

/// Devices that are told apart: a made-up recording can name any number. What was read from more of them is kept in one sum.
const MOST_DEVICES: usize = 1024;
/// The name of that sum.
const FURTHER_DEVICES: &str = "[further devices]";

impl Summary {
    /// Adds a pause: to all sums when it is complete, or else to the count of its state alone.
    pub fn add(&mut self, pause: &Pause) {
        count(&mut self.by_state, pause.state, 1);
        let (State::Complete, Some(ns)) = (pause.state, pause.duration_ns) else { return };
        let mut of_pause = Self {
            pauses: 1,
            collections: u64::from(pause.is_gc == Some(true)),
            other_stops: u64::from(pause.is_gc == Some(false)),
            worst_ns: Some(ns),
            paused_ns: ns,
            in_faults_ns: pause.in_faults_ns,
            explained_by_faults_ns: pause.explained_by_faults_ns,
            faults: pause.faults,
            major: pause.major,
            minor: pause.minor,
            by_kind: pause.by_kind.clone(),
            by_region: pause.by_region.clone(),
            reclaim_ns: pause.reclaim_ns,
            tracing_ns: pause.tracing_ns,
            stopping_ns: pause.stopping_ns,
            waited_for_workers_ns: pause.waited_for_workers.map(|waited| waited.ns),
            budget: pause.budget,
            reads: pause.reads.clone(),
            bystanders: pause.bystanders.clone(),
            ..Self::default()
        };
        of_pause.by_reason.insert(pause.reason.clone(), 1);
        of_pause.stopping = pause.stopping.as_ref().map(|stopping| super::model::StoppingTotal {
            pauses: 1,
            ns: stopping.ns,
            budget: stopping.budget,
        });
        self.merge(&of_pause);
    }

    /// Adds another summary: all but its quantiles, its throttling and its memory limit, which are of a whole trace.
    pub fn merge(&mut self, other: &Self) {
        let add = |to: &mut u64, from: u64| *to = to.saturating_add(from);
        add(&mut self.pauses, other.pauses);
        add(&mut self.collections, other.collections);
        add(&mut self.other_stops, other.other_stops);
        other
            .by_reason
            .iter()
            .for_each(|(reason, pauses)| count(&mut self.by_reason, reason.clone(), *pauses));
        other.by_state.iter().for_each(|(state, pauses)| count(&mut self.by_state, *state, *pauses));
        add(&mut self.records_lost, other.records_lost);
        self.worst_ns = self.worst_ns.max(other.worst_ns);
        add(&mut self.paused_ns, other.paused_ns);
        add(&mut self.in_faults_ns, other.in_faults_ns);
        add(&mut self.explained_by_faults_ns, other.explained_by_faults_ns);
        add(&mut self.faults, other.faults);
        add(&mut self.major, other.major);
        add(&mut self.minor, other.minor);
        add_totals(&mut self.by_kind, &other.by_kind);
        add_totals(&mut self.by_region, &other.by_region);
        add(&mut self.reclaim_ns, other.reclaim_ns);
        add(&mut self.tracing_ns, other.tracing_ns);
        add_known(&mut self.stopping_ns, other.stopping_ns);
        add_known(&mut self.waited_for_workers_ns, other.waited_for_workers_ns);
        if let Some(budget) = &other.budget {
            self.budget.get_or_insert_default().add(budget);
        }
        if let Some(stopping) = &other.stopping {
            let total = self.stopping.get_or_insert_default();
            add(&mut total.pauses, stopping.pauses);
            add(&mut total.ns, stopping.ns);
            total.budget.add(&stopping.budget);
        }
        other.reads.iter().for_each(|reads| add_reads(&mut self.reads, reads));
        add_bystanders(&mut self.bystanders, &other.bystanders);
    }
}

fn count<K: Ord>(to: &mut BTreeMap<K, u64>, key: K, more: u64) {
    let known = to.entry(key).or_default();
    *known = known.saturating_add(more);
}

/// What is known in neither of the two stays unknown.
fn add_known(to: &mut Option<u64>, from: Option<u64>) {
    if let Some(from) = from {
        let known = to.get_or_insert_default();
        *known = known.saturating_add(from);
    }
}

fn add_totals<K: Copy + Ord>(to: &mut BTreeMap<K, KindTotal>, from: &BTreeMap<K, KindTotal>) {
    for (key, total) in from {
        let sum = to.entry(*key).or_default();
        sum.count = sum.count.saturating_add(total.count);
        sum.ns = sum.ns.saturating_add(total.ns);
        sum.inferred = sum.inferred.saturating_add(total.inferred);
    }
}

fn add_reads(to: &mut Vec<DeviceReads>, reads: &DeviceReads) {
    let same = |known: &DeviceReads| known.device == reads.device && known.serves == reads.serves;
    match to.iter().position(same) {
        Some(place) => add_sums(&mut to[place], reads),
        None if to.len() < MOST_DEVICES => to.push(reads.clone()),
        None => {
            let device = FURTHER_DEVICES.to_owned();
            match to.last_mut().filter(|last| last.device == device) {
                Some(known) => add_sums(known, reads),
                None => to.push(DeviceReads { device, serves: None, ..reads.clone() }),
            }
        }
    }
}

fn add_sums(to: &mut DeviceReads, from: &DeviceReads) {
    for (to, from) in [
        (&mut to.faults, from.faults),
        (&mut to.ns, from.ns),
        (&mut to.requests, from.requests),
        (&mut to.bytes, from.bytes),
        (&mut to.read_ahead_pages, from.read_ahead_pages),
        (&mut to.inferred, from.inferred),
    ] {
        *to = to.saturating_add(from);
    }
}

fn add_bystanders(to: &mut Bystanders, from: &Bystanders) {
    to.faults = to.faults.saturating_add(from.faults);
    to.major = to.major.saturating_add(from.major);
    to.minor = to.minor.saturating_add(from.minor);
    to.sum_ns = to.sum_ns.saturating_add(from.sum_ns);
    add_totals(&mut to.by_kind, &from.by_kind);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_from_more_devices_than_are_told_apart_is_in_the_sum() {
        let reads =
            |device: String, bytes| DeviceReads { device, bytes, requests: 1, ..DeviceReads::default() };
        let mut sum = Summary::default();
        for round in 0..2 {
            for number in 0..3_000 {
                let reads = vec![reads(format!("sd{number}"), 4_096 << round)];
                sum.merge(&Summary { reads, ..Summary::default() });
            }
        }
        assert_eq!(sum.reads.len(), MOST_DEVICES + 1);
        let (apart, further) = sum.reads.split_at(MOST_DEVICES);
        assert!(apart.iter().all(|known| known.bytes == 3 * 4_096 && known.requests == 2));
        let left = (3_000 - MOST_DEVICES as u64) * 2;
        let same = DeviceReads { requests: left, ..reads(FURTHER_DEVICES.to_owned(), left / 2 * 3 * 4_096) };
        assert_eq!(further, [same]);
    }
}
