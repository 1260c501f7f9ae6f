//! One traced process while the trace runs: its probes, its records, its kernel counters, and its part of the result.

use std::{
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::PathBuf,
    task::{Context, Poll},
    time::Instant,
};

use aya::Ebpf;
use tokio::io::{Interest, unix::AsyncFd};
use tracer_common::{
    fault::FaultRecord,
    pause::{ShortRecord, WindowRecord},
    stack_copy::StackCopyHead,
};

use super::{
    account::Account,
    error::SessionError,
    kernel_side::KernelSide,
    leftovers,
    memory_limit::LimitsAtStart,
    options::Options,
    outcome::{Began, CounterReadings, Ended, Outcome},
    rate::Rate,
    sampling::{Sampling, Turn},
    subject::Subject,
    throttling::Watch,
    unwinding::Unwinding,
    workers::WorkerList,
};
use crate::{
    clock::{monotonic_ns, unix_ms},
    memory::{AddressSpace, Layout, Program},
    pause::{Collector, StampDifferences, State, Surroundings},
    probe::{Plan, ProcessProbes, Stopped, attach_process, load_programs, verify_sites},
    recording::{ProcessRecorder, Recorder, line},
    report::described::{plan_steps, target_of, unavailable, windows},
    runtime::{KeyedBy, Loaded, Lookup, RuntimeKind, Unit},
    symbols::Modules,
    target::{Counters, has_ended, read_counters, read_process_counters},
};

/// A process whose gate is open.
pub(super) struct Process {
    pub(super) subject: Subject,
    pub(super) collector: Collector,
    pub(super) throttling: Watch,
    ended: AsyncFd<OwnedFd>,
    plan: Plan,
    probes: ProcessProbes,
    memory_limits: LimitsAtStart,
    workers: WorkerList,
    unwinding: Unwinding,
    modules: Modules,
    lookup: Lookup,
    generation: u64,
    stamps: StampDifferences,
    counters: CounterReadings,
    last_counters: Option<Counters>,
    began: Began,
    opened_ns: u64,
    opened_unix_ms: u64,
    closed_ns: u64,
    attach_ns: u64,
    rate: Option<Rate>,
    too_often: Option<u64>,
    sampling: Option<Sampling>,
    recording: Option<ProcessRecorder>,
}

/// The probes of a program that its process has replaced.
///
/// They are attached to the process's first thread, and to places in files: where the new program is the same one, the kernel has put them
/// into its memory already.
pub(super) struct Kept {
    pub(super) files: FileKeys,
    /// All are in place, and the first thread began the program, so it is the first one still.
    pub(super) usable: bool,
    pub(super) probes: ProcessProbes,
}

/// The files that hold a runtime: devices and inodes. One that can't be told is like no other.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileKeys(Vec<(u64, u64)>);

impl FileKeys {
    pub(super) fn of(subject: &Subject) -> Self {
        let files = subject.recognised.files.iter().filter_map(|image| image.file().metadata().ok());
        Self(files.map(|file| (file.dev(), file.ino())).collect())
    }
}

impl Kept {
    /// For a program in the same files; otherwise they are taken away. If the new program shares a file with the old one,
    /// they are gone when this returns: no place may have two.
    fn of(self, subject: &Subject) -> Option<ProcessProbes> {
        let files = FileKeys::of(subject);
        if files == self.files && self.usable {
            return Some(self.probes);
        }
        if files.0.iter().any(|file| self.files.0.contains(file)) {
            self.probes.take_away();
        } else {
            self.probes.forget_ended();
        }
        None
    }

    /// Takes them away: the new program is not traced.
    pub(super) fn forget(self) {
        self.probes.forget_ended();
    }
}

/// What a process leaves behind.
pub(super) struct Left {
    pub(super) subject: Subject,
    pub(super) outcome: Outcome,
    pub(super) probes: ProcessProbes,
}

impl Process {
    /// Verifies the places, attaches the process's probes, and lets it through the gate. `kept`: the probes of the program
    /// that it ran before.
    pub(super) fn begin(
        subject: Subject,
        began: Began,
        kept: Option<Kept>,
        kernel: &mut KernelSide,
        options: &Options,
        started: Instant,
    ) -> Result<Self, SessionError> {
        let pid = subject.target.pid();
        let handle = subject.target.as_fd().try_clone_to_owned().map_err(SessionError::Wait)?;
        let begun = Self::begin_living(subject, began, kept, kernel, options, started);
        // Of a process that is gone by now no other error says anything.
        begun.map_err(|error| if has_ended(handle.as_fd()) { SessionError::EndedEarly(pid) } else { error })
    }

    fn begin_living(
        subject: Subject,
        began: Began,
        kept: Option<Kept>,
        kernel: &mut KernelSide,
        options: &Options,
        started: Instant,
    ) -> Result<Self, SessionError> {
        let pid = subject.target.pid();
        let ended = watch(&subject)?;
        let stamped = subject.recognised.carries_stopped() && !options.cross_check;
        let stopped = if stamped { Stopped::Stamp } else { Stopped::Probe };
        let plan = kernel.plan.for_process(&subject.recognised.sites, stopped);
        let space = address_space(&subject);
        verify_sites(
            &subject.target,
            &subject.recognised.files,
            &subject.recognised.sites,
            space.mappings(),
        )?;
        let ebpf = &mut kernel.attached.ebpf;
        load_programs(ebpf, &plan, &kernel.kernel_release)?;
        let probes = match kept.and_then(|kept| kept.of(&subject)) {
            Some(probes) => probes,
            None => attach_process(ebpf, &plan, pid, &subject.recognised.files)?,
        };
        let surroundings = Surroundings {
            numa_balancing: plan.numa_balancing,
            userfaultfd: false,
            schedule_seen: plan.schedule_seen,
            devices_seen: plan.devices_seen,
        };
        let mut modules = Modules::new(pid);
        modules.observe(space.mappings());
        let root = PathBuf::from(format!("/proc/{}/root", subject.target.pid()));
        let lookup = Lookup::new(&subject.recognised.files, space.mappings(), &root);
        let before_open = read_counters(pid);
        let throttling = Watch::new(pid);
        let memory_limits = LimitsAtStart::of(pid);
        let mut workers = WorkerList::new();
        workers.tell(ebpf, pid, &subject.recognised);
        let mut unwinding = Unwinding::new(options.unwind);
        if let Some(ranges) = unwinding.ranges(&modules) {
            leftovers::set_copy_ranges(ebpf, pid, ranges)?;
        }
        leftovers::open_gate(ebpf, pid, subject.recognised.rules.settings())?;
        let (opened_ns, opened_unix_ms) = (monotonic_ns(), unix_ms());
        let counters =
            CounterReadings { before_open, after_open: read_counters(pid), ..CounterReadings::default() };
        Ok(Self {
            ended,
            plan,
            probes,
            throttling,
            memory_limits,
            workers,
            unwinding,
            generation: space.generation(),
            collector: Collector::new(options.keep, surroundings, space)
                .renumbering(subject.recognised.rules.keyed != KeyedBy::Process)
                .with_kernel_stacks(kernel.kernel_stacks.clone()),
            modules,
            lookup,
            stamps: StampDifferences::default(),
            counters,
            last_counters: None,
            began,
            opened_ns,
            opened_unix_ms,
            closed_ns: 0,
            rate: (subject.recognised.rules.unit != Unit::Pause)
                .then(|| Rate::new(options.max_rate, Instant::now())),
            too_often: None,
            recording: None,
            sampling: options.sample.map(|share| Sampling::new(share, Instant::now())),
            attach_ns: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
            subject,
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.subject.target.pid()
    }

    /// How many threads have their events.
    pub(super) fn threads(&self) -> usize {
        self.probes.threads
    }

    /// When the gate opened, `CLOCK_MONOTONIC` in ns, and milliseconds since 1970.
    pub(super) fn opened(&self) -> (u64, u64) {
        (self.opened_ns, self.opened_unix_ms)
    }

    /// Ready once the process has ended.
    pub(super) fn poll_ended(&self, context: &mut Context<'_>) -> Poll<()> {
        self.ended.poll_read_ready(context).map(|_| ())
    }

    /// A window's record, whose details have all been given.
    pub(super) fn window(&mut self, record: WindowRecord, state: State) {
        let account = Account {
            recognised: &self.subject.recognised,
            image: &self.subject.image,
            modules: &self.modules,
            lookup: &self.lookup,
        };
        let closed = account.of(record, state, self.collector.stacks(), &self.throttling);
        self.stamps.add(&record, closed.stamps);
        let recording = &mut self.recording;
        self.collector.window(closed, |pause, seen| {
            if let Some(recording) = recording {
                recording.faults(&seen.faults, seen.stacks);
                recording.pause(pause, seen.stacks, seen.kernel_stacks);
            }
        });
    }

    /// A fault inside a window.
    pub(super) fn fault(&mut self, record: FaultRecord) {
        let record = self.unwinding.fault(record);
        self.collector.fault(&record);
        if let Some(recording) = &mut self.recording
            && self.collector.listed_count() > 0
        {
            let (faults, stacks) = self.collector.listed();
            recording.faults(&faults, stacks);
        }
    }

    /// The copy of a stack; the record of the fault that it is of comes after it.
    pub(super) fn stack_copy(&mut self, head: &StackCopyHead, bytes: &[u8]) {
        let mut unwound = self.unwinding.unwind(head, bytes, &self.modules);
        if let Some(address) = unwound.unmapped {
            // The map has changed since it was read: it is read again, if that is due.
            let now_ns = monotonic_ns();
            let generation = self.collector.space_mut().generation();
            self.collector.space_mut().find(address, (now_ns, now_ns));
            if self.collector.space_mut().generation() != generation {
                self.look_at_modules();
                unwound = self.unwinding.unwind(head, bytes, &self.modules);
            }
        }
        let stack = self.unwinding.name(head, &unwound);
        self.collector.unwound(stack, unwound.frames);
    }

    /// A window that was too short to be sent.
    pub(super) fn short(&mut self, record: &ShortRecord) {
        self.collector.short(record);
    }

    /// Opens the files of executable mappings that are new.
    pub(super) fn look_at_modules(&mut self) {
        let space = self.collector.space_mut();
        if space.generation() != self.generation {
            self.generation = space.generation();
            self.modules.observe(space.mappings());
            if let Some(recording) = &mut self.recording {
                recording.modules(self.modules.all());
            }
        }
    }

    /// Everything from here on is recorded as well.
    pub(super) fn record(&mut self, recorder: &Recorder, kernel_names_missing: Option<&str>) {
        let Subject { target, image, recognised } = &self.subject;
        let line = line::Process {
            process: 0,
            target: target_of(target, image, recognised),
            windows: windows(recognised),
            covered_from_ns: self.opened_ns.saturating_sub(recorder.zero_ns()),
            plan: plan_steps(&self.plan),
            unavailable: unavailable(&self.plan, kernel_names_missing),
        };
        let mut recording = recorder.process(target.pid(), self.plan.schedule_seen, line);
        recording.modules(self.modules.all());
        self.recording = Some(recording);
        self.collector.set_listing(true);
    }

    /// What is to be done a few times a second.
    pub(super) fn look_after(&mut self, ebpf: &mut Ebpf) {
        let pid = self.pid();
        // A target that ends takes its counters along: the last ones seen are kept.
        self.last_counters = read_process_counters(pid).or(self.last_counters);
        self.throttling.read();
        self.workers.tell(ebpf, pid, &self.subject.recognised);
        // Of libraries that were loaded meanwhile.
        if let Some(ranges) = self.unwinding.ranges(&self.modules) {
            let _ = leftovers::set_copy_ranges(ebpf, pid, ranges);
        }
    }

    /// Whether windows begin more often than is allowed.
    pub(super) fn begins_too_often(&mut self, ebpf: &Ebpf) -> bool {
        let Ok(totals) = leftovers::totals(ebpf, self.subject.target.pid()) else { return false };
        let too_often = self.rate.as_mut().and_then(|rate| rate.too_often(totals.windows, Instant::now()));
        self.too_often = self.too_often.or(too_often);
        too_often.is_some()
    }

    /// Places the window's probes or takes them away, when it is time to. The rings have just been emptied.
    pub(super) fn take_turns(&mut self, ebpf: &mut Ebpf) -> Result<(), SessionError> {
        if self.sampling.as_mut().is_some_and(Sampling::rests_anew) {
            self.cut_off(ebpf)?;
        }
        let Some(turn) = self.sampling.as_ref().and_then(|sampling| sampling.due(Instant::now())) else {
            return Ok(());
        };
        let taken = self.take_turn(turn, ebpf);
        if let Some(sampling) = &mut self.sampling {
            match &taken {
                Ok(()) => sampling.done(turn, Instant::now()),
                Err(_) => sampling.missed(Instant::now()),
            }
        }
        taken
    }

    /// A window of which one probe is in place and another is not would have a begin and no end: so they do nothing until all
    /// of them are there.
    fn take_turn(&mut self, turn: Turn, ebpf: &mut Ebpf) -> Result<(), SessionError> {
        let pid = self.pid();
        match turn {
            Turn::Rest => {
                leftovers::set_resting(ebpf, pid, true)?;
                self.probes.take_windows_away();
            }
            Turn::Watch => {
                self.probes.place_windows(ebpf, &self.plan, pid, &self.subject.recognised.files)?;
                leftovers::set_resting(ebpf, pid, false)?;
            }
        }
        Ok(())
    }

    /// Windows that were open when the probes were taken away: their details have been read since.
    fn cut_off(&mut self, ebpf: &mut Ebpf) -> Result<(), SessionError> {
        let pid = self.pid();
        for window in leftovers::open_windows(ebpf, pid)? {
            self.window(window, State::CutOff);
        }
        Ok(leftovers::close_windows(ebpf, pid)?)
    }

    /// Closes the process's gate, between two readings of the kernel's counters. The rings are emptied after this.
    pub(super) fn close(&mut self, ebpf: &mut Ebpf) {
        let pid = self.pid();
        self.counters.before_close = read_counters(pid);
        if self.counters.before_close.process.is_none() {
            self.counters.before_close.process = self.last_counters;
        }
        // It is there unless the table can't be used at all, which shows itself when it is read.
        let _ = leftovers::close_gate(ebpf, pid);
        self.closed_ns = monotonic_ns();
        self.counters.after_close = read_counters(pid);
        if let Some(recording) = &self.recording {
            recording.closed();
        }
        self.modules.look_for_names();
    }

    /// The process's part of the result. What the kernel side's tables hold of it is read and taken out.
    pub(super) fn finish(mut self, kernel: &mut KernelSide, ended: Ended) -> Result<Left, SessionError> {
        let pid = self.pid();
        let ebpf = &mut kernel.attached.ebpf;
        for window in leftovers::open_windows(ebpf, pid)? {
            let state = match ended {
                Ended::TargetExited | Ended::ProgramReplaced => State::TargetExited,
                Ended::Duration | Ended::Interrupted | Ended::TooOften => State::CutOff,
            };
            self.window(window, state);
        }
        let program_replaced =
            ended != Ended::ProgramReplaced && self.subject.target.has_replaced(self.subject.image.file());
        let totals = leftovers::totals(ebpf, pid)?;
        let threads = leftovers::threads(ebpf, pid)?;
        let losses = leftovers::losses(ebpf)?;
        leftovers::forget(ebpf, pid, self.workers.known(), self.collector.stacks().keys());
        let notes = self.notes(kernel.attached.task_registers);
        let surroundings = self.collector.surroundings();
        let (collected, space) = self.collector.finish();
        let outcome = Outcome {
            plan: self.plan,
            collected,
            space,
            modules: self.modules,
            totals,
            threads,
            losses,
            counters: self.counters,
            stamps: self.stamps,
            surroundings,
            zero_ns: self.opened_ns,
            zero_unix_ms: self.opened_unix_ms,
            opened_ns: self.opened_ns,
            closed_ns: self.closed_ns,
            began: self.began,
            too_often: self.too_often,
            sampled: self.sampling.as_ref().map(|sampling| sampling.finish(Instant::now())),
            ended,
            throttling: self.throttling.whole(),
            memory_pressure: self.memory_limits.now(),
            kernel_names_missing: kernel.names_missing.clone(),
            attach_ns: self.attach_ns,
            others_traced: false,
            programs: kernel.program_cost(),
            program_replaced,
            recording: self.recording,
            notes,
        };
        Ok(Left { subject: self.subject, outcome, probes: self.probes })
    }

    fn notes(&self, task_registers: bool) -> Vec<String> {
        let mut notes = self.subject.recognised.notes.clone();
        let left_out = self.workers.left_out;
        if left_out > 0 {
            notes.push(format!(
                "{left_out} worker threads more than can be followed: their faults are among the bystanders', and they \
                 have no budget"
            ));
        }
        notes.extend(self.unwinding.notes(task_registers));
        notes
    }
}

fn watch(subject: &Subject) -> Result<AsyncFd<OwnedFd>, SessionError> {
    let descriptor = subject.target.as_fd().try_clone_to_owned().map_err(SessionError::Wait)?;
    // SAFETY: the descriptor is owned by what is returned, so it stays open as long as it is registered.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
    watched.map_err(|error| SessionError::Wait(error.into()))
}

/// The target's memory: its mappings, and what its runtime's own structures tell of them.
fn address_space(subject: &Subject) -> AddressSpace {
    let Subject { target, image, recognised } = subject;
    let path = target.exe().as_os_str().to_owned();
    let layout = match recognised.kind {
        RuntimeKind::Go => Layout::Go,
        _ if recognised.is_hotspot() => Layout::HotSpot,
        RuntimeKind::Demo | RuntimeKind::Described => Layout::Plain,
    };
    let mut space =
        AddressSpace::of(target.pid(), Program { path: path.clone(), layout, zeroed: Vec::new() });
    let loaded = Loaded::find(image, &path, space.mappings());
    space.set_zeroed(loaded.map(|loaded| loaded.ranges(&image.zeroed())).unwrap_or_default());
    if let Some(runtime) = recognised.memory(target.pid(), image, loaded, space.mappings()) {
        space.set_runtime(runtime);
    }
    space
}
