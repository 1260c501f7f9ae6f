//! A recording as a whole: what there is little of is read at once, pauses and faults are gone through.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    error::{Problem, Problems, RecordingError},
    few::{Begun, Few},
    line::{End, Fault, Header, Line, Losses, Mapping, Memory, Process, Rest},
    lines::{Lines, Wanted},
    longest::Kept,
    parse,
    plausible::Sums,
    rebuilt,
    source::Source,
    stacks::Stacks,
};
use crate::report::{
    model::{Pause, Report},
    units::count,
};

/// A recording.
#[derive(Debug)]
pub struct Recording {
    /// The file.
    pub path: PathBuf,
    /// Its first line.
    pub header: Header,
    /// Its processes, in the order of their numbers.
    pub processes: Vec<Recorded>,
    /// States of memory, in the order of time. Of very many, every second one is left out again and again.
    pub memory: Vec<Memory>,
    /// What was dropped, at last.
    pub losses: Losses,
    /// Its last line; `None` when it was cut off.
    pub end: Option<End>,
    /// What can't be read, or is missing.
    pub problems: Vec<Problem>,
    source: Source,
    /// Where in `processes` a number is.
    places: HashMap<u32, usize>,
    /// Some processes were left out by whoever reads.
    is_narrowed: bool,
    /// What was found wrong only when pauses and faults were gone through.
    later: Mutex<Vec<Problem>>,
}

/// What is recorded of a process.
#[derive(Debug)]
pub struct Recorded {
    /// What it is.
    pub process: Process,
    /// Its code.
    pub mappings: Vec<Mapping>,
    /// Its stacks.
    pub stacks: Stacks,
    /// Its pauses that have no line, added up.
    pub rest: Rest,
    /// Its report: as `attach` prints it, or as much of it as a recording that was cut off tells.
    pub report: Report,
    /// Whether the report is the one of the trace.
    pub is_whole: bool,
}

/// What there is much of.
#[derive(Debug)]
pub enum Item<'a> {
    /// A fault. Its pause comes later; the faults of windows that were too short to be told of have none.
    Fault(&'a Recorded, Fault),
    /// A pause. Its code paths are references to stacks: [`Recorded::name`] puts the names in, which takes longer than
    /// reading it.
    Pause(&'a Recorded, Box<Pause>),
}

impl Recorded {
    /// Puts names in place of the pause's references to stacks.
    pub fn name(&self, pause: &mut Pause) {
        pause.resolve(&|reference| self.stacks.resolve(reference));
    }
}

impl Recording {
    /// Reads everything but pauses and faults.
    ///
    /// # Errors
    /// When nothing of it can be used.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        Self::read(Source::File(path.to_owned()), path)
    }

    /// The same of a recording in memory; `name`: what it is called in messages.
    ///
    /// # Errors
    /// When nothing of it can be used.
    pub fn of_bytes(bytes: impl Into<Arc<[u8]>>, name: &Path) -> Result<Self, RecordingError> {
        Self::read(Source::Bytes(bytes.into()), name)
    }

    fn read(source: Source, path: &Path) -> Result<Self, RecordingError> {
        let foreign = |why: String| RecordingError::Foreign { path: path.to_owned(), why };
        let mut lines = Lines::of(&source, path, Wanted::default())?;
        let mut few = Few::default();
        while let Some(line) = lines.next() {
            few.add(line, lines.last_bytes());
        }
        if lines.seen().recognised == 0 {
            return Err(foreign(lines.described()));
        }
        let schema = few.header.as_ref().map(|header| header.schema.clone());
        if let Some(schema) = schema.filter(|schema| !parse::is_of_recordings(schema)) {
            return Err(foreign(format!("its first line says that its schema is {schema:.100?}")));
        }
        if few.header.is_none() && few.processes.is_empty() && few.reports.is_empty() {
            return Err(foreign("neither its first line nor a line of a process can be read".to_owned()));
        }
        let missing = few.missing(lines.seen());
        let (mut problems, is_checked) = (lines.problems(), lines.is_checked());
        drop(lines);
        let Few { header, processes, reports, memory, losses, end, .. } = few;
        let header = header.unwrap_or_else(|| Few::header_from(&reports));
        let mut recording = Self {
            path: path.to_owned(),
            header,
            processes: Vec::new(),
            memory: memory.into_list(),
            losses,
            end,
            problems: Vec::new(),
            source,
            places: HashMap::new(),
            is_narrowed: false,
            later: Mutex::default(),
        };
        let without_report = recording.take(processes, reports);
        if !without_report.is_empty() {
            rebuilt::reports(&mut recording, &without_report)?;
        }
        if !is_checked {
            // Nothing else tells whether the many lines can be read.
            problems = recording.go_through(Wanted { pauses: true, faults: true }, |_| {})?;
        }
        problems.extend(missing.into_iter().map(|what| Problem { what }));
        let nothing_traced = recording.end.as_ref().is_none_or(|end| end.trace.is_none());
        if recording.processes.is_empty() && nothing_traced {
            let why = problems.first().map_or("its trace saw none", |problem| &*problem.what).to_owned();
            return Err(RecordingError::Bare { path: path.to_owned(), why });
        }
        recording.problems = problems;
        recording.later = Mutex::default();
        Ok(recording)
    }

    /// Puts the processes in order. Gives back the numbers of those whose report is missing.
    fn take(&mut self, processes: BTreeMap<u32, Begun>, mut reports: BTreeMap<u32, Report>) -> Vec<u32> {
        let mut without_report = Vec::new();
        for (number, begun) in processes {
            let report = reports.remove(&number);
            let is_whole = report.is_some();
            let Some(process) = begun.process.or_else(|| Some(process_of(number, report.as_ref()?))) else {
                // Only mappings or stacks of it are left.
                continue;
            };
            let report = report.unwrap_or_else(|| {
                without_report.push(number);
                rebuilt::begun(self, &process)
            });
            let mut stacks = begun.stacks;
            stacks.name_missing(&begun.mappings);
            self.places.insert(number, self.processes.len());
            let rest = Rest { process: number, ..begun.rest };
            let mappings = begun.mappings;
            self.processes.push(Recorded { process, mappings, stacks, rest, report, is_whole });
        }
        without_report
    }

    /// The process with this number.
    #[must_use]
    pub fn process(&self, number: u32) -> Option<&Recorded> {
        self.processes.get(*self.places.get(&number)?)
    }

    /// Leaves out all processes but the one with this number.
    pub fn keep_only(&mut self, number: u32) {
        self.processes.retain(|recorded| recorded.process.process == number);
        self.memory.retain(|memory| memory.process == number);
        self.is_narrowed = true;
        self.places = (0..self.processes.len()).map(|place| (number, place)).collect();
    }

    /// Whether processes were left out.
    #[must_use]
    pub fn is_narrowed(&self) -> bool {
        self.is_narrowed
    }

    /// Goes through what is wanted, in the order of the file.
    ///
    /// # Errors
    /// When the file can't be read any more.
    pub fn each(&self, wanted: Wanted, take: impl FnMut(Item<'_>)) -> Result<(), RecordingError> {
        let problems = self.go_through(wanted, take)?;
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        for problem in problems {
            if !self.problems.contains(&problem) && !later.contains(&problem) {
                later.push(problem);
            }
        }
        Ok(())
    }

    /// What can't be read, or is missing: also what was found when pauses and faults were gone through.
    #[must_use]
    pub fn all_problems(&self) -> Vec<Problem> {
        let later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        self.problems.iter().chain(later.iter()).cloned().collect()
    }

    /// The pauses of a process that are listed in a report: the longest ones first, then those without a length.
    ///
    /// # Errors
    /// When the file can't be read any more.
    pub fn longest(&self, process: u32, how_many: Option<usize>) -> Result<Vec<Pause>, RecordingError> {
        let mut kept = Kept::new(how_many);
        self.each(Wanted { pauses: true, faults: false }, |item| {
            if let Item::Pause(recorded, pause) = item
                && recorded.process.process == process
            {
                kept.add(*pause);
            }
        })?;
        let mut longest = kept.into_list();
        if let Some(recorded) = self.process(process) {
            longest.iter_mut().for_each(|pause| recorded.name(pause));
        }
        Ok(longest)
    }

    fn go_through(
        &self,
        wanted: Wanted,
        mut take: impl FnMut(Item<'_>),
    ) -> Result<Vec<Problem>, RecordingError> {
        let mut lines = Lines::of(&self.source, &self.path, wanted)?;
        let (mut sums, mut beyond, mut unowned) = (Sums::default(), 0_u64, 0_u64);
        for line in lines.by_ref() {
            let (process, fits) = match &line {
                Line::Fault(fault) => (fault.process, sums.fault(fault)),
                Line::Pause(line) => (line.process, sums.pause(&line.pause)),
                _ => continue,
            };
            let Some(recorded) = self.process(process) else {
                unowned += 1;
                continue;
            };
            if !fits {
                beyond += 1;
                continue;
            }
            match line {
                Line::Fault(fault) => take(Item::Fault(recorded, fault)),
                Line::Pause(line) => take(Item::Pause(recorded, Box::new(line.pause))),
                _ => {}
            }
        }
        let mut problems = Problems::of(lines.problems());
        if beyond > 0 {
            problems.add(format!(
                "the numbers of {} pauses and faults can't be added up, so large are they; these are left out",
                count(beyond)
            ));
        }
        if unowned > 0 && !self.is_narrowed {
            problems.add(format!(
                "{} pauses and faults are of a process of which nothing else can be read; they are left out",
                count(unowned)
            ));
        }
        Ok(problems.into_list())
    }
}

/// A process whose line is missing, as its report describes it.
fn process_of(number: u32, report: &Report) -> Process {
    Process {
        process: number,
        target: report.target.clone(),
        windows: report.windows.clone(),
        covered_from_ns: report.trace.covered_from_ns,
        plan: report.trace.plan.clone(),
        unavailable: report.trace.unavailable.clone(),
    }
}
