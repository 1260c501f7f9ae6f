//! Correlation from records alone, as the rings would give them.

use bytemuck::Zeroable as _;
use tracer_common::{
    fault::{self, FaultRecord, seen},
    pause::{WindowRecord, flag, state},
    stack::{StackRecord, TAG_FAULT, TAG_STACK, TAG_WINDOW},
};

use super::{Closed, Collected, Collector, FinishedPause, Keep, Kind, State, Surroundings};
use crate::{
    memory::AddressSpace,
    runtime::{Reason, RuntimeStamps},
    target::parse_maps,
};

const DRIVER: u32 = 10;
const MUTATOR: u32 = 11;
const ANON: u64 = 0x1000;
const PRIVATE_FILE: u64 = 0x5000;
const SWAP_IN: u32 = seen::COUNTERS_EXACT | seen::ERROR_CODE | seen::SWAP | seen::ANON | seen::MAJOR;
const FRESH: u32 = seen::COUNTERS_EXACT | seen::ERROR_CODE | seen::ANON | seen::WRITE;

fn collector(keep: Keep) -> Collector {
    let maps = b"1000-2000 rw-p 0 0:0 0\n5000-6000 rw-p 0 fe:0 7 /bin/x\n";
    Collector::new(keep, Surroundings::default(), AddressSpace::from_mappings(parse_maps(maps)))
}

fn fault(window: u64, tid: u32, bits: u32, address: u64, (begin_ns, end_ns): (u64, u64)) -> FaultRecord {
    let driver = if tid == DRIVER { seen::DRIVER } else { 0 };
    FaultRecord {
        tag: TAG_FAULT,
        seen: bits | driver,
        window,
        stack: 7,
        begin_ns,
        end_ns,
        address,
        ip: 0,
        reclaim_ns: 0,
        compact_ns: 0,
        blocked_ns: 0,
        waiting_ns: 0,
        kernel_stack: 0,
        read_bytes: 0,
        read_requests: 0,
        device: 0,
        huge_bytes: 0,
        tgid: 1,
        tid,
    }
}

/// A window from 1000 to 1000 + length, stopped after 100, with the totals that the kernel side makes of the faults.
fn window(number: u64, length_ns: u64, faults: &[FaultRecord]) -> WindowRecord {
    let mut record = WindowRecord {
        tag: TAG_WINDOW,
        state: state::RESTARTING,
        flags: flag::RESUMED,
        tgid: 1,
        driver: DRIVER,
        resumed_by: DRIVER,
        window: number,
        requested_ns: 1000,
        stopped_ns: 1100,
        restarting_ns: 1000 + length_ns - 1,
        resumed_ns: 1000 + length_ns,
        ..WindowRecord::zeroed()
    };
    for fault in faults {
        let by_driver = fault.seen & seen::DRIVER != 0;
        let totals = if by_driver { &mut record.driver_totals } else { &mut record.other_totals };
        let kind = &mut totals.by_kind[fault::classify(fault.seen) as usize];
        kind.count += 1;
        kind.sum_ns += fault.end_ns - fault.begin_ns.max(1000);
        if fault.seen & seen::MAJOR != 0 { totals.major += 1 } else { totals.minor += 1 }
    }
    record
}

fn give(collector: &mut Collector, record: WindowRecord, details: &[FaultRecord]) {
    details.iter().for_each(|detail| collector.fault(detail));
    let reason = Reason { name: "test".to_owned(), is_gc: Some(true) };
    let state = State::of_record(&record);
    collector.window(
        Closed { record, state, reason, stamps: RuntimeStamps::default(), throttling: None },
        |_, _| {},
    );
}

fn only(collected: &Collected) -> &FinishedPause {
    assert_eq!(collected.pauses.len(), 1);
    &collected.pauses[0]
}

#[test]
fn a_pause_has_its_faults_by_kind_and_stack() {
    let faults = [
        fault(1, DRIVER, SWAP_IN, ANON, (1200, 1500)),
        fault(1, DRIVER, SWAP_IN, ANON, (1600, 1650)),
        fault(1, DRIVER, FRESH, ANON, (1700, 1710)),
    ];
    let mut collector = collector(Keep::All);
    let mut stack = StackRecord::zeroed();
    (stack.tag, stack.stack, stack.frame_count) = (TAG_STACK, 7, 2);
    stack.frames[..3].copy_from_slice(&[0x111, 0x222, 0x333]);
    collector.stack(&stack);
    give(&mut collector, window(1, 1000, &faults), &faults);
    let (collected, _) = collector.finish();
    let pause = only(&collected);
    assert_eq!((pause.duration_ns(), pause.stopping_ns()), (Some(1000), Some(100)));
    assert_eq!((pause.faults(), pause.in_faults_ns(), pause.explained_ns), (3, 360, 360));
    assert_eq!((pause.by_kind[&Kind::SwapIn].count, pause.by_kind[&Kind::SwapIn].ns), (2, 350));
    assert_eq!(pause.by_kind[&Kind::FirstTouch].ns, 10);
    assert_eq!(pause.longest.as_ref().map(|longest| (longest.kind, longest.ns)), Some((Kind::SwapIn, 300)));
    assert_eq!(pause.stacks.len(), 1);
    assert_eq!(collected.stacks[&7], [0x111, 0x222]);
    assert_eq!(
        (collected.paused_ns, collected.in_faults_ns, collected.major, collected.minor),
        (1000, 360, 2, 1)
    );
    assert_eq!((collected.collections, collected.other_stops), (1, 0));
}

#[test]
fn totals_stay_whole_when_details_are_lost() {
    // Two writes to private file pages: with their details they are copies, without they stay what the kernel saw.
    let faults = [
        fault(1, DRIVER, FRESH, PRIVATE_FILE, (1200, 1210)),
        fault(1, DRIVER, FRESH, PRIVATE_FILE, (1300, 1320)),
    ];
    let mut collector = collector(Keep::All);
    give(&mut collector, window(1, 1000, &faults), &faults[..1]);
    let (collected, _) = collector.finish();
    let pause = only(&collected);
    let (copied, kept) = (pause.by_kind[&Kind::CopyOnWrite], pause.by_kind[&Kind::FirstTouch]);
    assert_eq!((copied.count, copied.ns, copied.inferred), (1, 10, 1));
    assert_eq!((kept.count, kept.ns, kept.inferred), (1, 20, 0));
    assert_eq!((pause.faults(), pause.in_faults_ns(), pause.details), (2, 30, 1));
}

#[test]
fn a_fault_that_kept_the_world_from_stopping_is_clipped_and_shown_whole() {
    // Requested at 1000, stopped at 1100; the mutator's fault began at 960 and ended at 1095.
    let held = fault(1, MUTATOR, SWAP_IN | seen::BEGAN_BEFORE, ANON, (960, 1095));
    // The driver faults as well, partly at the same time: that time counts once.
    let own = fault(1, DRIVER, FRESH, ANON, (1090, 1098));
    let faults = [held, own];
    let mut collector = collector(Keep::All);
    give(&mut collector, window(1, 1000, &faults), &faults);
    let (collected, _) = collector.finish();
    let pause = only(&collected);
    assert_eq!(pause.in_faults_ns(), 8);
    assert_eq!(pause.explained_ns, 8 + 90);
    let listed = &pause.stopping_faults[0];
    assert_eq!(
        (listed.tid, listed.before_request_ns, listed.full_ns, listed.in_stopping_ns),
        (MUTATOR, 40, 135, 95)
    );
    let others = pause.others_by_kind[&Kind::SwapIn];
    assert_eq!((others.count, others.ns), (1, 95));
}

#[test]
fn more_faults_than_are_kept_matter_in_the_stopping_phase_only() {
    // Stopped at 1100.
    for (late_one, whole) in [((1100, 1200), true), ((1099, 1200), false)] {
        let mut faults = vec![fault(1, MUTATOR, FRESH, ANON, (1150, 1160)); 70_000];
        faults.push(fault(1, MUTATOR, FRESH, ANON, late_one));
        let mut collector = collector(Keep::All);
        give(&mut collector, window(1, 1000, &faults), &faults);
        let (collected, _) = collector.finish();
        assert_eq!(only(&collected).stopping_whole, whole, "{late_one:?}");
    }
}

#[test]
fn the_worst_are_kept_and_all_are_summed() {
    let mut collector = collector(Keep::Worst(2));
    for (number, length_ns) in [(1, 300), (2, 900), (3, 200), (4, 700), (5, 800)] {
        give(&mut collector, window(number, length_ns, &[]), &[]);
    }
    let (mut collected, _) = collector.finish();
    let mut kept: Vec<_> = collected.pauses.iter().map(|pause| pause.record.window).collect();
    kept.sort_unstable();
    assert_eq!(kept, [2, 5]);
    assert_eq!((collected.complete(), collected.paused_ns, collected.worst_ns), (5, 2900, Some(900)));
    assert_eq!(collected.durations.quantile(0.5), Some(700));
}

#[test]
fn pauses_without_a_begin_or_an_end_have_no_length() {
    let mut collector = collector(Keep::Worst(1));
    let open = WindowRecord {
        flags: flag::OPEN_AT_ATTACH | flag::RESUMED,
        requested_ns: 0,
        stopped_ns: 0,
        ..window(1, 500, &[])
    };
    let missed = WindowRecord { flags: flag::END_MISSED, resumed_ns: 0, ..window(2, 500, &[]) };
    give(&mut collector, open, &[]);
    give(&mut collector, missed, &[]);
    give(&mut collector, window(3, 400, &[]), &[]);
    let (collected, _) = collector.finish();
    assert_eq!(collected.pauses.len(), 3, "partial pauses do not push the worst ones out");
    assert!(collected.pauses.iter().all(|pause| pause.duration_ns().is_some() == (pause.record.window == 3)));
    assert_eq!((collected.complete(), collected.paused_ns), (1, 400));
    assert_eq!(collected.by_state[&State::OpenAtAttach], 1);
    assert_eq!(collected.by_state[&State::EndMissed], 1);
}

#[test]
fn details_of_windows_that_never_close_do_not_pile_up() {
    let mut collector = collector(Keep::Worst(1));
    // Numbers that are no order, as those of calls: the oldest ones are given up, and counted.
    for number in (1..20_000).rev() {
        collector.fault(&fault(number, DRIVER, FRESH, ANON, (1, 2)));
    }
    assert_eq!(collector.windows_open(), 10_240);
    let late = [fault(1, DRIVER, FRESH, ANON, (1100, 1200))];
    give(&mut collector, window(1, 1000, &late), &[]);
    let (collected, _) = collector.finish();
    assert_eq!((only(&collected).details, collected.given_up), (1, 19_999 - 10_240));
}

#[test]
fn a_worker_s_faults_have_kinds_places_and_stacks() {
    const WORKER: u32 = 12;
    let faults = [
        fault(1, DRIVER, FRESH, ANON, (1150, 1160)),
        fault(1, WORKER, SWAP_IN | seen::WORKER, ANON, (1200, 1500)),
        fault(1, WORKER, FRESH | seen::WORKER, PRIVATE_FILE, (1600, 1650)),
        fault(1, MUTATOR, FRESH, ANON, (1700, 1710)),
    ];
    let mut collector = collector(Keep::All);
    let sums = tracer_common::thread::WorkerRecord {
        tid: WORKER,
        window: 1,
        faults: 3,
        fault_ns: 400,
        ..bytemuck::Zeroable::zeroed()
    };
    collector.worker(&sums);
    give(&mut collector, window(1, 1000, &faults), &faults);
    let (collected, _) = collector.finish();
    let pause = only(&collected);
    assert_eq!((pause.faults(), pause.other_faults()), (1, 3));
    assert_eq!(pause.stacks.iter().map(|(_, total)| total.by_kind.len()).sum::<usize>(), 1);
    let of_workers = pause.worker_faults.as_ref().unwrap();
    // One detail is missing: it is in the sums, and in nothing else.
    assert_eq!((of_workers.faults, of_workers.sum_ns, of_workers.details), (3, 400, 2));
    assert_eq!((of_workers.by_kind[&Kind::SwapIn].count, of_workers.by_kind[&Kind::SwapIn].ns), (1, 300));
    let regions: u64 = of_workers.by_region.values().map(|total| total.count).sum();
    let places: u64 = of_workers.places.iter().map(|place| place.total.count).sum();
    assert_eq!((regions, places), (2, 2));
    assert_eq!(of_workers.stacks.len(), 1);
    // Switches are not seen here: for whom the driver waited is not known.
    assert_eq!((pause.waited, pause.workers.len()), (None, 0));
}

/// The driver sends the sums while two more faults end on other CPUs: a worker's and a mutator's.
#[test]
fn faults_that_ended_while_the_sums_were_sent_count() {
    use tracer_common::thread::{WorkerRecord, cpu};
    const WORKER: u32 = 12;
    let maps = b"1000-2000 rw-p 0 0:0 0\n";
    let around = Surroundings { schedule_seen: true, ..Surroundings::default() };
    let faults = [
        fault(1, WORKER, FRESH | seen::WORKER, ANON, (1200, 1500)),
        fault(1, MUTATOR, FRESH, ANON, (1600, 1650)),
        fault(1, WORKER, SWAP_IN | seen::WORKER, ANON, (1800, 1990)),
        fault(1, MUTATOR, SWAP_IN, ANON, (1900, 1995)),
    ];
    // Either the worker has left its fault when its state is read, or it is sent as being in it.
    for begin_ns in [0, 1800] {
        let mut collector = Collector::new(Keep::All, around, AddressSpace::from_mappings(parse_maps(maps)));
        let sums = WorkerRecord { tid: WORKER, window: 1, cpu: cpu::RUNNING, ..bytemuck::Zeroable::zeroed() };
        collector.worker(&WorkerRecord { faults: 1, fault_ns: 300, begin_ns, ..sums });
        give(&mut collector, window(1, 1000, &faults[..2]), &faults);
        let (collected, _) = collector.finish();
        let pause = only(&collected);
        assert_eq!((pause.other_faults(), pause.details), (4, 4));
        assert_eq!((pause.record.other_totals.major, pause.record.other_totals.minor), (2, 2));
        let others = &pause.others_by_kind;
        assert_eq!((others[&Kind::SwapIn].count, others[&Kind::SwapIn].ns), (2, 285));
        let of_workers = pause.worker_faults.as_ref().unwrap();
        assert_eq!((of_workers.faults, of_workers.details, of_workers.sum_ns), (2, 2, 490));
        let [worker] = &pause.workers[..] else { panic!("{:?}", pause.workers) };
        assert_eq!((worker.faults, worker.in_faults_ns, worker.budget.sum_ns()), (2, 490, 1000));
    }
}

#[test]
fn faults_of_workers_explain_the_time_that_the_driver_waited_for_them() {
    use tracer_common::{
        schedule::{IntervalRecord, doing},
        thread::{WorkerRecord, cpu},
    };
    const WORKER: u32 = 12;
    let maps = b"1000-2000 rw-p 0 0:0 0\n";
    let around = Surroundings { schedule_seen: true, ..Surroundings::default() };
    let mut collector = Collector::new(Keep::All, around, AddressSpace::from_mappings(parse_maps(maps)));
    let faults = [
        fault(1, WORKER, SWAP_IN | seen::WORKER, ANON, (1200, 1500)),
        fault(1, MUTATOR, FRESH, ANON, (1600, 1800)),
    ];
    let interval = |tid, bits, from_ns, to_ns| IntervalRecord {
        window: 1,
        tid,
        doing: bits,
        from_ns,
        to_ns,
        woken_ns: to_ns,
        ..bytemuck::Zeroable::zeroed()
    };
    collector.interval(&interval(DRIVER, doing::BLOCKED | doing::DRIVER, 1300, 1900));
    collector.interval(&interval(WORKER, doing::RUNNING | doing::BLOCKED, 1150, 1700));
    let worker = |tid, cpu| WorkerRecord { tid, window: 1, cpu, ..bytemuck::Zeroable::zeroed() };
    let worked = WorkerRecord { faults: 1, fault_ns: 300, switched_ns: 1700, ..worker(WORKER, cpu::BLOCKED) };
    collector.worker(&worked);
    collector.worker(&worker(13, cpu::UNKNOWN));
    let mut record = window(1, 1000, &faults);
    record.outside.blocked_ns = 600;
    give(&mut collector, record, &faults);
    let (collected, _) = collector.finish();
    let pause = only(&collected);
    let waited = pause.waited.unwrap();
    // Blocked from 1300 to 1900, while the worker ran until 1700 and was in its fault until 1500. The mutator's fault is
    // nobody's work.
    assert_eq!((waited.for_workers_ns, waited.for_their_faults_ns), (400, 200));
    assert_eq!((waited.in_their_faults_ns, waited.at_least), (300, false));
    assert_eq!((pause.in_faults_ns(), pause.explained_ns), (0, 200));
    assert_eq!((pause.workers.len(), pause.workers_unseen), (1, 1));
    assert_eq!(collected.waited_for_workers_ns, Some(400));
}

#[test]
fn very_many_faults_of_others_while_the_world_stops_are_all_counted() {
    // Two in each step of 100 ns, side by side; the world stops for 3 ms.
    const STEPS: u64 = 30_000;
    let at = |step: u64| 1000 + step * 100;
    let faults: Vec<FaultRecord> = (0..STEPS)
        .flat_map(|step| [(MUTATOR, at(step)), (MUTATOR + 1, at(step) + 10)])
        .map(|(tid, begin_ns)| fault(1, tid, FRESH, ANON, (begin_ns, begin_ns + 40)))
        .collect();
    let mut collector = collector(Keep::All);
    let mut record = window(1, STEPS * 100 + 1000, &faults);
    record.stopped_ns = at(STEPS);
    give(&mut collector, record, &faults);
    let (collected, _) = collector.finish();
    assert_eq!(only(&collected).explained_ns, STEPS * 50);
    assert!(!collected.explained_partly);
}
