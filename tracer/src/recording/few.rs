//! What there is little of in a recording, as its lines come.

use std::collections::BTreeMap;

use super::{
    line::{End, Header, Line, Losses, Mapping, Memory, Process, Rest},
    lines::Seen,
    numbers, parse,
    stacks::Stacks,
};
use crate::report::{model::Report, units::count};

/// Lines of stacks, mappings, processes and reports that are kept, in bytes of JSON.
const KEPT_BYTES: usize = 256 << 20;
/// A line takes at least so much memory, however short it is.
const LEAST_BYTES: usize = 256;
/// States of memory that are kept.
const MEMORY_KEPT: usize = 1 << 16;

/// What there is little of.
#[derive(Debug, Default)]
pub(super) struct Few {
    pub(super) header: Option<Header>,
    pub(super) processes: BTreeMap<u32, Begun>,
    pub(super) reports: BTreeMap<u32, Report>,
    pub(super) memory: Thinned,
    pub(super) losses: Losses,
    pub(super) end: Option<End>,
    kept_bytes: usize,
    left_out: u64,
}

/// A process, as far as its lines have been read.
#[derive(Debug, Default)]
pub(super) struct Begun {
    pub(super) process: Option<Process>,
    pub(super) mappings: Vec<Mapping>,
    pub(super) stacks: Stacks,
    pub(super) rest: Rest,
}

impl Few {
    /// Adds a line, which has so many bytes.
    pub(super) fn add(&mut self, line: Line, bytes: usize) {
        match line {
            Line::Header(header) => self.header = Some(header),
            Line::Memory(line) => self.memory.add(*line),
            Line::Losses(line) => self.losses = line,
            Line::End(line) => self.end = Some(line),
            Line::Fault(_) | Line::Pause(_) => {}
            Line::Process(_)
            | Line::Mapping(_)
            | Line::Rest(_)
            | Line::Stack(_)
            | Line::Names(_)
            | Line::ProcessEnd(_) => {
                self.kept_bytes = self.kept_bytes.saturating_add(bytes.max(LEAST_BYTES));
                if self.kept_bytes <= KEPT_BYTES {
                    self.keep(line);
                } else {
                    self.left_out += 1;
                }
            }
        }
    }

    fn keep(&mut self, line: Line) {
        match line {
            Line::Process(line) => {
                let begun = self.begun(line.process);
                begun.process = Some(*line);
            }
            Line::Mapping(line) => self.begun(line.process).mappings.push(line),
            Line::Stack(line) => self.begun(line.process).stacks.add(line),
            Line::Names(line) => self.begun(line.process).stacks.name(line),
            Line::Rest(line) => {
                let rest = &mut self.begun(line.process).rest;
                let before = (rest.summary.clone(), rest.fault_details);
                rest.merge(&line);
                if !numbers::fit(&rest.summary) {
                    (rest.summary, rest.fault_details) = before;
                    self.left_out += 1;
                }
            }
            Line::ProcessEnd(line) => {
                self.begun(line.process);
                self.reports.insert(line.process, line.report);
            }
            _ => {}
        }
    }

    fn begun(&mut self, process: u32) -> &mut Begun {
        self.processes.entry(process).or_default()
    }

    /// What is missing although everything that is there could be read.
    pub(super) fn missing(&self, seen: Seen) -> Vec<String> {
        let mut missing = Vec::new();
        match &self.header {
            None => missing.push(
                "the first line is missing: the host and what was asked for are not known".to_owned(),
            ),
            Some(header) if parse::is_newer(&header.schema) => missing.push(format!(
                "it was recorded by a newer pauselens ({}, schema {:.40}): what this one ({}) does not know was left \
                 out; a newer pauselens reads all of it",
                header.tool.version,
                header.schema,
                env!("CARGO_PKG_VERSION")
            )),
            Some(_) => {}
        }
        if self.left_out > 0 {
            missing.push(format!(
                "{} lines of stacks, mappings, reports or sums were left out: more than {} MiB of them are not kept in memory, \
                 and no sums of 2^52 or more",
                count(self.left_out),
                KEPT_BYTES >> 20
            ));
        }
        match &self.end {
            None => missing.push(
                "its last line is missing: the trace was broken off, the recording is still being written, or the file was \
                 cut off; what came later is missing"
                    .to_owned(),
            ),
            Some(end) => {
                for (what, written, read) in
                    [("pauses", end.pauses, seen.pauses), ("faults", end.faults, seen.faults)]
                {
                    if read < written {
                        missing.push(format!(
                            "{} of {} {what} are missing",
                            count(written - read),
                            count(written)
                        ));
                    }
                }
            }
        }
        missing
    }

    /// A first line that is missing, as far as the reports tell it.
    pub(super) fn header_from(reports: &BTreeMap<u32, Report>) -> Header {
        let header = parse::unknown_header();
        match reports.values().next() {
            None => header,
            Some(report) => Header {
                tool: report.tool.clone(),
                started_unix_ms: report.trace.started_unix_ms,
                clock: report.trace.clock.clone(),
                ..header
            },
        }
    }
}

/// States of memory: of very many of a process, every second one is left out, again and again.
#[derive(Debug, Default)]
pub(super) struct Thinned {
    kept: Vec<(u64, Memory)>,
    /// How many there were of each process.
    counts: BTreeMap<u32, u64>,
    /// Those are kept whose number is divided by two to this power.
    power: u32,
}

impl Thinned {
    fn add(&mut self, memory: Memory) {
        // Each process costs an entry; nobody traces so many.
        if self.counts.len() >= MEMORY_KEPT && !self.counts.contains_key(&memory.process) {
            return;
        }
        let number = self.counts.entry(memory.process).or_default();
        let this = *number;
        *number += 1;
        let is_kept = |number: u64, power: u32| number & ((1 << power) - 1) == 0;
        if !is_kept(this, self.power) {
            return;
        }
        self.kept.push((this, memory));
        if self.kept.len() > MEMORY_KEPT && self.power < 60 {
            self.power += 1;
            let power = self.power;
            self.kept.retain(|(number, _)| is_kept(*number, power));
        }
    }

    /// In the order of time.
    pub(super) fn into_list(self) -> Vec<Memory> {
        let mut list: Vec<Memory> = self.kept.into_iter().map(|(_, memory)| memory).collect();
        list.sort_by_key(|memory| memory.at_ns);
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_memory_are_thinned_evenly_for_each_process() {
        let mut thinned = Thinned::default();
        for at_ns in 0..500_000 {
            thinned.add(Memory { process: (at_ns % 2) as u32 + 1, at_ns, ..Memory::default() });
        }
        let list = thinned.into_list();
        assert!((MEMORY_KEPT / 3..=MEMORY_KEPT).contains(&list.len()), "{}", list.len());
        for process in [1, 2] {
            let of: Vec<_> = list.iter().filter(|memory| memory.process == process).collect();
            assert!(of.len().abs_diff(list.len() / 2) <= 1);
            assert!(of.windows(2).all(|pair| pair[1].at_ns - pair[0].at_ns == of[1].at_ns - of[0].at_ns));
        }
    }
}
