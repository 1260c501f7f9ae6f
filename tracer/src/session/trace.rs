//! One trace from the first probe to the last record.

use std::{
    io,
    time::{Duration, Instant},
};

use aya::{maps::MapError, sys::Stats};
use thiserror::Error;
use tracer_common::{loss::Loss, pause::state};

use super::{
    account::Account,
    drain::Rings,
    kernel_log::KernelLog,
    leftovers,
    memory_limit::LimitsAtStart,
    options::{Observer, Options, Progress},
    outcome::{CounterReadings, Ended, Outcome, ProgramCost},
    stop::{Stop, let_the_next_interrupt_kill},
    throttling::Watch,
    workers::WorkerList,
};
use crate::{
    clock::{monotonic_ns, unix_ms},
    elf::Image,
    memory::{AddressSpace, Layout, Program},
    pause::{Collector, StampDifferences, State, Surroundings},
    probe::{
        AttachError, Attached, LoadError, Plan, PlanError, Stopped, Tracefs, TracefsError, VerifyError,
        attach, gather, load, plan, verify_sites,
    },
    runtime::{Loaded, Recognised, RuntimeKind},
    symbols::{KernelNamer, Modules},
    target::{Counters, Target, read_counters, read_process_counters},
};

/// The rings are emptied this often; nobody is woken in between.
const DRAIN_INTERVAL: Duration = Duration::from_millis(20);
/// The observer is told this often.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// After the gate has closed, programs that were past it get this long to finish.
const SETTLE: Duration = Duration::from_millis(2);

/// What is traced.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The process.
    pub target: &'a Target,
    /// Its executable.
    pub image: &'a Image,
    /// The runtime in it.
    pub recognised: &'a Recognised,
}

/// The trace could not start.
#[derive(Debug, Error)]
pub enum SessionError {
    /// No tracefs.
    #[error(transparent)]
    Tracefs(#[from] TracefsError),
    /// Something indispensable is missing.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The code in memory is not the file's.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The kernel refused the programs.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The kernel refused a probe.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// A table of the kernel side could not be used.
    #[error("a table of the kernel side can't be used: {0}; `pauselens check` tests each need by itself")]
    Map(#[from] MapError),
    /// Signals or timers.
    #[error("waiting for signals failed: {0}")]
    Wait(io::Error),
    /// The target ended before the probes were in place.
    #[error("process {0} ended while the probes were being put in place; nothing was recorded")]
    EndedEarly(u32),
}

/// Traces the subject until something ends the trace. Probes are gone when the outcome has been dropped.
///
/// # Errors
/// Only before anything was recorded: see [`SessionError`].
pub async fn trace(
    subject: Subject<'_>,
    options: &Options,
    started: Instant,
    observer: &mut dyn Observer,
) -> Result<Outcome, SessionError> {
    let pid = subject.target.pid();
    let mut facts = gather(&Tracefs::open()?);
    facts.tracepoints.retain(|event, _| !options.without.contains(event));
    let stamped = subject.recognised.carries_stopped() && !options.cross_check;
    let stopped = if stamped { Stopped::Stamp } else { Stopped::Probe };
    let plan = plan(&facts, &subject.recognised.sites, stopped)?;
    let space = address_space(subject);
    verify_sites(subject.target, subject.image, &subject.recognised.sites, space.mappings())?;
    let mut stop = Stop::new(subject.target).map_err(SessionError::Wait)?;
    let loaded = load(&plan, options.sizes, &facts.kernel_release)?;
    let mut attached = match attach(loaded, &plan, pid, subject.image.file()) {
        Ok(attached) => attached,
        Err(_) if !subject.target.is_alive() => return Err(SessionError::EndedEarly(pid)),
        Err(error) => return Err(error.into()),
    };
    let mut running = Running::start(subject, &plan, options, &mut attached, space)?;
    running.attach_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    observer.attached(attached.threads);

    stop.after(options.duration);
    let ended = running.run(&mut attached, &mut stop, observer).await;
    running.finish(attached, plan, ended)
}

/// The target's memory: its mappings, and what its runtime's own structures tell of them.
fn address_space(subject: Subject<'_>) -> AddressSpace {
    let Subject { target, image, recognised } = subject;
    let path = target.exe().as_os_str().to_owned();
    let layout = if recognised.kind == RuntimeKind::Go { Layout::Go } else { Layout::Plain };
    let mut space =
        AddressSpace::of(target.pid(), Program { path: path.clone(), layout, zeroed: Vec::new() });
    let loaded = Loaded::find(image, &path, space.mappings());
    space.set_zeroed(loaded.map(|loaded| loaded.ranges(&image.zeroed())).unwrap_or_default());
    if let Some(runtime) = recognised.memory(target.pid(), image, loaded) {
        space.set_runtime(runtime);
    }
    space
}

/// A trace whose gate is open.
struct Running<'a> {
    subject: Subject<'a>,
    rings: Rings,
    kernel_log: KernelLog,
    kernel_names: Option<KernelNamer>,
    kernel_names_missing: Option<String>,
    throttling: Watch,
    memory_limits: LimitsAtStart,
    workers: WorkerList,
    collector: Collector,
    modules: Modules,
    generation: u64,
    stamps: StampDifferences,
    counters: CounterReadings,
    last_counters: Option<Counters>,
    opened_ns: u64,
    opened_unix_ms: u64,
    attach_ns: u64,
    program_stats: Option<std::os::fd::OwnedFd>,
}

impl<'a> Running<'a> {
    fn start(
        subject: Subject<'a>,
        plan: &Plan,
        options: &Options,
        attached: &mut Attached,
        space: AddressSpace,
    ) -> Result<Self, SessionError> {
        let pid = subject.target.pid();
        let surroundings = Surroundings {
            numa_balancing: plan.numa_balancing,
            userfaultfd: false,
            schedule_seen: plan.schedule_seen,
            devices_seen: plan.devices_seen,
        };
        let (kernel_names, kernel_names_missing) = match KernelNamer::new() {
            Ok(namer) => (Some(namer), None),
            Err(reason) => (None, Some(reason)),
        };
        let mut modules = Modules::new(pid);
        modules.observe(space.mappings());
        let rings = Rings::take(&mut attached.ebpf)?;
        let kernel_log = KernelLog::open(&mut attached.ebpf, options.sizes.log_level);
        let program_stats =
            if options.measure_programs { aya::sys::enable_stats(Stats::RunTime).ok() } else { None };
        let mut counters = CounterReadings { before_open: read_counters(pid), ..CounterReadings::default() };
        let throttling = Watch::new(pid);
        let memory_limits = LimitsAtStart::of(pid);
        let mut workers = WorkerList::new();
        if let Some(list) = workers.look(pid, subject.recognised) {
            leftovers::set_workers(&mut attached.ebpf, pid, list)?;
        }
        leftovers::open_gate(&mut attached.ebpf, pid)?;
        let (opened_ns, opened_unix_ms) = (monotonic_ns(), unix_ms());
        counters.after_open = read_counters(pid);
        Ok(Self {
            subject,
            rings,
            kernel_log,
            kernel_names,
            kernel_names_missing,
            throttling,
            memory_limits,
            workers,
            generation: space.generation(),
            collector: Collector::new(options.keep, surroundings, space),
            modules,
            stamps: StampDifferences::default(),
            counters,
            last_counters: None,
            opened_ns,
            opened_unix_ms,
            attach_ns: 0,
            program_stats,
        })
    }

    async fn run(&mut self, attached: &mut Attached, stop: &mut Stop, observer: &mut dyn Observer) -> Ended {
        let mut drain = tokio::time::interval(DRAIN_INTERVAL);
        drain.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let mut told = Instant::now();
        loop {
            tokio::select! {
                ended = stop.wait() => return ended,
                _ = drain.tick() => {
                    self.drain();
                    if told.elapsed() >= PROGRESS_INTERVAL {
                        told = Instant::now();
                        // A target that ends takes its counters along: the last ones seen are kept.
                        let counters = read_process_counters(self.subject.target.pid());
                        self.last_counters = counters.or(self.last_counters);
                        self.look_for_workers(attached);
                        observer.progress(&self.progress(attached));
                    }
                }
            }
        }
    }

    fn drain(&mut self) {
        self.kernel_log.flush();
        let account = account(self.subject, &self.modules);
        self.rings.drain(
            &mut self.collector,
            &account,
            &mut self.stamps,
            &mut self.kernel_names,
            &mut self.throttling,
        );
        let space = self.collector.space_mut();
        if space.generation() != self.generation {
            self.generation = space.generation();
            self.modules.observe(space.mappings());
        }
    }

    /// What can't be said to the kernel side now is tried again the next time.
    fn look_for_workers(&mut self, attached: &mut Attached) {
        let pid = self.subject.target.pid();
        if let Some(list) = self.workers.look(pid, self.subject.recognised) {
            let _ = leftovers::set_workers(&mut attached.ebpf, pid, list);
        }
    }

    fn progress(&self, attached: &Attached) -> Progress {
        let so_far = self.collector.so_far();
        Progress {
            pauses: so_far.complete(),
            worst_ns: so_far.worst_ns,
            paused_ns: so_far.paused_ns,
            explained_ns: so_far.explained_ns,
            dropped: leftovers::losses(&attached.ebpf).map_or(0, |losses| losses.dropped()),
        }
    }

    fn finish(mut self, mut attached: Attached, plan: Plan, ended: Ended) -> Result<Outcome, SessionError> {
        if ended == Ended::Interrupted {
            let_the_next_interrupt_kill();
        }
        let pid = self.subject.target.pid();
        self.counters.before_close = read_counters(pid);
        if self.counters.before_close.process.is_none() {
            self.counters.before_close.process = self.last_counters;
        }
        leftovers::close_gate(&mut attached.ebpf, pid)?;
        let closed_ns = monotonic_ns();
        self.counters.after_close = read_counters(pid);
        std::thread::sleep(SETTLE);
        self.drain();
        let window = leftovers::window(&attached.ebpf, pid)?;
        if window.state != state::CLOSED {
            let state = if ended == Ended::TargetExited { State::TargetExited } else { State::CutOff };
            let closed = account(self.subject, &self.modules).of(
                window,
                state,
                self.collector.stacks(),
                &self.throttling,
            );
            self.collector.window(closed);
        }
        let program_replaced = self.subject.target.has_replaced(self.subject.image.file());
        let totals = leftovers::totals(&attached.ebpf, pid)?;
        let threads = leftovers::threads(&attached.ebpf)?;
        let losses = leftovers::losses(&attached.ebpf)?;
        let programs = self.program_stats.as_ref().map(|_| program_cost(&attached));
        let (_, detaching) = attached.detach();
        let mut notes = self.subject.recognised.notes.clone();
        if losses.of(Loss::FaultBeginMissing) > 0 {
            notes.push(format!(
                "{} faults were in progress when the trace began; they are counted but have no length",
                losses.of(Loss::FaultBeginMissing)
            ));
        }
        let left_out = self.workers.left_out;
        if left_out > 0 {
            notes.push(format!(
                "{left_out} worker threads more than can be followed: their faults are among the bystanders', and they \
                 have no budget"
            ));
        }
        let surroundings = self.collector.surroundings();
        let (collected, space) = self.collector.finish();
        Ok(Outcome {
            plan,
            collected,
            space,
            modules: self.modules,
            totals,
            threads,
            losses,
            counters: self.counters,
            stamps: self.stamps,
            surroundings,
            opened_ns: self.opened_ns,
            opened_unix_ms: self.opened_unix_ms,
            closed_ns,
            ended,
            throttling: self.throttling.whole(),
            memory_pressure: self.memory_limits.now(),
            kernel_names_missing: self.kernel_names_missing,
            attach_ns: self.attach_ns,
            programs,
            program_replaced,
            notes,
            detaching: Some(detaching),
        })
    }
}

fn account<'a>(subject: Subject<'a>, modules: &'a Modules) -> Account<'a> {
    Account { recognised: subject.recognised, image: subject.image, modules }
}

/// What the kernel-side programs have cost since their statistics were switched on.
fn program_cost(attached: &Attached) -> ProgramCost {
    let mut cost = ProgramCost::default();
    for (_, program) in attached.ebpf.programs() {
        if let Ok(info) = program.info() {
            cost.run_ns += u64::try_from(info.run_time().as_nanos()).unwrap_or(u64::MAX);
            cost.runs += info.run_count();
        }
    }
    cost
}
