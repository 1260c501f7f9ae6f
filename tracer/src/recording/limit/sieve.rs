//! What lines go through before they are written.
//!
//! Faults come before their pause, so it is not known yet whether they are to be kept: they wait for it. Only when they are
//! more than memory should hold, which is more than most files are to have, they go on before. A stack waits for the first
//! line that refers to it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io,
};

use serde::Deserialize;

use super::{
    fields::{self, FaultFields, PauseFields, PauseKey, StackFields},
    levels::{Keeps, Kept},
    open::{Faults, Giant, Open},
    out::Out,
    slim::slim,
    stacks::{From, StackStore},
    survey::{Survey, Worst},
    thinning::Thinning,
};
use crate::{
    recording::line::{self, Line, Rest},
    report::model,
};

/// Faults of one pause that wait for its end, in bytes of memory, which are mostly compressed.
const WAITING_BYTES: usize = 4 << 20;
/// Of all pauses.
const ALL_WAITING_BYTES: usize = 6 << 20;
/// Pauses that have not ended: those of which more are known will never end.
const MOST_OPEN: usize = 16_384;

/// Lets lines through.
#[derive(Debug)]
pub(super) struct Sieve {
    pub(super) keeps: Keeps,
    /// What has been let through.
    pub(super) survey: Survey,
    pub(super) thinning: Thinning,
    stacks: StackStore,
    open: BTreeMap<PauseKey, Open>,
    waiting_bytes: usize,
    /// Pauses in the file whose faults are many.
    giants: HashMap<PauseKey, Giant>,
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

impl Sieve {
    /// For a file that is empty.
    pub(super) fn new(keeps: Keeps) -> Self {
        Self {
            keeps,
            survey: Survey::default(),
            thinning: Thinning::default(),
            stacks: StackStore::default(),
            open: BTreeMap::new(),
            waiting_bytes: 0,
            giants: HashMap::new(),
            rest: BTreeMap::new(),
            memory_at: None,
            memory_of: HashSet::new(),
            last_losses: None,
            is_rewriting: false,
            drops_open: false,
            end: None,
            pauses: 0,
            faults: 0,
        }
    }

    /// One for the same lines again, and for those that follow, which keeps something else. What this one holds back and is
    /// not in the file is in it from the beginning.
    ///
    /// `drops_open`: a pause that has not ended is not kept whole when its faults are too many to wait for its end.
    pub(super) fn again(&self, keeps: Keeps, thinning: Thinning, drops_open: bool) -> Self {
        let open: BTreeMap<PauseKey, Open> = self
            .open
            .iter()
            .filter(|(_, open)| !matches!(open.faults, Faults::Through(..)))
            .map(|(key, open)| (*key, open.clone()))
            .collect();
        Self {
            thinning,
            stacks: self.stacks.unwritten(),
            waiting_bytes: open.values().map(Open::waiting_bytes).sum(),
            open,
            giants: self.giants.clone(),
            rest: self.rest.clone(),
            is_rewriting: true,
            drops_open,
            ..Self::new(keeps)
        }
    }

    /// A line, without its end. What is to be written because of it is added to `out`.
    pub(super) fn line(&mut self, line: &[u8], out: &mut Out) -> io::Result<()> {
        let is = |kind: &str| {
            let begin = line.strip_prefix(br#"{"type":""#.as_slice());
            begin
                .and_then(|rest| rest.strip_prefix(kind.as_bytes()))
                .is_some_and(|rest| rest.first() == Some(&b'"'))
        };
        if is("fault") {
            match fields::of_fault(line) {
                Some(fields) => self.fault(fields, line, out)?,
                None => self.other(line, out),
            }
        } else if is("pause") {
            match fields::of_pause(line) {
                Some(fields) => self.pause(fields, line, out)?,
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
                out.line(line);
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
        } else if is("losses") {
            self.survey.renewed(None, line.len() as u64 + 1);
            self.other(line, out);
        } else if is("end") {
            self.end = Some(line.to_vec());
        } else {
            self.other(line, out);
        }
        Ok(())
    }

    fn other(&mut self, line: &[u8], out: &mut Out) {
        self.survey.other_bytes += line.len() as u64 + 1;
        out.line(line);
    }

    fn rest_of(&mut self, process: u32) -> &mut Rest {
        self.rest.entry(process).or_insert_with(|| Rest::of(process))
    }

    fn fault(&mut self, fields: FaultFields, line: &[u8], out: &mut Out) -> io::Result<()> {
        let key = (fields.process, fields.pause);
        if !self.open.contains_key(&key) {
            self.forget_some(out)?;
            let faults = match self.giants.get(&key) {
                // It was not dropped when it ended.
                Some(giant)
                    if self.keeps.of(key, giant.duration_ns, Some(giant.file_bytes)) == Kept::Whole =>
                {
                    Faults::Through(0, 0)
                }
                Some(_) => Faults::Dropped,
                None => Faults::default(),
            };
            self.open.insert(key, Open { faults, ..Open::default() });
        }
        let Some(open) = self.open.get_mut(&key) else { return Ok(()) };
        open.bytes += line.len() as u64 + 1;
        open.count += 1;
        let is_new_stack = open.stacks.insert(fields.stack);
        match &mut open.faults {
            Faults::Dropped => {}
            Faults::Wait(waiting) => {
                let before = waiting.memory();
                waiting.add(line, out)?;
                let now = waiting.memory();
                self.waiting_bytes = self.waiting_bytes + now - before;
                let is_too_large = waiting.file_bytes().is_some_and(|bytes| bytes > self.keeps.largest_bytes);
                if is_too_large || now > WAITING_BYTES && self.drops_open {
                    self.waiting_bytes -= now;
                    open.faults = Faults::Dropped;
                } else if now > WAITING_BYTES {
                    self.let_faults_through(key, out)?;
                }
            }
            Faults::Through(..) => {
                if is_new_stack {
                    self.refer((fields.process, fields.stack), From::Fault, None, out);
                }
                out.line(line);
                self.faults += 1;
            }
        }
        Ok(())
    }

    /// Writes the faults that wait, of a pause that has not ended.
    fn let_faults_through(&mut self, key: PauseKey, out: &mut Out) -> io::Result<()> {
        let Some(mut open) = self.open.remove(&key) else { return Ok(()) };
        self.let_through(key, &mut open, None, out)?;
        self.open.insert(key, open);
        Ok(())
    }

    /// Writes the faults that wait. `group`: of their pause.
    fn let_through(
        &mut self,
        key: PauseKey,
        open: &mut Open,
        group: Option<u64>,
        out: &mut Out,
    ) -> io::Result<()> {
        let Faults::Wait(waiting) = &mut open.faults else { return Ok(()) };
        self.waiting_bytes -= waiting.memory();
        let (waiting, file_bytes) = (std::mem::take(waiting), waiting.file_bytes());
        open.faults = match file_bytes {
            Some(bytes) => Faults::Through(open.bytes, bytes),
            None => Faults::Through(0, 0),
        };
        for stack in &open.stacks {
            self.refer((key.0, *stack), From::Fault, group, out);
        }
        self.faults += open.count;
        waiting.write(out)
    }

    /// Pauses of which too much is known to wait for them are taken for ones that never end, the oldest ones first. If they
    /// do, their faults have no lines; their totals come with them. Those with very many faults do end.
    fn forget_some(&mut self, out: &mut Out) -> io::Result<()> {
        while self.open.len() >= MOST_OPEN {
            let Some((_, open)) = self.open.pop_first() else { break };
            self.waiting_bytes -= open.waiting_bytes();
        }
        if self.waiting_bytes <= ALL_WAITING_BYTES {
            return Ok(());
        }
        // Some more, so that this is not needed for each of them.
        const ENOUGH_BYTES: usize = ALL_WAITING_BYTES / 4 * 3;
        for open in self.open.values_mut() {
            if self.waiting_bytes <= ENOUGH_BYTES {
                return Ok(());
            }
            if open.file_bytes().is_none() {
                self.waiting_bytes -= open.waiting_bytes();
                if matches!(open.faults, Faults::Wait(_)) {
                    open.faults = Faults::Dropped;
                }
            }
        }
        let many: Vec<PauseKey> =
            self.open.iter().filter(|(_, open)| open.waiting_bytes() > 0).map(|(key, _)| *key).collect();
        for key in many {
            if self.waiting_bytes > ENOUGH_BYTES {
                self.let_faults_through(key, out)?;
            }
        }
        Ok(())
    }

    fn refer(&mut self, key: (u32, u32), from: From, group: Option<u64>, out: &mut Out) {
        if let Some(line) = self.stacks.refer(key, from, group, &mut self.survey) {
            out.line(&line);
        }
    }

    fn pause(&mut self, fields: PauseFields, line: &[u8], out: &mut Out) -> io::Result<()> {
        let PauseFields { process, id, duration_ns } = fields;
        let key = (process, id);
        let group = Survey::group(duration_ns);
        let mut open = self.open.remove(&key).unwrap_or_default();
        let known = self.giants.get(&key).map(|giant| giant.file_bytes);
        let file_bytes = known.or_else(|| open.file_bytes());
        let kept = self.keeps.of(key, duration_ns, file_bytes);
        if kept == Kept::Whole {
            self.let_through(key, &mut open, Some(group), out)?;
            self.thinning.keeps(process, id);
        }
        self.ended(key, &open, file_bytes, duration_ns, line);
        match kept {
            Kept::Whole | Kept::Line => {
                for stack in fields::references(line) {
                    self.refer((process, stack), From::Line, Some(group), out);
                }
                self.counted(group, line.len());
                out.line(line);
            }
            Kept::Totals | Kept::AddedUp => {
                let Some(mut pause) = read_pause(line) else {
                    self.other(line, out);
                    return Ok(());
                };
                if kept == Kept::AddedUp {
                    self.rest_of(process).add(&pause);
                    return Ok(());
                }
                slim(&mut pause);
                let slim = Line::Pause(Box::new(line::Pause { process, pause }));
                match serde_json::to_vec(&slim) {
                    Ok(slim) => {
                        self.counted(group, slim.len());
                        out.line(&slim);
                    }
                    Err(_) => self.other(line, out),
                }
            }
        }
        Ok(())
    }

    /// A pause has ended; its faults came before, and are in the file or never will be.
    fn ended(
        &mut self,
        key: PauseKey,
        open: &Open,
        file_bytes: Option<u64>,
        duration_ns: Option<u64>,
        line: &[u8],
    ) {
        self.waiting_bytes -= open.waiting_bytes();
        let is_in_file = matches!(open.faults, Faults::Through(..));
        let fault_bytes = if is_in_file { open.bytes } else { 0 };
        if is_in_file {
            let group = Survey::group(duration_ns);
            self.survey.sizes(group).fault_bytes += open.bytes;
            for stack in &open.stacks {
                // It is in the file by now: this only says for whom.
                let line = self.stacks.refer((key.0, *stack), From::Fault, Some(group), &mut self.survey);
                debug_assert!(line.is_none(), "a stack is written before the first fault with it");
            }
        }
        match file_bytes.filter(|_| is_in_file) {
            Some(file_bytes) => self.giants.insert(key, Giant { duration_ns, file_bytes }),
            None => self.giants.remove(&key),
        };
        self.survey.pause(Worst {
            key,
            ns: duration_ns.unwrap_or(0),
            line_bytes: line.len() as u64 + 1,
            fault_bytes,
            file_bytes,
        });
    }

    fn counted(&mut self, group: u64, bytes: usize) {
        self.pauses += 1;
        let sizes = self.survey.sizes(group);
        sizes.pauses += 1;
        sizes.line_bytes += bytes as u64 + 1;
    }

    fn memory(&mut self, line: &[u8], out: &mut Out) {
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
        let through = self.open.values().filter(|open| matches!(open.faults, Faults::Through(..)));
        through.map(|open| open.bytes).sum()
    }

    /// Of how many processes there are states of memory.
    pub(super) fn memory_processes(&self) -> u64 {
        self.memory_of.len() as u64
    }

    /// What has been added up since the last time, and what must come last.
    pub(super) fn flush(&mut self, out: &mut Out) {
        for rest in std::mem::take(&mut self.rest).into_values() {
            let before = self.survey.other_bytes;
            let process = rest.process;
            self.write(&Line::Rest(Box::new(rest)), out);
            self.survey.renewed(Some(process), self.survey.other_bytes - before);
        }
        if let Some(losses) = self.last_losses.take() {
            self.survey.renewed(None, losses.len() as u64 + 1);
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

    fn write(&mut self, line: &Line, out: &mut Out) {
        let mut bytes = Vec::new();
        // What was read as JSON can be written as JSON.
        if serde_json::to_writer(&mut bytes, line).is_ok() {
            self.other(&bytes, out);
        }
    }
}

/// Read without its owner, which is much quicker.
fn read_pause(line: &[u8]) -> Option<model::Pause> {
    serde_json::from_slice(line).ok()
}
