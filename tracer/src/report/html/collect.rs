//! Goes through a recording once. Faults come before their pause: they wait for it, since only those of complete pauses
//! count.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use anyhow::{Context as _, Result};

use super::{
    data::{Data, Part, PlaceTotal, ProcessData, SCHEMA},
    details::Details,
    fault::{Brief, Whats},
    flame::Flame,
    histogram::Histogram,
    memory::Samples,
    names::Names,
    parts,
    scatter::Scatter,
    timeline::Timeline,
};
use crate::{
    recording::{Item, Recorded, Recording, Wanted},
    report::{
        model::{BlockedOn, Budget, KindTotal, Pause, Region, State},
        text::{shorten, state_words},
    },
};

/// How many places of all pauses are listed.
const MOST_PLACES: usize = 60;

/// So many faults wait for their pause at most: a pause of more is told without their picture.
const MOST_WAITING: usize = 4_000_000;

/// A title is no longer than this.
const TITLE_LENGTH: usize = 60;

/// All states.
const STATES: [State; 7] = [
    State::Complete,
    State::OpenAtAttach,
    State::CutOff,
    State::TargetExited,
    State::EndMissed,
    State::LeftWithoutReturn,
    State::Discarded,
];

/// What is being added up for one process.
struct Building<'a> {
    recorded: &'a Recorded,
    waiting: HashMap<u64, Vec<Brief>>,
    waiting_count: usize,
    timeline: Timeline,
    details: Details,
    flame: Flame,
    places: BTreeMap<(Region, String), KindTotal>,
    lengths: Histogram,
    faults: Scatter,
}

impl<'a> Building<'a> {
    fn of(recorded: &'a Recorded) -> Self {
        let duration_ns = recorded.report.trace.duration_ns;
        Self {
            recorded,
            waiting: HashMap::new(),
            waiting_count: 0,
            timeline: Timeline::new(duration_ns),
            details: Details::new(),
            flame: Flame::new(),
            places: BTreeMap::new(),
            lengths: Histogram::default(),
            faults: Scatter::new(duration_ns),
        }
    }

    fn add_fault(&mut self, fault: Brief) {
        // Faults of windows that have no line wait in vain; without a limit they would fill the memory.
        if self.waiting_count >= MOST_WAITING {
            self.waiting.clear();
            self.waiting_count = 0;
        }
        self.waiting.entry(fault.pause).or_default().push(fault);
        self.waiting_count += 1;
    }

    fn add(&mut self, pause: Box<Pause>, names: &mut Names) {
        self.timeline.add(&pause, names);
        let faults = self.waiting.remove(&pause.id).unwrap_or_default();
        self.waiting_count = self.waiting_count.saturating_sub(faults.len());
        if pause.state == State::Complete {
            for fault in &faults {
                self.lengths.add(fault);
                self.faults.add(fault);
            }
            self.flame.add(&pause);
            for place in &pause.places {
                let sum = match self.places.get_mut(&(place.region, place.what.clone())) {
                    Some(sum) => sum,
                    None => self.places.entry((place.region, place.what.clone())).or_default(),
                };
                sum.count = sum.count.saturating_add(place.total.count);
                sum.ns = sum.ns.saturating_add(place.total.ns);
                sum.inferred = sum.inferred.saturating_add(place.total.inferred);
            }
        }
        self.details.add(pause);
    }

    fn finish(self, recording: &Recording, whats: &Whats, names: &mut Names) -> ProcessData {
        let (report, number) = (&self.recorded.report, self.recorded.process.process);
        let mut places: Vec<_> = self.places.into_iter().collect();
        let places_of = places.len();
        places.sort_by_key(|(_, total)| Reverse((total.ns, total.count)));
        places.truncate(MOST_PLACES);
        let exe = report.target.exe.rsplit('/').next().unwrap_or_default();
        ProcessData {
            process: number,
            title: format!("pid {}, {}", report.target.pid, shorten(exe, TITLE_LENGTH)),
            duration_ns: report.trace.duration_ns,
            covered_from_ns: report.trace.covered_from_ns,
            windows: report.windows.clone(),
            called: [report.windows.unit.one(), report.windows.unit.many()],
            states: STATES.map(|state| (state, state_words(state, report.windows.unit))).into(),
            summary: report.summary.clone(),
            pauses: self.timeline.into_pauses(),
            details: self.details.into_values(self.recorded, names),
            lengths: self.lengths.into_lengths(),
            faults: self.faults.into_points(whats, names),
            places: places
                .into_iter()
                .map(|((region, what), total)| PlaceTotal { region, what: names.number(&what), total })
                .collect(),
            places_of,
            memory: Samples::of(number, &recording.memory),
            flame: self.flame.into_tree(&report.summary, &self.recorded.stacks, names),
        }
    }
}

/// Everything that the page shows.
///
/// # Errors
/// When the recording can't be read any more.
pub(super) fn collect(recording: &Recording) -> Result<Data> {
    let mut names = Names::default();
    let mut building: BTreeMap<u32, Building<'_>> = recording
        .processes
        .iter()
        .map(|recorded| (recorded.process.process, Building::of(recorded)))
        .collect();
    let mut whats = Whats::default();
    recording
        .each(Wanted { pauses: true, faults: true }, |item| match item {
            Item::Pause(recorded, pause) => {
                if let Some(building) = building.get_mut(&recorded.process.process) {
                    building.add(pause, &mut names);
                }
            }
            Item::Fault(recorded, fault) => {
                if let Some(building) = building.get_mut(&recorded.process.process) {
                    building.add_fault(Brief::of(&fault, &mut whats));
                }
            }
        })
        .with_context(|| format!("{} can't be read again", recording.path.display()))?;
    let mut processes: Vec<ProcessData> =
        building.into_values().map(|building| building.finish(recording, &whats, &mut names)).collect();
    processes.sort_by_key(|process| (Reverse(process.summary.worst_ns), process.process));
    let (names, stacks) = names.into_tables();
    Ok(Data {
        schema: SCHEMA,
        started_unix_ms: recording.header.started_unix_ms,
        parts: parts::sorts().into_iter().map(|sort| Part { name: sort.name, words: sort.words }).collect(),
        kinds: crate::report::model::Kind::ALL.len(),
        regions: Region::ALL.map(Region::word).to_vec(),
        blocked_on: blocked_on(),
        budget: Budget::default()
            .parts()
            .iter()
            .map(|part| (format!("{}_ns", part.name), part.words))
            .collect(),
        processes,
        names,
        stacks,
    })
}

fn blocked_on() -> BTreeMap<String, &'static str> {
    use BlockedOn::{Futex, Io, Lock, Other, Poll, Sleep, Unknown, Userfault};
    let all = [Io, Futex, Userfault, Lock, Sleep, Poll, Other, Unknown];
    let word = |on: BlockedOn| serde_json::to_value(on).ok()?.as_str().map(str::to_owned);
    all.into_iter().filter_map(|on| Some((word(on)?, on.words()))).collect()
}
