//! What a recording is given of one process.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use object::Object as _;
use tracer_common::fault::seen;

use super::{
    memory::AtEnd,
    stacks::Numbered,
    state::{Recording, since},
};
use crate::{
    longest::Longest,
    pause::{FinishedPause, KernelStacks, ListedFault, State},
    recording::line::{self, Line, Role},
    report::{
        described::{Known, pause},
        memory_state::MemoryState,
        model::{Pause, Report},
    },
    symbols::{Module, Namer},
    target::FileId,
};

/// What a recording is given of one process.
#[derive(Debug)]
pub struct ProcessRecorder {
    recording: Rc<RefCell<Recording>>,
    process: u32,
    pid: u32,
    schedule_seen: bool,
    stacks: Numbered,
    modules: usize,
    build_ids: HashMap<FileId, Option<String>>,
    /// The state of memory at the ends of the longest pauses.
    memory: Longest<MemoryState>,
}

impl ProcessRecorder {
    pub(super) fn new(
        recording: Rc<RefCell<Recording>>,
        process: u32,
        pid: u32,
        schedule_seen: bool,
    ) -> Self {
        let listed = recording.borrow().what.listed;
        Self {
            recording,
            process,
            pid,
            schedule_seen,
            stacks: Numbered::of(process),
            modules: 0,
            build_ids: HashMap::new(),
            memory: Longest::new(listed),
        }
    }

    /// The process's code, the newest last: what is new is written.
    pub fn modules(&mut self, modules: &[Module]) {
        for module in modules.iter().skip(self.modules) {
            let build_id = self.build_ids.entry(module.id.clone()).or_insert_with(|| build_id(module));
            self.recording.borrow_mut().file.line(&Line::Mapping(line::Mapping {
                process: self.process,
                start: format!("{:#x}", module.start),
                end: format!("{:#x}", module.end),
                offset_bytes: module.offset_bytes,
                file: module.name.to_string_lossy().into_owned(),
                build_id: build_id.clone(),
            }));
        }
        self.modules = modules.len().max(self.modules);
    }

    /// Faults inside pauses, before those.
    pub fn faults(&mut self, faults: &[ListedFault], stacks: &HashMap<u64, Vec<u64>>) {
        let mut recording = self.recording.borrow_mut();
        for fault in faults {
            let frames = stacks.get(&fault.record.stack).map(Vec::as_slice);
            let cut = fault.record.seen & seen::STACK_CUT != 0;
            let stack = self.stacks.number(fault.record.stack, frames, cut);
            for line in self.stacks.new_lines() {
                recording.file.line(&Line::Stack(line));
            }
            let line = fault_line(fault, self.process, recording.zero_ns, stack);
            recording.file.line(&Line::Fault(line));
        }
        recording.faults += faults.len() as u64;
    }

    /// A pause that has ended, or was found open at the end. Its faults were given before.
    pub fn pause(
        &mut self,
        finished: &FinishedPause,
        stacks: &HashMap<u64, Vec<u64>>,
        kernel_stacks: &KernelStacks,
    ) {
        if finished.state == State::Discarded {
            return;
        }
        let mut recording = self.recording.borrow_mut();
        let known = Known {
            stacks,
            kernel_stacks,
            zero_ns: recording.zero_ns,
            schedule_seen: self.schedule_seen,
            pid: self.pid,
            devices: &recording.devices,
            names: &self.stacks,
        };
        let mut pause = pause(finished, &known);
        let Recording { memory, file, pauses, .. } = &mut *recording;
        let mut read = None;
        if let (Some(memory), Some(duration_ns)) = (memory, pause.duration_ns) {
            let AtEnd { line, state } = memory.at_end_of(self.process, pause.id, duration_ns);
            read = line;
            if let Some(state) = state {
                self.memory.offer(duration_ns, pause.id, state.clone());
                pause.memory = Some(Box::new(state));
            }
        }
        for line in self.stacks.new_lines() {
            file.line(&Line::Stack(line));
        }
        file.line(&Line::Pause(Box::new(line::Pause { process: self.process, pause })));
        if let Some(memory) = read {
            file.line(&Line::Memory(Box::new(memory)));
        }
        *pauses += 1;
    }

    /// Puts the state of memory at their ends into the pauses, as far as it is known.
    pub fn memory(&mut self, pauses: &mut [Pause]) {
        let mut states: HashMap<u64, MemoryState> =
            self.memory.take().into_iter().map(|(_, pause, state)| (pause, state)).collect();
        for pause in pauses {
            pause.memory = states.remove(&pause.id).map(Box::new);
        }
    }

    /// The process's gate is closed: the state of its memory is read for the last time.
    pub fn closed(&self) {
        let mut recording = self.recording.borrow_mut();
        let Recording { memory, file, .. } = &mut *recording;
        if let Some(state) = memory.as_mut().and_then(|memory| memory.last(self.process)) {
            file.line(&Line::Memory(Box::new(state)));
        }
    }

    /// The names of all stacks that were met.
    pub fn names(&self, namer: &Namer, stacks: &HashMap<u64, Vec<u64>>) {
        let mut recording = self.recording.borrow_mut();
        for (key, number) in self.stacks.all() {
            let mut frames = stacks.get(&key.identity).cloned();
            if let Some(frames) = &mut frames
                && key.caller != 0
                && frames.get(1) != Some(&key.caller)
            {
                frames.insert(frames.len().min(1), key.caller);
            }
            let named = namer.frames(frames.as_deref(), key.cut, key.caller != 0);
            let frames = named.into_iter().map(|(name, address)| line::Frame {
                name,
                address: address.map(|address| format!("{address:#x}")),
            });
            let line = line::Names { process: self.process, stack: number, frames: frames.collect() };
            recording.file.line(&Line::Names(line));
        }
    }

    /// The process's trace has ended with this report.
    pub fn end(&self, report: &Report) {
        let line = line::ProcessEnd { process: self.process, report: report.clone() };
        self.recording.borrow_mut().file.line(&Line::ProcessEnd(Box::new(line)));
    }
}

fn fault_line(fault: &ListedFault, process: u32, zero_ns: u64, stack: u32) -> line::Fault {
    let record = &fault.record;
    let is = |bit: u32| record.seen & bit != 0;
    let role = match (is(seen::DRIVER), is(seen::WORKER)) {
        (true, _) => Role::Driver,
        (false, true) => Role::Worker,
        (false, false) => Role::Bystander,
    };
    let full_ns = record.end_ns.saturating_sub(record.begin_ns);
    let some = |ns: u64| (ns > 0).then_some(ns);
    line::Fault {
        process,
        pause: fault.pause,
        tid: record.tid,
        role,
        kind: fault.refined.kind,
        inferred: fault.refined.inferred,
        major: is(seen::MAJOR),
        begin_ns: since(zero_ns, record.begin_ns),
        ns: fault.ns,
        full_ns: some(full_ns).filter(|full_ns| *full_ns != fault.ns),
        blocked_ns: some(record.blocked_ns),
        reclaim_ns: some(record.reclaim_ns),
        address: format!("{:#x}", record.address),
        region: fault.placed.region,
        what: fault.placed.what.to_string(),
        place_inferred: fault.placed.inferred,
        stack,
    }
}

/// The GNU build id of the module's file.
fn build_id(module: &Module) -> Option<String> {
    let file = module.file.as_ref()?;
    // SAFETY: the file is mapped for reading only; one that is changed meanwhile gives wrong bytes, which are checked.
    let bytes = unsafe { memmap2::Mmap::map(file.as_ref()) }.ok()?;
    let object = object::File::parse(&bytes[..]).ok()?;
    let id = object.build_id().ok()??;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}
