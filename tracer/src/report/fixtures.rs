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
        exposure: Exposures::default(),
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
        summary.tracing_ns += pause.tracing_ns;
        add_regions(&mut summary.by_region, &pause.by_region);
        if let Some(budget) = &pause.budget {
            summary.budget.get_or_insert_default().add(budget);
        }
        if let Some(stopping) = &pause.stopping {
            let total = summary.stopping.get_or_insert_default();
            total.pauses += 1;
            total.ns += stopping.ns;
            total.budget.add(&stopping.budget);
        }
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
    take_apart_worst(&mut worst);
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
    take_apart_second(&mut second);
    let mut third = pause(31, "read mem stats", 1_002_000_000, 96_000);
    third.budget = Some(Budget { on_cpu_ns: 84_000, blocked_futex_ns: 12_000, ..Budget::default() });

    report.pauses = vec![worst, second, third];
    sum_up(&mut report);

    let summary = &mut report.summary;
    // The parts of the pauses that are not in the list.
    let others = Budget { on_cpu_ns: 49_300_000, blocked_futex_ns: 12_190_000, ..Budget::default() };
    summary.budget.get_or_insert_default().add(&others);
    summary.stopping = Some(StoppingTotal {
        pauses: 1_204,
        ns: 9_400_000,
        budget: StoppingBudget {
            fault_ns: 8_000,
            on_cpu_ns: 8_900_000,
            waiting_for_cpu_ns: 492_000,
            ..StoppingBudget::default()
        },
    });
    summary.reads = report.pauses[0].reads.clone();
    summary.throttling = Some(Throttling {
        cgroup: "/system.slice/api.service".to_owned(),
        times: 3,
        ns: 4_200_000,
        over_ns: 60_000_000_000,
    });
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

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

/// The worst pause's swap-ins: from a partition, a tenth of them by another thread's read.
fn take_apart_worst(pause: &mut Pause) {
    pause.budget = Some(Budget {
        fault_blocked_io_ns: 33_240_000,
        fault_waiting_for_cpu_ns: 410_000,
        fault_on_cpu_ns: 5_363_000,
        on_cpu_ns: 611_000,
        waiting_for_cpu_ns: 190_000,
        blocked_futex_ns: 88_000,
        ..Budget::default()
    });
    pause.tracing_ns = 96_000;
    let metadata = KindTotal { count: 219, ns: 37_213_000, inferred: 219 };
    let heap = KindTotal { count: 9, ns: 1_800_000, inferred: 0 };
    pause.by_region = [(Region::RuntimeMetadata, metadata), (Region::RuntimeHeap, heap)].into();
    pause.places = vec![
        Place {
            region: Region::RuntimeMetadata,
            what: "span sets".to_owned(),
            total: KindTotal { count: 217, ns: 37_120_000, inferred: 217 },
        },
        Place { region: Region::RuntimeHeap, what: "arena at 0xc000000000".to_owned(), total: heap },
        Place {
            region: Region::RuntimeMetadata,
            what: "mark bits".to_owned(),
            total: KindTotal { count: 2, ns: 93_000, inferred: 2 },
        },
    ];
    pause.stacks[0].kernel = vec![
        KernelPath {
            on: BlockedOn::Io,
            faults: 210,
            ns: 31_900_000,
            frames: names([
                "__schedule",
                "schedule",
                "io_schedule",
                "folio_wait_bit_common",
                "do_swap_page",
                "handle_mm_fault",
                "do_user_addr_fault",
                "exc_page_fault",
                "asm_exc_page_fault",
            ]),
        },
        KernelPath {
            on: BlockedOn::Lock,
            faults: 2,
            ns: 40_000,
            frames: names(["schedule", "rwsem_down_read_slowpath", "down_read", "lock_mm_and_find_vma"]),
        },
    ];
    pause.blocked = vec![Blocked {
        on: BlockedOn::Futex,
        count: 2,
        ns: 88_000,
        woken_by_tid: Some(4251),
        kernel_frames: names(["schedule", "futex_do_wait", "__futex_wait", "futex_wait", "do_futex"]),
        frames: names(["runtime.futex", "runtime.notesleep", "runtime.stopTheWorldWithSema"]),
    }];
    pause.cpu_waits = Some(CpuWaits {
        switches: 240,
        count: 231,
        ns: 600_000,
        longest_ns: 110_000,
        after: vec![
            Neighbour { name: "kswapd0".to_owned(), tid: 71, of_target: false, count: 12, ns: 310_000 },
            Neighbour { name: "api".to_owned(), tid: 4260, of_target: true, count: 3, ns: 90_000 },
        ],
    });
    pause.reads = vec![
        DeviceReads {
            device: "vda2".to_owned(),
            serves: Some("swap partition".to_owned()),
            faults: 205,
            ns: 35_113_000,
            requests: 205,
            bytes: 6_717_440,
            read_ahead_pages: 1_435,
            inferred: 0,
        },
        DeviceReads {
            device: "another thread's read".to_owned(),
            serves: None,
            faults: 23,
            ns: 3_900_000,
            inferred: 23,
            ..DeviceReads::default()
        },
    ];
    let budget = StoppingBudget { on_cpu_ns: 12_000, ..StoppingBudget::default() };
    pause.stopping = Some(Stopping { ns: 12_000, last_tid: None, budget, threads: Vec::new() });
}

/// The second pause: stopped by a thread in a fault, and a quota that was used up not long before.
fn take_apart_second(pause: &mut Pause) {
    pause.budget = Some(Budget {
        fault_on_cpu_ns: 71_000,
        on_cpu_ns: 290_000,
        waiting_for_cpu_ns: 40_000,
        blocked_futex_ns: 11_000,
        ..Budget::default()
    });
    pause.throttling = Some(Throttling {
        cgroup: "/system.slice/api.service".to_owned(),
        times: 1,
        ns: 900_000,
        over_ns: 100_000_000,
    });
    let budget = StoppingBudget { fault_ns: 8_000, on_cpu_ns: 4_000, ..StoppingBudget::default() };
    pause.stopping = Some(Stopping {
        ns: 12_000,
        last_tid: Some(4251),
        budget,
        threads: vec![
            StoppingThread {
                tid: 4251,
                name: Some("api".to_owned()),
                at_request: AtRequest::InFault,
                since_ns: Some(3_000),
                budget,
                blocked_on: None,
                kernel_frames: Vec::new(),
                frames: Vec::new(),
            },
            StoppingThread {
                tid: 4253,
                name: None,
                at_request: AtRequest::InSyscall,
                since_ns: None,
                budget: StoppingBudget { blocked_ns: 12_000, ..StoppingBudget::default() },
                blocked_on: Some(BlockedOn::Poll),
                kernel_frames: names(["schedule", "schedule_hrtimeout_range", "ep_poll", "do_epoll_wait"]),
                frames: names([
                    "runtime/internal/syscall.Syscall6",
                    "runtime.netpoll",
                    "runtime.findRunnable",
                ]),
            },
        ],
    });
}

/// A minute in which the collector did not run.
pub(crate) fn no_pauses() -> Report {
    empty()
}

/// A thread that runs for long before it reaches a point at which it can stop.
pub(crate) fn slow_stop() -> Report {
    let mut report = empty();
    let mut slow = pause(7, "GC mark termination", 2_000_000_000, 30_000_000);
    slow.stopping_ns = Some(28_000_000);
    slow.stopped_ns = slow.requested_ns.map(|ns| ns + 28_000_000);
    slow.budget = Some(Budget {
        on_cpu_ns: 2_100_000,
        waiting_for_cpu_ns: 300_000,
        blocked_futex_ns: 27_600_000,
        ..Budget::default()
    });
    slow.blocked = vec![Blocked {
        on: BlockedOn::Futex,
        count: 276,
        ns: 27_600_000,
        woken_by_tid: Some(4260),
        kernel_frames: names(["schedule", "futex_do_wait", "__futex_wait", "futex_wait", "do_futex"]),
        frames: names([
            "runtime.futex",
            "runtime.futexsleep",
            "runtime.notetsleep_internal",
            "runtime.notetsleep",
            "runtime.stopTheWorldWithSema",
        ]),
    }];
    let budget =
        StoppingBudget { on_cpu_ns: 26_000_000, waiting_for_cpu_ns: 2_000_000, ..StoppingBudget::default() };
    slow.stopping = Some(Stopping {
        ns: 28_000_000,
        last_tid: Some(4260),
        budget,
        threads: vec![StoppingThread {
            tid: 4260,
            name: Some("api".to_owned()),
            at_request: AtRequest::OnCpu,
            since_ns: Some(3_100_000),
            budget,
            blocked_on: None,
            kernel_frames: Vec::new(),
            frames: names(["crypto/sha256.block", "main.digest", "main.handle"]),
        }],
    });
    report.pauses = vec![slow, pause(8, "GC sweep termination", 2_500_000_000, 60_000)];
    report.pauses[1].budget = Some(Budget { on_cpu_ns: 60_000, ..Budget::default() });
    sum_up(&mut report);
    report
}

/// A quota that is used up while the world is stopped, and before.
pub(crate) fn throttled() -> Report {
    let mut report = empty();
    let mut slow = pause(7, "GC mark termination", 2_000_000_000, 92_000_000);
    slow.budget = Some(Budget {
        on_cpu_ns: 3_000_000,
        waiting_for_cpu_ns: 88_988_000,
        blocked_futex_ns: 12_000,
        ..Budget::default()
    });
    slow.cpu_waits = Some(CpuWaits {
        switches: 240,
        count: 2,
        ns: 88_988_000,
        longest_ns: 81_000_000,
        after: vec![Neighbour {
            name: "api".to_owned(),
            tid: 4260,
            of_target: true,
            count: 1,
            ns: 7_988_000,
        }],
    });
    slow.throttling = Some(Throttling {
        cgroup: "/kubepods/burstable/api".to_owned(),
        times: 2,
        ns: 171_000_000,
        over_ns: 200_000_000,
    });
    report.summary.throttling = Some(Throttling {
        cgroup: "/kubepods/burstable/api".to_owned(),
        times: 41,
        ns: 3_300_000_000,
        over_ns: 60_000_000_000,
    });
    report.pauses = vec![slow];
    sum_up(&mut report);
    report
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
    report.trace.unavailable = vec![Unavailable {
        part: "budget".to_owned(),
        why: "tracepoint sched:sched_switch can't be opened: permission denied; CAP_PERFMON would help"
            .to_owned(),
    }];
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
        for path in pause.stacks.iter_mut().flat_map(|stack| &mut stack.kernel) {
            path.frames = vec![nasty.clone(); 30];
        }
        pause.places.iter_mut().for_each(|place| place.what = nasty.clone());
        for blocked in &mut pause.blocked {
            blocked.frames = vec![nasty.clone(); 30];
            blocked.kernel_frames = vec![nasty.clone(); 30];
        }
        for neighbour in pause.cpu_waits.iter_mut().flat_map(|waits| &mut waits.after) {
            neighbour.name = nasty.clone();
        }
        for thread in pause.stopping.iter_mut().flat_map(|stopping| &mut stopping.threads) {
            thread.name = Some(nasty.clone());
            thread.frames = vec![nasty.clone(); 30];
            thread.kernel_frames = vec![nasty.clone(); 30];
        }
        for reads in &mut pause.reads {
            reads.device = nasty.clone();
            reads.serves = Some(nasty.clone());
        }
        pause.throttling.iter_mut().for_each(|throttling| throttling.cgroup = nasty.clone());
    }
    report.summary.throttling.iter_mut().for_each(|throttling| throttling.cgroup = nasty.clone());
    report.summary.reads.iter_mut().for_each(|reads| reads.device = nasty.clone());
    report.trace.unavailable = vec![Unavailable { part: nasty.clone(), why: nasty.clone() }];
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

    fn total(&mut self) -> KindTotal {
        KindTotal { count: self.number(), ns: self.number(), inferred: self.number() }
    }

    fn region(&mut self) -> Region {
        let regions = [
            Region::RuntimeHeap,
            Region::RuntimeMetadata,
            Region::ThreadStack,
            Region::Binary,
            Region::Library,
            Region::MappedFile,
            Region::SharedMemory,
            Region::OtherAnonymous,
            Region::Unknown,
        ];
        self.one_of(&regions)
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        let index = self.below(of.len() as u64);
        of[usize::try_from(index).unwrap()]
    }

    fn by_region(&mut self) -> ByRegion {
        self.many(4, |random| (random.region(), random.total())).into_iter().collect()
    }

    fn place(&mut self) -> Place {
        Place { region: self.region(), what: self.name(), total: self.total() }
    }

    /// Parts that add up to no pause at all, now and then some that are not there.
    fn budget(&mut self) -> Budget {
        let mut part = || if self.below(3) == 0 { 0 } else { self.number() };
        Budget {
            fault_blocked_io_ns: part(),
            fault_blocked_other_ns: part(),
            fault_blocked_unknown_ns: part(),
            fault_reclaiming_ns: part(),
            fault_compacting_ns: part(),
            fault_waiting_for_cpu_ns: part(),
            fault_on_cpu_ns: part(),
            on_cpu_ns: part(),
            waiting_for_cpu_ns: part(),
            blocked_futex_ns: part(),
            blocked_io_ns: part(),
            blocked_other_ns: part(),
            blocked_unknown_ns: part(),
            reclaiming_ns: part(),
            compacting_ns: part(),
            unknown_ns: part(),
        }
    }

    fn blocked_on(&mut self) -> BlockedOn {
        self.one_of(&[
            BlockedOn::Io,
            BlockedOn::Futex,
            BlockedOn::Userfault,
            BlockedOn::Lock,
            BlockedOn::Sleep,
            BlockedOn::Poll,
            BlockedOn::Other,
            BlockedOn::Unknown,
        ])
    }

    fn blocked(&mut self) -> Blocked {
        Blocked {
            on: self.blocked_on(),
            count: self.number(),
            ns: self.number(),
            woken_by_tid: self.maybe(|_| u32::MAX),
            kernel_frames: self.many(20, Self::name),
            frames: self.many(20, Self::name),
        }
    }

    fn cpu_waits(&mut self) -> CpuWaits {
        CpuWaits {
            switches: self.number(),
            count: self.number(),
            ns: self.number(),
            longest_ns: self.number(),
            after: self.many(5, |random| Neighbour {
                name: random.name(),
                tid: u32::MAX,
                of_target: random.yes(),
                count: random.number(),
                ns: random.number(),
            }),
        }
    }

    fn throttling(&mut self) -> Throttling {
        Throttling { cgroup: self.name(), times: self.number(), ns: self.number(), over_ns: self.number() }
    }

    fn reads(&mut self) -> DeviceReads {
        DeviceReads {
            device: self.name(),
            serves: self.maybe(Self::name),
            faults: self.number(),
            ns: self.number(),
            requests: self.number(),
            bytes: self.number(),
            read_ahead_pages: self.number(),
            inferred: self.number(),
        }
    }

    fn stopping_budget(&mut self) -> StoppingBudget {
        StoppingBudget {
            fault_ns: self.number(),
            on_cpu_ns: self.number(),
            waiting_for_cpu_ns: self.number(),
            blocked_ns: self.number(),
            unknown_ns: self.number(),
        }
    }

    fn stopping(&mut self) -> Stopping {
        let at_request =
            [AtRequest::InFault, AtRequest::OnCpu, AtRequest::WaitingForCpu, AtRequest::InSyscall];
        Stopping {
            ns: self.number(),
            last_tid: self.maybe(|_| u32::MAX),
            budget: self.stopping_budget(),
            threads: self.many(6, |random| StoppingThread {
                tid: if random.yes() { u32::MAX } else { 4_250 },
                name: random.maybe(Self::name),
                at_request: random.one_of(&at_request),
                since_ns: random.maybe(Self::number),
                budget: random.stopping_budget(),
                blocked_on: random.maybe(Self::blocked_on),
                kernel_frames: random.many(20, Self::name),
                frames: random.many(20, Self::name),
            }),
        }
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
            places: self.many(6, Self::place),
            budget: self.maybe(Self::budget),
            workers: self.many(6, |random| Worker {
                tid: u32::MAX,
                name: random.maybe(Self::name),
                faults: random.number(),
                in_faults_ns: random.number(),
                budget: random.budget(),
            }),
            blocked: self.many(5, Self::blocked),
            cpu_waits: self.maybe(Self::cpu_waits),
            throttling: self.maybe(Self::throttling),
            reads: self.many(5, Self::reads),
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
                kernel: random.many(4, |random| KernelPath {
                    on: random.blocked_on(),
                    faults: random.number(),
                    ns: random.number(),
                    frames: random.many(20, Self::name),
                }),
            }),
            stopping: self.maybe(Self::stopping),
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
            budget: self.maybe(Self::budget),
            stopping: self.maybe(|random| StoppingTotal {
                pauses: random.number(),
                ns: random.number(),
                budget: random.stopping_budget(),
            }),
            reads: self.many(5, Self::reads),
            throttling: self.maybe(Self::throttling),
            memory_limit: self.maybe(|random| MemoryPressure {
                cgroup: random.name(),
                limit_bytes: random.number(),
                used_bytes: random.number(),
                hits: random.number(),
            }),
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
            unavailable: self.many(3, |random| Unavailable { part: random.name(), why: random.name() }),
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
