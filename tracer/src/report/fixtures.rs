//! Reports for tests: the story that pauselens was made for, its opposites, and random ones.

use std::collections::BTreeMap;

use super::diagnosis::diagnose;
use super::model::*;

/// A trace of a Go program in which nothing has happened yet.
pub(crate) fn empty() -> Report {
    Report {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "pauselens".to_owned(), version: "0.1.0".to_owned() },
        target: Target {
            pid: 4242,
            exe: "/srv/api/bin/api".to_owned(),
            build_id: Some("5f3a9c".to_owned()),
            runtime: Runtime { name: "go".to_owned(), version: "1.26.1".to_owned() },
        },
        trace: Trace {
            started_unix_ms: 1_767_225_600_000,
            clock: "CLOCK_MONOTONIC".to_owned(),
            duration_ns: 60_000_000_000,
            ended: Ended::Duration,
            exit: None,
            plan: vec![PlanStep {
                need: "fault begin".to_owned(),
                source: "tracepoint exceptions:page_fault_user".to_owned(),
                why: "x86-64".to_owned(),
                used: true,
            }],
            dropped: [("ring_full".to_owned(), 0), ("stack_map_collision".to_owned(), 0)].into(),
            fault_details: Part::default(),
            complete: true,
            incomplete: Vec::new(),
            notes: Vec::new(),
            unavailable: Vec::new(),
            reconciliation: Reconciliation::default(),
            threads: Vec::new(),
            runtime_stamps: None,
            overhead: Overhead { attach_ns: 212_000_000, ..Overhead::default() },
        },
        summary: Summary { quantiles_exact: true, ..Summary::default() },
        pauses: Vec::new(),
        diagnosis: Vec::new(),
    }
}

/// A complete pause: the phases of a stop that took `duration_ns`, without faults.
pub(crate) fn pause(id: u64, reason: &str, requested_ns: i64, duration_ns: u64) -> Pause {
    let end = requested_ns + i64::try_from(duration_ns).unwrap();
    Pause {
        id,
        reason: reason.to_owned(),
        is_gc: Some(reason.starts_with("GC")),
        state: State::Complete,
        requested_ns: Some(requested_ns),
        stopped_ns: Some(requested_ns + 12_000),
        restarting_ns: Some(end - 9_000),
        resumed_ns: Some(end),
        runtime_requested_ns: None,
        runtime_stopped_ns: None,
        duration_ns: Some(duration_ns),
        stopping_ns: Some(12_000),
        driver_tid: 4250,
        requested_by: None,
        resumed_by_tid: None,
        faults: 0,
        major: 0,
        minor: 0,
        in_faults_ns: 0,
        explained_by_faults_ns: 0,
        reclaim_ns: 0,
        tracing_ns: 0,
        by_kind: ByKind::new(),
        by_region: ByRegion::new(),
        places: Vec::new(),
        budget: None,
        workers: Vec::new(),
        blocked: Vec::new(),
        cpu_waits: None,
        throttling: None,
        reads: Vec::new(),
        fault_details: Part::default(),
        longest_fault: None,
        stacks: Vec::new(),
        stopping: None,
        stopping_faults: Vec::new(),
        bystanders: Bystanders::default(),
    }
}

/// Gives a pause faults of one kind; its stack is a path through the collector.
pub(crate) fn add_faults(pause: &mut Pause, kind: Kind, count: u64, ns: u64, inferred: u64) {
    let total = KindTotal { count, ns, inferred };
    pause.by_kind.insert(kind, total);
    pause.faults += count;
    pause.minor += count;
    pause.in_faults_ns += ns;
    pause.explained_by_faults_ns += ns;
    pause.fault_details.of += count;
    pause.fault_details.have += count;
    let frames =
        ["runtime.(*spanSet).push", "runtime.gcStart.func2", "runtime.systemstack", "runtime.gcStart"];
    pause.stacks.push(Stack {
        frames: frames.map(str::to_owned).to_vec(),
        faults: count,
        ns,
        by_kind: [(kind, total)].into(),
        kernel: Vec::new(),
    });
}

/// Makes the summary and the trace's numbers agree with the pauses, all of which are in the report.
pub(crate) fn sum_up(report: &mut Report) {
    let summary = &mut report.summary;
    for pause in &report.pauses {
        *summary.by_state.entry(pause.state).or_default() += 1;
        let Some(duration_ns) = pause.duration_ns else { continue };
        summary.pauses += 1;
        summary.collections += u64::from(pause.is_gc == Some(true));
        summary.other_stops += u64::from(pause.is_gc == Some(false));
        *summary.by_reason.entry(pause.reason.clone()).or_default() += 1;
        summary.worst_ns = summary.worst_ns.max(Some(duration_ns));
        summary.paused_ns += duration_ns;
        summary.in_faults_ns += pause.in_faults_ns;
        summary.explained_by_faults_ns += pause.explained_by_faults_ns;
        summary.faults += pause.faults;
        summary.major += pause.major;
        summary.minor += pause.minor;
        summary.reclaim_ns += pause.reclaim_ns;
        summary.stopping_ns =
            summary.stopping_ns.zip(pause.stopping_ns).map(|(a, b)| a + b).or(pause.stopping_ns);
        for (&kind, total) in &pause.by_kind {
            let sum = summary.by_kind.entry(kind).or_default();
            sum.count += total.count;
            sum.ns += total.ns;
            sum.inferred += total.inferred;
        }
        report.trace.fault_details.of += pause.fault_details.of;
        report.trace.fault_details.have += pause.fault_details.have;
    }
    summary.median_ns = summary.worst_ns;
    summary.p90_ns = summary.worst_ns;
    summary.p99_ns = summary.worst_ns;
    report.diagnosis = diagnose(report);
}

/// The story: a median of 51 µs, a worst pause of 39,902 µs, and in it 228 faults that took 39,013 µs.
pub(crate) fn story() -> Report {
    let mut report = empty();

    let mut worst = pause(812, "GC sweep termination", 12_345_678_000, 39_902_000);
    add_faults(&mut worst, Kind::SwapIn, 228, 39_013_000, 0);
    (worst.major, worst.minor) = (228, 0);
    worst.longest_fault = Some(LongestFault {
        kind: Kind::SwapIn,
        ns: 2_310_000,
        address: "0x7f3a5c021000".to_owned(),
        mapping: Some("[anon: Go: GC metadata]".to_owned()),
    });
    worst.stacks[0].faults = 217;
    worst.stacks[0].ns = 37_120_000;
    worst.stacks[0].by_kind = [(Kind::SwapIn, KindTotal { count: 217, ns: 37_120_000, inferred: 0 })].into();
    worst.stacks.push(Stack {
        frames: [
            "runtime.(*mspan).nextFreeIndex",
            "runtime.(*mcache).prepareForSweep",
            "runtime.(*gcControllerState).startCycle",
            "main.(*G[go.shape.struct { A int; B <-chan int }]).Touch",
            "main.handle",
            "net/http.(*conn).serve",
            "runtime.goexit",
        ]
        .map(str::to_owned)
        .to_vec(),
        faults: 11,
        ns: 1_893_000,
        by_kind: [(Kind::SwapIn, KindTotal { count: 11, ns: 1_893_000, inferred: 0 })].into(),
        kernel: Vec::new(),
    });
    worst.bystanders = Bystanders {
        faults: 3,
        major: 2,
        minor: 1,
        sum_ns: 41_200_000,
        by_kind: [
            (Kind::SwapIn, KindTotal { count: 2, ns: 41_190_000, inferred: 0 }),
            (Kind::FirstTouch, KindTotal { count: 1, ns: 10_000, inferred: 0 }),
        ]
        .into(),
    };

    let mut second = pause(640, "GC mark termination", 9_870_000_000, 412_000);
    add_faults(&mut second, Kind::FileMap, 9, 71_000, 9);
    second.explained_by_faults_ns += 8_000;
    second.stopping_faults.push(StoppingFault {
        tid: 4251,
        kind: Kind::FileMap,
        before_request_ns: 3_000,
        full_ns: 11_000,
        in_stopping_ns: 8_000,
        frames: vec!["main.handle".to_owned(), "net/http.(*conn).serve".to_owned()],
    });

    report.pauses = vec![worst, second, pause(31, "read mem stats", 1_002_000_000, 96_000)];
    sum_up(&mut report);

    let summary = &mut report.summary;
    summary.pauses = 1_204;
    summary.collections = 1_180;
    summary.other_stops = 24;
    summary.by_reason = [("GC mark termination", 590), ("GC sweep termination", 590), ("read mem stats", 24)]
        .map(|(reason, n)| (reason.to_owned(), n))
        .into();
    summary.by_state = [(State::Complete, 1_204)].into();
    summary.median_ns = Some(51_000);
    summary.p90_ns = Some(63_000);
    summary.p99_ns = Some(88_000);
    summary.paused_ns = 101_900_000;
    summary.stopping_ns = Some(9_400_000);
    report.trace.reconciliation = Reconciliation {
        minor: 5_310,
        major: 251,
        kernel_minor_least: Some(5_298),
        kernel_minor_most: Some(5_322),
        kernel_major_least: Some(251),
        kernel_major_most: Some(251),
        left_over: Some(0),
    };
    report.trace.threads = vec![ThreadReconciliation {
        tid: 4250,
        name: Some("api".to_owned()),
        drove: 1_204,
        counts: Reconciliation {
            minor: 300,
            major: 228,
            kernel_minor_least: Some(300),
            kernel_minor_most: Some(300),
            kernel_major_least: Some(228),
            kernel_major_most: Some(228),
            left_over: Some(0),
        },
    }];
    report.trace.runtime_stamps = Some(StampCheck {
        pauses: 1_204,
        requested_worst_ns: Some(21_000),
        requested_median_ns: Some(1_900),
        stopped_worst_ns: Some(9_400),
        stopped_median_ns: Some(800),
    });
    report.trace.overhead = Overhead {
        programs_ns: Some(4_100_000),
        program_runs: Some(13_700),
        tracer_cpu_ns: Some(180_000_000),
        tracer_peak_bytes: Some(25_165_824),
        attach_ns: 212_000_000,
    };
    report.diagnosis = diagnose(&report);
    report
}

/// A minute in which the collector did not run.
pub(crate) fn no_pauses() -> Report {
    empty()
}

/// Only pauses that were not seen whole, and a target that was killed.
pub(crate) fn partial() -> Report {
    let mut report = empty();
    let unknown = |id, state| Pause {
        state,
        requested_ns: None,
        stopped_ns: None,
        restarting_ns: None,
        resumed_ns: None,
        runtime_requested_ns: None,
        runtime_stopped_ns: None,
        duration_ns: None,
        stopping_ns: None,
        ..pause(id, "", 0, 20_000)
    };
    let mut cut = Pause {
        requested_ns: Some(3_999_000_000),
        stopped_ns: Some(3_999_100_000),
        stopping_ns: Some(100_000),
        reason: "GC mark termination".to_owned(),
        ..unknown(2, State::TargetExited)
    };
    add_faults(&mut cut, Kind::SwapIn, 70, 900_000, 0);
    cut.faults += 5;
    cut.in_faults_ns += 60_000;
    let open = Pause { resumed_ns: Some(1_500_000), is_gc: None, ..unknown(1, State::OpenAtAttach) };
    report.pauses = vec![cut, open];
    report.trace.ended = Ended::TargetExited;
    report.trace.exit = Some("killed by signal 9".to_owned());
    report.trace.duration_ns = 4_000_000_000;
    report.trace.notes = vec!["the first pause was under way when the probes came".to_owned()];
    sum_up(&mut report);
    report
}

/// The story with a ring that was too small.
pub(crate) fn incomplete() -> Report {
    let mut report = story();
    report.trace.dropped.insert("ring_full".to_owned(), 1_128);
    report.trace.fault_details = Part { of: 1_356, have: 228 };
    report.trace.complete = false;
    report.trace.incomplete = vec!["1,128 fault details were dropped: the ring was full".to_owned()];
    let worst = &mut report.pauses[0];
    worst.fault_details = Part { of: 231, have: 40 };
    for (stack, (faults, ns)) in worst.stacks.iter_mut().zip([(37, 6_100_000), (3, 410_000)]) {
        (stack.faults, stack.ns) = (faults, ns);
        stack.by_kind = [(Kind::SwapIn, KindTotal { count: faults, ns, inferred: 0 })].into();
    }
    report.summary.records_lost = 2;
    report.summary.quantiles_exact = false;
    report.trace.reconciliation.left_over = Some(1_000);
    report.trace.threads[0].counts.left_over = Some(1_000);
    report.trace.threads[0].counts.kernel_minor_most = Some(1_300);
    report.trace.threads.push(ThreadReconciliation {
        tid: 4260,
        name: None,
        drove: 0,
        counts: Reconciliation::default(),
    });
    report.trace.overhead = Overhead { attach_ns: 212_000_000, ..Overhead::default() };
    report.diagnosis = diagnose(&report);
    report
}

/// A program with its collector off that reads statistics.
pub(crate) fn other_stops() -> Report {
    let mut report = empty();
    report.pauses = (1..=3).map(|id| pause(id, "read mem stats", 0, 100_000 - id * 1_000)).collect();
    sum_up(&mut report);
    report
}

/// Names that try to break the page.
pub(crate) fn hostile() -> Report {
    let long = "n".repeat(4_096);
    let nasty = format!("\x1b[2J\x1b]0;owned\x07{long}\n\t\u{202e};<a b>");
    let mut report = story();
    report.tool.version = nasty.clone();
    report.target.exe = nasty.clone();
    report.target.runtime.name = nasty.clone();
    report.trace.exit = Some(nasty.clone());
    report.trace.dropped.insert(nasty.clone(), 3);
    report.trace.notes.push(nasty.clone());
    report.trace.incomplete.push(nasty.clone());
    report.trace.plan[0].need = nasty.clone();
    report.trace.threads[0].name = Some(nasty.clone());
    report.trace.threads[0].counts.left_over = Some(-3);
    report.summary.by_reason.insert(nasty.clone(), 7);
    for pause in &mut report.pauses {
        pause.reason = nasty.clone();
        if let Some(longest) = &mut pause.longest_fault {
            longest.address = nasty.clone();
            longest.mapping = Some(nasty.clone());
        }
        pause.stacks.iter_mut().for_each(|stack| stack.frames = vec![nasty.clone(); 30]);
        pause.stopping_faults.iter_mut().for_each(|fault| fault.frames = vec![nasty.clone()]);
    }
    report.diagnosis = diagnose(&report);
    report
}

/// Any report at all: fields need not agree with each other, numbers reach as far as their types.
pub(crate) fn random(seed: u64) -> Report {
    Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).report()
}

/// A small generator (xorshift): the same seed gives the same report everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }

    fn yes(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Numbers of every size, the ends of the range more often than chance has it.
    fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => u64::MAX,
            2 => self.below(3),
            _ => {
                let shift = self.below(64);
                self.next() >> shift
            }
        }
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.below(4) == 0 { None } else { Some(make(self)) }
    }

    fn many<T>(&mut self, most: u64, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    fn signed(&mut self) -> i64 {
        self.number().cast_signed()
    }

    fn name(&mut self) -> String {
        const LETTERS: [char; 16] =
            ['a', 'b', ' ', '(', '*', ')', '.', '[', ']', ';', '<', '\x1b', '\n', '7', '\u{202e}', 'µ'];
        let length = if self.below(40) == 0 { 4_096 } else { self.below(60) };
        (0..length)
            .map(|_| {
                let index = self.below(LETTERS.len() as u64);
                LETTERS[usize::try_from(index).unwrap()]
            })
            .collect()
    }

    fn kind(&mut self) -> Kind {
        let kinds = Kind::ALL;
        let index = self.below(kinds.len() as u64);
        kinds[usize::try_from(index).unwrap()]
    }

    fn by_region(&mut self) -> ByRegion {
        let total = KindTotal { count: self.number(), ns: self.number(), inferred: self.number() };
        [(Region::RuntimeMetadata, total)].into()
    }

    fn by_kind(&mut self) -> ByKind {
        self.many(5, |random| {
            (
                random.kind(),
                KindTotal { count: random.number(), ns: random.number(), inferred: random.number() },
            )
        })
        .into_iter()
        .collect()
    }

    fn part(&mut self) -> Part {
        Part { of: self.number(), have: self.number() }
    }

    fn bystanders(&mut self) -> Bystanders {
        Bystanders {
            faults: self.number(),
            major: self.number(),
            minor: self.number(),
            sum_ns: self.number(),
            by_kind: self.by_kind(),
        }
    }

    fn state(&mut self) -> State {
        let states =
            [State::Complete, State::OpenAtAttach, State::CutOff, State::TargetExited, State::EndMissed];
        let index = if self.yes() { 0 } else { self.below(5) };
        states[usize::try_from(index).unwrap()]
    }

    fn pause(&mut self) -> Pause {
        Pause {
            id: self.number(),
            reason: self.name(),
            is_gc: self.maybe(Self::yes),
            state: self.state(),
            requested_ns: self.maybe(Self::signed),
            stopped_ns: self.maybe(Self::signed),
            restarting_ns: self.maybe(Self::signed),
            resumed_ns: self.maybe(Self::signed),
            runtime_requested_ns: None,
            runtime_stopped_ns: None,
            duration_ns: self.maybe(Self::number),
            stopping_ns: self.maybe(Self::number),
            driver_tid: u32::MAX,
            requested_by: None,
            resumed_by_tid: self.maybe(|_| u32::MAX),
            faults: self.number(),
            major: self.number(),
            minor: self.number(),
            in_faults_ns: self.number(),
            explained_by_faults_ns: self.number(),
            reclaim_ns: self.number(),
            tracing_ns: self.number(),
            by_kind: self.by_kind(),
            by_region: self.by_region(),
            places: Vec::new(),
            budget: None,
            workers: Vec::new(),
            blocked: Vec::new(),
            cpu_waits: None,
            throttling: None,
            reads: Vec::new(),
            fault_details: self.part(),
            longest_fault: self.maybe(|random| LongestFault {
                kind: random.kind(),
                ns: random.number(),
                address: random.name(),
                mapping: random.maybe(Self::name),
            }),
            stacks: self.many(6, |random| Stack {
                frames: random.many(20, Self::name),
                faults: random.number(),
                ns: random.number(),
                by_kind: random.by_kind(),
                kernel: Vec::new(),
            }),
            stopping: None,
            stopping_faults: self.many(7, |random| StoppingFault {
                tid: u32::MAX,
                kind: random.kind(),
                before_request_ns: random.number(),
                full_ns: random.number(),
                in_stopping_ns: random.number(),
                frames: random.many(4, Self::name),
            }),
            bystanders: self.bystanders(),
        }
    }

    fn reconciliation(&mut self) -> Reconciliation {
        Reconciliation {
            minor: self.number(),
            major: self.number(),
            kernel_minor_least: self.maybe(Self::number),
            kernel_minor_most: self.maybe(Self::number),
            kernel_major_least: self.maybe(Self::number),
            kernel_major_most: self.maybe(Self::number),
            left_over: self.maybe(Self::signed),
        }
    }

    fn summary(&mut self) -> Summary {
        Summary {
            pauses: self.number(),
            collections: self.number(),
            other_stops: self.number(),
            by_reason: self.names_and_numbers(),
            by_state: self.many(4, |random| (random.state(), random.number())).into_iter().collect(),
            records_lost: self.number(),
            median_ns: self.maybe(Self::number),
            p90_ns: self.maybe(Self::number),
            p99_ns: self.maybe(Self::number),
            worst_ns: self.maybe(Self::number),
            quantiles_exact: self.yes(),
            paused_ns: self.number(),
            in_faults_ns: self.number(),
            explained_by_faults_ns: self.number(),
            faults: self.number(),
            major: self.number(),
            minor: self.number(),
            by_kind: self.by_kind(),
            by_region: self.by_region(),
            reclaim_ns: self.number(),
            tracing_ns: self.number(),
            stopping_ns: self.maybe(Self::number),
            budget: None,
            stopping: None,
            reads: Vec::new(),
            throttling: None,
            bystanders: self.bystanders(),
        }
    }

    fn names_and_numbers(&mut self) -> BTreeMap<String, u64> {
        self.many(15, |random| (random.name(), random.number())).into_iter().collect()
    }

    fn report(&mut self) -> Report {
        let mut report = empty();
        report.target.exe = self.name();
        report.target.runtime = Runtime { name: self.name(), version: self.name() };
        if self.yes() {
            report.target.runtime.name = "go".to_owned();
        }
        report.trace = Trace {
            duration_ns: self.number(),
            exit: self.maybe(Self::name),
            plan: self.many(4, |random| PlanStep {
                need: random.name(),
                source: random.name(),
                why: random.name(),
                used: random.yes(),
            }),
            dropped: self.names_and_numbers(),
            fault_details: self.part(),
            complete: self.yes(),
            incomplete: self.many(3, Self::name),
            notes: self.many(3, Self::name),
            reconciliation: self.reconciliation(),
            threads: self.many(8, |random| ThreadReconciliation {
                tid: u32::MAX,
                name: random.maybe(Self::name),
                drove: random.number(),
                counts: random.reconciliation(),
            }),
            runtime_stamps: self.maybe(|random| StampCheck {
                pauses: random.number(),
                requested_worst_ns: random.maybe(Self::number),
                requested_median_ns: random.maybe(Self::number),
                stopped_worst_ns: random.maybe(Self::number),
                stopped_median_ns: random.maybe(Self::number),
            }),
            overhead: Overhead {
                programs_ns: self.maybe(Self::number),
                program_runs: self.maybe(Self::number),
                tracer_cpu_ns: self.maybe(Self::number),
                tracer_peak_bytes: self.maybe(Self::number),
                attach_ns: self.number(),
            },
            ..report.trace
        };
        report.summary = self.summary();
        report.pauses = self.many(14, Self::pause);
        report.diagnosis = diagnose(&report);
        report
    }
}
