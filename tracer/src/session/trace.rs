//! One trace from the first probe to the last record: which processes are in it, and what happens when.

use std::{
    collections::BTreeMap,
    future::{pending, poll_fn},
    task::Poll,
    time::{Duration, Instant},
};

use tracer_common::{
    lineage::{LineageRecord, clone, what},
    loss::Loss,
};

use super::{
    candidates::Candidates,
    children::children_of,
    error::SessionError,
    kernel_side::KernelSide,
    leftovers,
    matching::Matching,
    news::News,
    options::{Observer, Options, Progress},
    outcome::{Began, Ended, Outcome, Traced},
    process::{FileKeys, Kept, Left, Process},
    scope::Scope,
    stop::{Stop, let_the_next_interrupt_kill},
    subject::Subject,
};
use crate::{
    clock::{monotonic_ns, unix_ms},
    message::message,
    probe::ProcessProbes,
    recording::Recorder,
    target::Target,
};

/// The rings are emptied this often; nobody is woken in between.
const DRAIN_INTERVAL: Duration = Duration::from_millis(20);
/// The observer is told this often.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// After a gate has closed, programs that were past it get this long to finish.
const SETTLE: Duration = Duration::from_millis(2);
/// As many processes have room in the kernel side's tables.
const MOST: usize = 1024;

/// Traces until something ends the trace, and gives what comes to `recorder`. Probes are gone when the outcome has been dropped.
///
/// # Errors
/// Only before anything was recorded: see [`SessionError`].
pub async fn trace(
    scope: Scope,
    options: &Options,
    started: Instant,
    observer: &mut dyn Observer,
    recorder: Option<&Recorder>,
) -> Result<Traced, SessionError> {
    let mut stop = Stop::new().map_err(SessionError::Wait)?;
    let mut session = Session::start(scope, options, started)?;
    session.recorder = recorder;
    session.let_in(observer)?;
    observer.attached(session.processes.values().map(Process::threads).sum());
    stop.after(options.duration);
    let ended = session.run(&mut stop, observer).await?;
    if ended == Ended::Interrupted {
        let_the_next_interrupt_kill();
    }
    Ok(session.finish(ended))
}

/// A trace that runs.
struct Session<'a> {
    options: &'a Options,
    started: Instant,
    kernel: KernelSide,
    news: News,
    matching: Option<Matching>,
    follow_forks: bool,
    subjects: Vec<Subject>,
    wait_until: Option<Instant>,
    processes: BTreeMap<u32, Process>,
    candidates: Candidates,
    /// The probes of programs that were replaced a moment ago.
    kept: BTreeMap<u32, Kept>,
    /// How the processes that are waited for began.
    began: BTreeMap<u32, Began>,
    done: Vec<(Subject, Outcome)>,
    incomplete: Vec<String>,
    ended_unseen: u64,
    ended_unknown: u64,
    news_lost: u64,
    opened_ns: u64,
    opened_unix_ms: u64,
    recorder: Option<&'a Recorder>,
    /// All that were there are let in: the trace has begun.
    began_all: bool,
}

impl<'a> Session<'a> {
    /// Loads and attaches the host's part.
    fn start(scope: Scope, options: &'a Options, started: Instant) -> Result<Self, SessionError> {
        let tell = scope.tell();
        let later = tell.is_some() || !scope.awaited.is_empty();
        let mut kernel = KernelSide::start(options, tell, later)?;
        let news = News::take(&mut kernel.attached.ebpf, tell.is_some())?;
        let mut candidates = Candidates::new(scope.chosen);
        for (target, why) in scope.awaited {
            if scope.follow_forks {
                leftovers::follow(&mut kernel.attached.ebpf, target.pid())?;
            }
            candidates.add(target, why);
        }
        Ok(Self {
            options,
            started,
            kernel,
            news,
            matching: scope.matching,
            follow_forks: scope.follow_forks,
            subjects: scope.subjects,
            wait_until: scope.wait.and_then(|wait| Instant::now().checked_add(wait)),
            processes: BTreeMap::new(),
            candidates,
            kept: BTreeMap::new(),
            began: BTreeMap::new(),
            done: Vec::new(),
            incomplete: Vec::new(),
            ended_unseen: 0,
            ended_unknown: 0,
            news_lost: 0,
            opened_ns: monotonic_ns(),
            opened_unix_ms: unix_ms(),
            recorder: None,
            began_all: false,
        })
    }

    /// Lets those in that are there. Whoever comes from here on is told of by the kernel side.
    fn let_in(&mut self, observer: &mut dyn Observer) -> Result<(), SessionError> {
        for subject in std::mem::take(&mut self.subjects) {
            let pid = subject.target.pid();
            let process =
                Process::begin(subject, Began::Before, None, &mut self.kernel, self.options, self.started)?;
            self.processes.insert(pid, process);
        }
        self.scan(true, observer);
        // With one process the trace begins where that one's does.
        if let [process] = &self.processes.values().collect::<Vec<_>>()[..] {
            (self.opened_ns, self.opened_unix_ms) = process.opened();
        } else {
            (self.opened_ns, self.opened_unix_ms) = (monotonic_ns(), unix_ms());
        }
        self.began_all = true;
        if let Some(recorder) = self.recorder {
            recorder.start(self.opened_ns, self.opened_unix_ms);
            for process in self.processes.values_mut() {
                process.record(recorder, self.kernel.names_missing.as_deref());
            }
        }
        Ok(())
    }

    async fn run(&mut self, stop: &mut Stop, observer: &mut dyn Observer) -> Result<Ended, SessionError> {
        let mut drain = tokio::time::interval(DRAIN_INTERVAL);
        drain.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let mut told = Instant::now();
        loop {
            tokio::select! {
                biased;
                ended = stop.wait() => return Ok(ended),
                news = self.news.wait() => self.hear(news.map_err(SessionError::Wait)?, observer),
                pid = first_ended(&self.processes) => self.process_ended(pid, observer),
                _ = drain.tick() => {
                    self.kernel.drain(&mut self.processes);
                    for process in self.processes.values_mut() {
                        // What has been collected is kept: a process that is ending can't be probed again.
                        if let Err(error) = process.take_turns(&mut self.kernel.attached.ebpf) {
                            let missing = message(&error);
                            if !self.incomplete.contains(&missing) {
                                self.incomplete.push(missing);
                            }
                        }
                    }
                    for subject in self.candidates.look_again() {
                        self.begin(subject, Began::FoundAt(monotonic_ns()), observer);
                    }
                    if told.elapsed() >= PROGRESS_INTERVAL {
                        told = Instant::now();
                        self.look_after(observer);
                        let ebpf = &self.kernel.attached.ebpf;
                        if self.processes.values_mut().any(|process| process.begins_too_often(ebpf)) {
                            return Ok(Ended::TooOften);
                        }
                    }
                }
            }
            if self.is_over() {
                return Ok(Ended::TargetExited);
            }
        }
    }

    /// Whether nothing can happen any more.
    fn is_over(&self) -> bool {
        let waiting =
            self.candidates.are_waiting() && self.wait_until.is_none_or(|until| Instant::now() < until);
        self.processes.is_empty() && !waiting && self.matching.is_none()
    }

    fn look_after(&mut self, observer: &mut dyn Observer) {
        for process in self.processes.values_mut() {
            process.look_after(&mut self.kernel.attached.ebpf);
        }
        let losses = self.kernel.losses();
        if let Some(recorder) = self.recorder {
            recorder.look_after(&losses, monotonic_ns());
        }
        let news_lost = losses.of(Loss::LineageRingFull);
        let joined = self.matching.as_ref().is_some_and(Matching::can_be_joined);
        if news_lost > self.news_lost || joined {
            self.news_lost = news_lost;
            self.scan(false, observer);
        }
        let mut progress = Progress { dropped: losses.dropped(), ..Progress::default() };
        let running = self.processes.values().map(|process| process.collector.so_far());
        for so_far in running.chain(self.done.iter().map(|(_, outcome)| &outcome.collected)) {
            progress.pauses += so_far.complete();
            progress.worst_ns = progress.worst_ns.max(so_far.worst_ns);
            progress.paused_ns += so_far.paused_ns;
            progress.explained_ns += so_far.explained_ns;
        }
        observer.progress(&progress);
    }

    // ---- processes that come

    /// Looks at all processes that there are.
    fn scan(&mut self, first: bool, observer: &mut dyn Observer) {
        let Some(matching) = self.matching.clone() else { return };
        self.candidates.forget_ended();
        for pid in matching.processes() {
            if pid != std::process::id() && !self.is_known(pid) && matching.includes(pid) {
                let began = if first { Began::Before } else { Began::FoundAt(monotonic_ns()) };
                self.look(pid, began, observer);
            }
        }
    }

    fn is_known(&self, pid: u32) -> bool {
        self.processes.contains_key(&pid)
            || self.candidates.is_waiting(pid)
            || self.candidates.has_given_up(pid)
    }

    fn hear(&mut self, news: Vec<LineageRecord>, observer: &mut dyn Observer) {
        for record in news {
            match record.what {
                what::FORK => self.made(&record, observer),
                what::EXEC => self.replaced(&record, observer),
                _ => {}
            }
        }
    }

    /// A process was made by one that is traced, or followed.
    fn made(&mut self, record: &LineageRecord, observer: &mut dyn Observer) {
        // Until it runs another program it does nothing, and shares its parent's memory.
        if record.clone_flags & clone::VFORK != 0 {
            return;
        }
        let children = match record.child {
            0 => children_of(record.tgid),
            child => vec![child],
        };
        for child in children {
            if record.child != 0 {
                self.candidates.forget(child);
            }
            if !self.is_known(child) && self.wants(child) {
                self.look(child, Began::At(record.at_ns), observer);
            }
        }
    }

    /// A process runs another program from now on.
    fn replaced(&mut self, record: &LineageRecord, observer: &mut dyn Observer) {
        let pid = record.tgid;
        if let Some(process) = self.processes.get(&pid) {
            // The id can be another process's by now.
            let ended = process.subject.target.has_ended();
            let why = if ended { Ended::TargetExited } else { Ended::ProgramReplaced };
            match self.finish_one(pid, why) {
                Some((_, probes)) if ended => probes.forget_ended(),
                Some((files, probes)) => {
                    // Where a share of the time is watched they may not be in place.
                    let usable = record.by_first_thread != 0 && self.options.sample.is_none();
                    self.kept.insert(pid, Kept { files, probes, usable });
                }
                None => {}
            }
        }
        self.candidates.forget(pid);
        if self.wants(pid) {
            self.look(pid, Began::At(record.at_ns), observer);
        } else if self.matching.is_some() && !Target::exists(pid) {
            self.ended_unknown += 1;
        }
        if !self.candidates.is_waiting(pid)
            && let Some(kept) = self.kept.remove(&pid)
        {
            kept.forget();
        }
    }

    /// Whether a process of which there is news is to be traced. Without a condition there is news of descendants only.
    fn wants(&self, pid: u32) -> bool {
        pid != std::process::id()
            && match &self.matching {
                Some(matching) => matching.includes(pid) || (self.follow_forks && self.descends(pid)),
                None => true,
            }
    }

    /// Whether the kernel side follows the process as a descendant.
    fn descends(&self, pid: u32) -> bool {
        leftovers::is_followed(&self.kernel.attached.ebpf, pid)
    }

    fn look(&mut self, pid: u32, began: Began, observer: &mut dyn Observer) {
        self.began.insert(pid, began);
        if self.follow_forks {
            let _ = leftovers::follow(&mut self.kernel.attached.ebpf, pid);
        }
        match self.candidates.look(pid) {
            Some(subject) => self.begin(subject, began, observer),
            None if !self.candidates.is_waiting(pid) && began != Began::Before => self.ended_unseen += 1,
            None => {}
        }
    }

    /// Traces one more process. If that can't be done it is listed with the reason.
    fn begin(&mut self, subject: Subject, began: Began, observer: &mut dyn Observer) {
        let pid = subject.target.pid();
        let exe = subject.target.exe().to_owned();
        // A program that began while the trace runs is from then on uncovered, not from when its runtime was found.
        let began = match (began, self.began.remove(&pid)) {
            (Began::FoundAt(_), Some(Began::At(at_ns))) => Began::At(at_ns),
            (began, _) => began,
        };
        let described = subject.describe();
        let process = if self.processes.len() < MOST {
            let kept = self.kept.remove(&pid);
            let started = if began == Began::Before { self.started } else { Instant::now() };
            Process::begin(subject, began, kept, &mut self.kernel, self.options, started)
        } else {
            Err(SessionError::TooMany(MOST))
        };
        match process {
            Ok(mut process) => {
                // Those that were there are recorded when the trace's start is known.
                if let Some(recorder) = self.recorder.filter(|_| self.began_all) {
                    process.record(recorder, self.kernel.names_missing.as_deref());
                }
                if began != Began::Before {
                    observer.joined(&described);
                }
                self.processes.insert(pid, process);
            }
            Err(error) => {
                if matches!(error, SessionError::EndedEarly(_)) {
                    self.ended_unseen += 1;
                }
                self.candidates.give_up(pid, Some(exe), message(&error));
            }
        }
    }

    // ---- processes that end

    /// A process has ended.
    fn process_ended(&mut self, pid: u32, observer: &mut dyn Observer) {
        // The children that it made last are heard of before it is forgotten.
        let news = self.news.read();
        self.hear(news, observer);
        // With the news another process of the same id can have come in its place.
        if self.processes.get(&pid).is_some_and(|process| process.subject.target.has_ended()) {
            let probes = self.finish_one(pid, Ended::TargetExited);
            probes.into_iter().for_each(|(_, probes)| probes.forget_ended());
        }
    }

    /// A process has ended, or its program has: its part of the result is finished, the others go on. Gives back its
    /// probes, and the files that they are in.
    fn finish_one(&mut self, pid: u32, ended: Ended) -> Option<(FileKeys, ProcessProbes)> {
        self.processes.get_mut(&pid)?.close(&mut self.kernel.attached.ebpf);
        std::thread::sleep(SETTLE);
        self.kernel.drain(&mut self.processes);
        let left = match self.processes.remove(&pid)?.finish(&mut self.kernel, ended) {
            Ok(left) => left,
            Err(error) => {
                self.unread(pid, &error);
                return None;
            }
        };
        let Left { subject, outcome, probes } = left;
        let files = FileKeys::of(&subject);
        // A child that only begins another program never had a pause of its own.
        let nothing = outcome.totals.windows == 0 && outcome.collected.by_state.is_empty();
        if !(ended == Ended::ProgramReplaced && nothing && outcome.began != Began::Before) {
            self.done.push((subject, outcome));
        }
        Some((files, probes))
    }

    /// What the kernel side held of a process can't be read: the others are none the worse for it.
    fn unread(&mut self, pid: u32, error: &SessionError) {
        self.incomplete.push(format!("process {pid}: {}", message(error)));
    }

    fn finish(mut self, ended: Ended) -> Traced {
        for process in self.processes.values_mut() {
            process.close(&mut self.kernel.attached.ebpf);
        }
        let closed_ns = monotonic_ns();
        std::thread::sleep(SETTLE);
        self.kernel.drain(&mut self.processes);
        let mut probes: Vec<ProcessProbes> = Vec::new();
        for (pid, process) in std::mem::take(&mut self.processes) {
            match process.finish(&mut self.kernel, ended) {
                Ok(left) => {
                    self.done.push((left.subject, left.outcome));
                    probes.push(left.probes);
                }
                Err(error) => self.unread(pid, &error),
            }
        }
        let others_traced = self.done.len() > 1;
        for (_, outcome) in &mut self.done {
            outcome.others_traced = others_traced;
            outcome.zero_ns = self.opened_ns;
            outcome.zero_unix_ms = self.opened_unix_ms;
        }
        let losses = self.kernel.losses();
        if self.ended_unseen > 0 {
            self.incomplete.push(format!(
                "{} processes ended before their probes were in place: pauses in them were not seen",
                self.ended_unseen
            ));
        }
        let news_lost = losses.of(Loss::LineageRingFull);
        if news_lost > 0 {
            self.incomplete.push(format!(
                "news of {news_lost} processes that were made, or began a program, was lost: some may not have been traced"
            ));
        }
        let mut notes = Vec::new();
        let begun_before = losses.of(Loss::FaultBeginMissing);
        if begun_before > 0 {
            let note = format!(
                "{begun_before} faults were in progress when the trace began; they are counted but have no length"
            );
            match &mut self.done[..] {
                [(_, only)] => only.notes.push(note),
                _ => notes.push(note),
            }
        }
        if self.ended_unknown > 0 {
            notes.push(format!(
                "{} processes on this host ended so soon after they had begun that it was not seen whether they were \
                 among those asked for",
                self.ended_unknown
            ));
        }
        let (unrecognised, unrecognised_more) = self.candidates.finish();
        Traced {
            processes: self.done,
            unrecognised,
            unrecognised_more,
            incomplete: self.incomplete,
            notes,
            started_unix_ms: self.opened_unix_ms,
            duration_ns: closed_ns.saturating_sub(self.opened_ns),
            ended,
            losses,
            detaching: Some(self.kernel.attached.detach(probes)),
        }
    }
}

/// The first of the processes that has ended.
async fn first_ended(processes: &BTreeMap<u32, Process>) -> u32 {
    if processes.is_empty() {
        return pending().await;
    }
    poll_fn(|context| {
        let ended = processes.iter().find(|(_, process)| process.poll_ended(context).is_ready());
        ended.map_or(Poll::Pending, |(pid, _)| Poll::Ready(*pid))
    })
    .await
}
