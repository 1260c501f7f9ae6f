//! What lines go through before they are written.
//!
//! Faults come before their pause, so it is not known yet whether they are to be kept: they wait for it, as long as they
//! are not too many. A stack waits for the first line that refers to it.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;

use super::{
    fields::{self, FaultFields, PauseFields, StackFields},
    levels::{Kept, Levels},
    slim::slim,
    stacks::{From, StackStore},
    survey::Survey,
    thinning::Thinning,
};
use crate::{
    recording::line::{self, Line, Rest},
    report::model,
};

/// Faults of one pause that wait for its end, in bytes. With more of them it will be among the worst ones.
const WAITING_BYTES: usize = 1 << 20;
/// Of all pauses.
const ALL_WAITING_BYTES: usize = 8 << 20;
/// Pauses that have not ended: those of which more are known will never end.
const MOST_OPEN: usize = 16_384;

/// A process's number, and a pause's within it.
type PauseKey = (u32, u64);

/// Lets lines through.
#[derive(Debug, Default)]
pub(super) struct Sieve {
    pub(super) levels: Levels,
    /// What has been let through.
    pub(super) survey: Survey,
    pub(super) thinning: Thinning,
    stacks: StackStore,
    open: BTreeMap<PauseKey, Open>,
    waiting_bytes: usize,
    /// The lengths of pauses whose faults are too many to wait.
    giants: HashMap<PauseKey, Option<u64>>,
    rest: BTreeMap<u32, Rest>,
    /// When states of memory were read, first and last.
    pub(super) memory_at: Option<(i64, i64)>,
    memory_of: HashSet<u32>,
    /// Lines of losses, of which only the last one is wanted: it is kept back.
    last_losses: Option<Vec<u8>>,
    is_rewriting: bool,
    /// Pauses that have not ended lose their faults when those are too many to wait.
    drops_open: bool,
    end: Option<Vec<u8>>,
    pauses: u64,
    faults: u64,
}

/// A pause that has not ended, as far as lines tell.
#[derive(Clone, Debug)]
struct Open {
    faults: Faults,
    bytes: u64,
    count: u64,
    stacks: HashSet<u32>,
}

/// What becomes of its faults.
#[derive(Clone, Debug)]
enum Faults {
    Wait(Vec<u8>),
    Through,
    Dropped,
}

impl Sieve {
    /// One for the same lines again, and for those that follow, with other levels. What this one holds back and is not in
    /// the file is in it from the beginning.
    ///
    /// `drops_open`: a pause that has not ended is not kept whole when its faults are too many to wait for its end.
    pub(super) fn again(&self, levels: Levels, thinning: Thinning, drops_open: bool) -> Self {
        let open: BTreeMap<PauseKey, Open> = self
            .open
            .iter()
            .filter(|(_, open)| !matches!(open.faults, Faults::Through))
            .map(|(key, open)| (*key, open.clone()))
            .collect();
        let waiting = |open: &Open| if let Faults::Wait(lines) = &open.faults { lines.len() } else { 0 };
        Self {
            levels,
            thinning,
            stacks: self.stacks.unwritten(),
            waiting_bytes: open.values().map(waiting).sum(),
            open,
            giants: self.giants.clone(),
            rest: self.rest.clone(),
            is_rewriting: true,
            drops_open,
            ..Self::default()
        }
    }

    /// A line, without its end. What is to be written because of it is added to `out`.
    pub(super) fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let is = |kind: &str| {
            let begin = line.strip_prefix(br#"{"type":""#.as_slice());
            begin
                .and_then(|rest| rest.strip_prefix(kind.as_bytes()))
                .is_some_and(|rest| rest.first() == Some(&b'"'))
        };
        if is("fault") {
            match fields::of_fault(line) {
                Some(fields) => self.fault(fields, line, out),
                None => self.other(line, out),
            }
        } else if is("pause") {
            match fields::of_pause(line) {
                Some(fields) => self.pause(fields, line, out),
                None => self.other(line, out),
            }
        } else if is("stack") {
            match fields::of_stack(line) {
                Some(StackFields { process, stack }) => self.stacks.hold((process, stack), line),
                None => self.other(line, out),
            }
        } else if is("names") {
            let names = fields::of_stack(line);
            let bytes = line.len() as u64 + 1;
            if names.is_none_or(|names| {
                self.stacks.is_named((names.process, names.stack), bytes, &mut self.survey)
            }) {
                put(line, out);
            }
        } else if is("memory") {
            self.memory(line, out);
        } else if is("rest") {
            match serde_json::from_slice::<Rest>(line) {
                Ok(rest) => self.rest_of(rest.process).merge(&rest),
                Err(_) => self.other(line, out),
            }
        } else if is("losses") && self.is_rewriting {
            self.last_losses = Some(line.to_vec());
        } else if is("end") {
            self.end = Some(line.to_vec());
        } else {
            self.other(line, out);
        }
    }

    fn other(&mut self, line: &[u8], out: &mut Vec<u8>) {
        self.survey.other_bytes += line.len() as u64 + 1;
        put(line, out);
    }

    fn rest_of(&mut self, process: u32) -> &mut Rest {
        self.rest.entry(process).or_insert_with(|| Rest::of(process))
    }

    fn fault(&mut self, fields: FaultFields, line: &[u8], out: &mut Vec<u8>) {
        let key = (fields.process, fields.pause);
        if !self.open.contains_key(&key) {
            self.forget_some();
            let faults = match self.giants.get(&key) {
                Some(length) if self.levels.of(*length) == Kept::Whole => Faults::Through,
                Some(_) => Faults::Dropped,
                None if self.levels.with_faults_ns == 0 => Faults::Through,
                None => Faults::Wait(Vec::new()),
            };
            self.open.insert(key, Open { faults, bytes: 0, count: 0, stacks: HashSet::new() });
        }
        let Some(open) = self.open.get_mut(&key) else { return };
        open.bytes += line.len() as u64 + 1;
        open.count += 1;
        let is_new_stack = open.stacks.insert(fields.stack);
        match &mut open.faults {
            Faults::Dropped => {}
            Faults::Wait(lines) => {
                put(line, lines);
                self.waiting_bytes += line.len() + 1;
                if lines.len() > WAITING_BYTES && self.drops_open {
                    self.waiting_bytes -= lines.len();
                    open.faults = Faults::Dropped;
                } else if lines.len() > WAITING_BYTES {
                    self.let_faults_through(key, None, out);
                }
            }
            Faults::Through => {
                if is_new_stack {
                    self.refer((fields.process, fields.stack), From::Fault, None, out);
                }
                put(line, out);
                self.faults += 1;
            }
        }
    }

    /// Writes the faults that wait.
    fn let_faults_through(&mut self, key: PauseKey, group: Option<u64>, out: &mut Vec<u8>) {
        let Some(open) = self.open.get_mut(&key) else { return };
        // What was dropped stays so.
        if !matches!(open.faults, Faults::Wait(_)) {
            return;
        }
        let (count, stacks) = (open.count, open.stacks.clone());
        let Faults::Wait(lines) = std::mem::replace(&mut open.faults, Faults::Through) else { return };
        self.waiting_bytes -= lines.len();
        for stack in stacks {
            self.refer((key.0, stack), From::Fault, group, out);
        }
        out.extend_from_slice(&lines);
        self.faults += count;
    }

    /// Pauses of which too much is known to wait for them are taken for ones that never end, the oldest ones first. If they
    /// do, their faults have no lines; their totals come with them.
    fn forget_some(&mut self) {
        while self.open.len() >= MOST_OPEN || self.waiting_bytes > ALL_WAITING_BYTES {
            let Some((_, open)) = self.open.pop_first() else { return };
            if let Faults::Wait(lines) = open.faults {
                self.waiting_bytes -= lines.len();
            }
        }
    }

    fn refer(&mut self, key: (u32, u32), from: From, group: Option<u64>, out: &mut Vec<u8>) {
        if let Some(line) = self.stacks.refer(key, from, group, &mut self.survey) {
            put(&line, out);
        }
    }

    fn pause(&mut self, fields: PauseFields, line: &[u8], out: &mut Vec<u8>) {
        let PauseFields { process, id, duration_ns } = fields;
        let key = (process, id);
        let kept = self.levels.of(duration_ns);
        let group = Survey::group(duration_ns);
        if kept == Kept::Whole {
            self.let_faults_through(key, Some(group), out);
            self.thinning.keeps(process, id);
        }
        let mut fault_bytes = 0;
        if let Some(open) = self.open.remove(&key) {
            self.ended(key, &open, duration_ns);
            if matches!(open.faults, Faults::Through) {
                fault_bytes = open.bytes;
            }
        }
        self.survey.pause(duration_ns, fault_bytes + line.len() as u64);
        match kept {
            Kept::Whole | Kept::Line => {
                for stack in fields::references(line) {
                    self.refer((process, stack), From::Line, Some(group), out);
                }
                self.counted(group, line.len());
                put(line, out);
            }
            Kept::Totals | Kept::AddedUp => {
                let Some(mut pause) = read_pause(line) else { return self.other(line, out) };
                if kept == Kept::AddedUp {
                    self.rest_of(process).add(&pause);
                    return;
                }
                slim(&mut pause);
                let before = out.len();
                let slim = Line::Pause(Box::new(line::Pause { process, pause }));
                if serde_json::to_writer(&mut *out, &slim).is_err() {
                    out.truncate(before);
                    return self.other(line, out);
                }
                out.push(b'\n');
                self.counted(group, out.len() - before - 1);
            }
        }
    }

    /// A pause has ended whose faults came before.
    fn ended(&mut self, key: PauseKey, open: &Open, duration_ns: Option<u64>) {
        match &open.faults {
            Faults::Wait(lines) => self.waiting_bytes -= lines.len(),
            Faults::Dropped => {}
            Faults::Through => {
                let group = Survey::group(duration_ns);
                self.survey.sizes(group).fault_bytes += open.bytes;
                for stack in &open.stacks {
                    // It is in the file by now: this only says for whom.
                    let line = self.stacks.refer((key.0, *stack), From::Fault, Some(group), &mut self.survey);
                    debug_assert!(line.is_none(), "a stack is written before the first fault with it");
                }
                if open.bytes > WAITING_BYTES as u64 {
                    self.giants.insert(key, duration_ns);
                }
            }
        }
    }

    fn counted(&mut self, group: u64, bytes: usize) {
        self.pauses += 1;
        let sizes = self.survey.sizes(group);
        sizes.pauses += 1;
        sizes.line_bytes += bytes as u64 + 1;
    }

    fn memory(&mut self, line: &[u8], out: &mut Vec<u8>) {
        #[derive(Deserialize)]
        struct At {
            process: u32,
            at_ns: i64,
        }
        if !self.thinning.lets_through(line) {
            return;
        }
        if let Ok(At { process, at_ns }) = serde_json::from_slice(line) {
            self.memory_of.insert(process);
            let (from, to) = self.memory_at.unwrap_or((at_ns, at_ns));
            self.memory_at = Some((from.min(at_ns), to.max(at_ns)));
        }
        self.survey.memory_bytes += line.len() as u64 + 1;
        self.survey.memory_lines += 1;
        self.other(line, out);
    }

    /// Bytes of faults that are in the file, of pauses that have not ended.
    pub(super) fn open_bytes(&self) -> u64 {
        let through = self.open.values().filter(|open| matches!(open.faults, Faults::Through));
        through.map(|open| open.bytes).sum()
    }

    /// Of how many processes there are states of memory.
    pub(super) fn memory_processes(&self) -> u64 {
        self.memory_of.len() as u64
    }

    /// What has been added up since the last time, and what must come last.
    pub(super) fn flush(&mut self, out: &mut Vec<u8>) {
        for rest in std::mem::take(&mut self.rest).into_values() {
            self.write(&Line::Rest(Box::new(rest)), out);
        }
        if let Some(losses) = self.last_losses.take() {
            self.other(&losses, out);
        }
        if let Some(end) = self.end.take() {
            match serde_json::from_slice::<line::End>(&end) {
                Ok(end) => {
                    let end = line::End { pauses: self.pauses, faults: self.faults, ..end };
                    self.write(&Line::End(end), out);
                }
                Err(_) => self.other(&end, out),
            }
        }
    }

    /// The file has been gone through again: from now on lines are new ones.
    pub(super) fn goes_on(&mut self) {
        self.is_rewriting = false;
        self.drops_open = false;
        self.thinning = Thinning::default();
    }

    fn write(&mut self, line: &Line, out: &mut Vec<u8>) {
        let mut bytes = Vec::new();
        // What was read as JSON can be written as JSON.
        if serde_json::to_writer(&mut bytes, line).is_ok() {
            self.other(&bytes, out);
        }
    }
}

fn put(line: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(line);
    out.push(b'\n');
}

/// Read without its owner, which is much quicker.
fn read_pause(line: &[u8]) -> Option<model::Pause> {
    serde_json::from_slice(line).ok()
}
