//! The report of a process whose recording lacks it: as much as the lines of its pauses tell.

use std::collections::BTreeMap;

use super::{
    contents::{Item, Recording},
    error::RecordingError,
    line::{Process, Rest},
    lines::Wanted,
    longest::Kept,
    stacks::Stacks,
};
use crate::{
    pause::Durations,
    report::{
        diagnosis::diagnose,
        model::{
            Ended, Exposures, Overhead, Part, Pause, Reconciliation, Report, SCHEMA, State, Summary, Trace,
        },
        units::{count, seconds},
    },
};
use tracer_common::loss::Loss;

/// The pauses that are listed, as `attach` does it unless asked for more.
const LISTED: usize = 5;

/// The report before any pause is known.
pub(super) fn begun(recording: &Recording, process: &Process) -> Report {
    let header = &recording.header;
    Report {
        schema: SCHEMA.to_owned(),
        tool: header.tool.clone(),
        target: process.target.clone(),
        windows: process.windows.clone(),
        trace: Trace {
            started_unix_ms: header.started_unix_ms,
            clock: header.clock.clone(),
            duration_ns: 0,
            covered_from_ns: process.covered_from_ns,
            ended: Ended::RecordingCutOff,
            exit: None,
            plan: process.plan.clone(),
            dropped: recording.losses.dropped.clone(),
            fault_details: Part::default(),
            complete: false,
            incomplete: Vec::new(),
            notes: Vec::new(),
            unavailable: process.unavailable.clone(),
            reconciliation: Reconciliation::default(),
            threads: Vec::new(),
            runtime_stamps: None,
            overhead: Overhead::default(),
        },
        exposure: Exposures::default(),
        summary: Summary::default(),
        pauses: Vec::new(),
        diagnosis: Vec::new(),
    }
}

/// Completes the reports of these processes, which have been begun.
pub(super) fn reports(recording: &mut Recording, numbers: &[u32]) -> Result<(), RecordingError> {
    let mut rebuilt: BTreeMap<u32, Rebuilding> =
        numbers.iter().map(|number| (*number, Rebuilding::default())).collect();
    recording.each(Wanted { pauses: true, faults: false }, |item| {
        if let Item::Pause(recorded, pause) = item
            && let Some(rebuilding) = rebuilt.get_mut(&recorded.process.process)
        {
            rebuilding.add(*pause);
        }
    })?;
    for recorded in &recording.processes {
        if let Some(rebuilding) = rebuilt.get_mut(&recorded.process.process) {
            rebuilding.add_rest(&recorded.rest);
        }
    }
    for memory in &recording.memory {
        if let Some(rebuilding) = rebuilt.get_mut(&memory.process) {
            rebuilding.last_ns = rebuilding.last_ns.max(memory.at_ns);
        }
    }
    let is_cut_off = recording.end.is_none();
    let lost = recording.losses.dropped.get(Loss::PauseRingFull.name()).copied();
    for recorded in &mut recording.processes {
        if let Some(rebuilding) = rebuilt.remove(&recorded.process.process) {
            rebuilding.finish(&mut recorded.report, &recorded.stacks, is_cut_off, lost);
        }
    }
    Ok(())
}

/// What the pauses add up to so far.
#[derive(Debug)]
struct Rebuilding {
    summary: Summary,
    durations: Durations,
    kept: Kept,
    details: Part,
    last_ns: i64,
}

impl Default for Rebuilding {
    fn default() -> Self {
        Self {
            summary: Summary::default(),
            durations: Durations::default(),
            kept: Kept::new(Some(LISTED)),
            details: Part::default(),
            last_ns: 0,
        }
    }
}

impl Rebuilding {
    /// Pauses that have no line.
    fn add_rest(&mut self, rest: &Rest) {
        self.summary.merge(&rest.summary);
        self.details.of += rest.fault_details.of;
        self.details.have += rest.fault_details.have;
        rest.lengths.iter().for_each(|length| self.durations.add_about(length.ns, length.count));
        self.last_ns = self.last_ns.max(rest.to_ns.unwrap_or(0));
    }

    fn add(&mut self, pause: Pause) {
        self.summary.add(&pause);
        self.details.of += pause.fault_details.of;
        self.details.have += pause.fault_details.have;
        let moments = [pause.requested_ns, pause.stopped_ns, pause.restarting_ns, pause.resumed_ns];
        self.last_ns = moments.into_iter().flatten().fold(self.last_ns, i64::max);
        if let (State::Complete, Some(ns)) = (pause.state, pause.duration_ns) {
            self.durations.add(ns);
        }
        self.kept.add(pause);
    }

    fn finish(mut self, report: &mut Report, stacks: &Stacks, is_cut_off: bool, records_lost: Option<u64>) {
        let unit = report.windows.unit;
        self.summary.median_ns = self.durations.quantile(0.5);
        self.summary.p90_ns = self.durations.quantile(0.9);
        self.summary.p99_ns = self.durations.quantile(0.99);
        self.summary.quantiles_exact = self.durations.is_exact();
        self.summary.records_lost = records_lost.unwrap_or(0);
        self.summary.reads.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.device.cmp(&b.device)));
        report.summary = self.summary;
        report.pauses = self.kept.into_list();
        for pause in &mut report.pauses {
            pause.resolve(&|reference| stacks.resolve(reference));
        }
        let trace = &mut report.trace;
        trace.fault_details = self.details;
        let until_ns = u64::try_from(self.last_ns).unwrap_or(0);
        trace.duration_ns = until_ns.saturating_sub(trace.covered_from_ns);
        trace.incomplete.push(if is_cut_off {
            format!(
                "the recording ends at {} s without its end: the numbers are of the {} in it, and what only the end of a \
                 trace tells is not known",
                seconds(self.last_ns),
                unit.many()
            )
        } else {
            format!(
                "the report of this process is missing from the recording: the numbers are of the {} in it",
                unit.many()
            )
        });
        if let Some(lost) = records_lost.filter(|lost| *lost > 0) {
            trace.incomplete.push(format!(
                "{} came faster than they could be read, of all processes together: they are in no sum",
                unit.counted(lost)
            ));
        }
        if let Some(short) = &report.windows.short {
            trace.incomplete.push(format!(
                "how many {} were shorter than {} ns is not known: they are in no number",
                unit.many(),
                count(short.than_ns)
            ));
        }
        report.diagnosis = diagnose(report);
    }
}
