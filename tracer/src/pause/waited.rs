//! What the driver waited for while it was blocked: the time in which at least one worker was seen to work, and in which
//! one was seen in a fault.
//!
//! A worker's time counts where something was seen that shows it: it ran, was ready to run, or was in a fault. What was
//! not seen does not count, so that both times are lower bounds; they are exact while nothing is past a bound here or in the
//! kernel.

use tracer_common::{
    pause::WindowRecord,
    schedule::{INTERVALS_OF_WORKERS, IntervalRecord, doing},
    thread::{WorkerRecord, cpu},
};

use super::{
    intervals::{common_length, union, union_length},
    waits::split,
};

/// Intervals kept of one window of each sort.
const KEPT: usize = 1 << 16;

/// What is gathered of one window.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The driver blocked outside faults.
    driver_blocked: Vec<(u64, u64)>,
    /// A worker in a fault.
    in_faults: Vec<(u64, u64)>,
    /// Other threads that work, in faults or not: of those that turn out to be workers it counts.
    busy: Vec<(u32, (u64, u64))>,
    /// Some are past the bound.
    cut: bool,
}

/// What it comes to, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// The driver was blocked outside faults after the world had stopped, and at least one worker worked.
    pub for_workers_ns: u64,
    /// Of it, at least one worker was in a fault.
    pub for_their_faults_ns: u64,
    /// At least one worker was in a fault, whatever the driver did.
    pub in_their_faults_ns: u64,
    /// The first is a lower bound: there was more than is sent of a worker, or kept.
    pub at_least: bool,
    /// All are.
    pub faults_at_least: bool,
}

impl Waiting {
    /// An interval of the driver.
    pub(super) fn driver(&mut self, record: &IntervalRecord) {
        let blocked = record.doing & doing::BLOCKED != 0 && record.doing & doing::RUNNING == 0;
        if blocked && record.fault_begin_ns == 0 && record.doing & doing::FREEING == 0 {
            let (blocked_ns, _) = split(record);
            self.cut |= !keep(&mut self.driver_blocked, (record.from_ns, record.from_ns + blocked_ns));
        }
    }

    /// An interval of another thread.
    pub(super) fn other(&mut self, record: &IntervalRecord) {
        if record.from_ns == 0 {
            return;
        }
        let idles = record.doing & doing::BLOCKED != 0
            && record.doing & (doing::RUNNING | doing::FREEING) == 0
            && record.fault_begin_ns == 0;
        let idle_ns = if idles { split(record).0 } else { 0 };
        self.works(record.tid, (record.from_ns + idle_ns, record.to_ns));
    }

    /// A fault of a worker.
    pub(super) fn fault(&mut self, begin_ns: u64, end_ns: u64) {
        self.cut |= !keep(&mut self.in_faults, (begin_ns, end_ns));
    }

    fn works(&mut self, tid: u32, interval: (u64, u64)) {
        if self.busy.len() < KEPT {
            self.busy.push((tid, interval));
        } else {
            self.cut = true;
        }
    }

    /// What a worker is in the middle of when the window closes.
    fn at_the_end(&mut self, worker: &WorkerRecord, window: &WindowRecord) {
        let end_ns = window.resumed_ns;
        let (since_ns, woken_ns) = (worker.switched_ns, worker.woken_ns);
        if worker.begin_ns != 0 && worker.begin_ns < end_ns {
            self.fault(worker.begin_ns, end_ns);
        }
        let works_from_ns = match worker.cpu {
            cpu::RUNNING | cpu::PREEMPTED if since_ns != 0 => since_ns,
            cpu::BLOCKED if woken_ns != 0 && woken_ns >= since_ns => woken_ns,
            _ => return,
        };
        self.works(worker.tid, (works_from_ns, end_ns));
    }

    /// What it comes to with these workers.
    pub(super) fn finish(mut self, workers: &[WorkerRecord], window: &WindowRecord) -> Waited {
        let told = |worker: &WorkerRecord| self.busy.iter().filter(|(tid, _)| *tid == worker.tid).count();
        let most = INTERVALS_OF_WORKERS as usize;
        let untold = self.busy.len() >= most && workers.iter().any(|worker| told(worker) >= most);
        workers.iter().for_each(|worker| self.at_the_end(worker, window));
        let (opened_ns, closed_ns) = (window.requested_ns, window.resumed_ns);
        let stopped_ns = if window.stopped_ns == 0 { opened_ns } else { window.stopped_ns };
        let of_workers = |(tid, _): &&(u32, _)| workers.iter().any(|worker| worker.tid == *tid);
        let busy = self.busy.iter().filter(of_workers).map(|(_, interval)| *interval);
        let busy = union(busy.chain(self.in_faults.iter().copied()).collect());
        let in_faults = union(self.in_faults);
        let blocked = union(clipped(&self.driver_blocked, (stopped_ns, closed_ns)));
        Waited {
            for_workers_ns: common_length(&blocked, &busy),
            for_their_faults_ns: common_length(&blocked, &in_faults),
            in_their_faults_ns: union_length(&mut clipped(&in_faults, (opened_ns, closed_ns))),
            at_least: self.cut || untold,
            faults_at_least: self.cut,
        }
    }
}

/// Whether there was room.
fn keep(intervals: &mut Vec<(u64, u64)>, interval: (u64, u64)) -> bool {
    let room = intervals.len() < KEPT;
    if room && interval.1 > interval.0 {
        intervals.push(interval);
    }
    room
}

fn clipped(intervals: &[(u64, u64)], (from_ns, to_ns): (u64, u64)) -> Vec<(u64, u64)> {
    let clip = |(begin, end): &(u64, u64)| ((*begin).max(from_ns), (*end).min(to_ns));
    intervals.iter().map(clip).filter(|(begin, end)| begin < end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable as _;

    const WORKER: u32 = 7;

    fn worker(state: u32, switched_ns: u64) -> WorkerRecord {
        WorkerRecord { tid: WORKER, cpu: state, switched_ns, ..WorkerRecord::zeroed() }
    }

    fn interval(bits: u32, from_ns: u64, woken_ns: u64, to_ns: u64) -> IntervalRecord {
        IntervalRecord { tid: WORKER, doing: bits, from_ns, woken_ns, to_ns, ..IntervalRecord::zeroed() }
    }

    fn window() -> WindowRecord {
        WindowRecord { requested_ns: 1000, stopped_ns: 1100, resumed_ns: 2000, ..WindowRecord::zeroed() }
    }

    #[test]
    fn only_what_both_did_at_the_same_time_counts() {
        let mut waiting = Waiting::default();
        // Blocked from before the stop until 1900, then ready.
        waiting.driver(&interval(doing::BLOCKED | doing::DRIVER, 1050, 1900, 1950));
        waiting.other(&interval(doing::BLOCKED, 900, 1200, 1250));
        waiting.other(&interval(doing::RUNNING | doing::BLOCKED, 1250, 0, 1500));
        waiting.fault(1300, 1400);
        waiting.fault(1350, 1450);
        // Another one overlaps, and works on until after the window.
        waiting.other(&interval(doing::RUNNING | doing::PREEMPTED, 1400, 0, 1600));
        // What somebody else does is nobody's work.
        waiting.other(&IntervalRecord { tid: 8, ..interval(doing::RUNNING | doing::BLOCKED, 1600, 0, 1850) });
        let waited = waiting.finish(&[worker(cpu::RUNNING, 1850)], &window());
        // 1200 to 1600, and 1850 to 1900.
        let expected = Waited {
            for_workers_ns: 450,
            for_their_faults_ns: 150,
            in_their_faults_ns: 150,
            ..Waited::default()
        };
        assert_eq!(waited, expected);
    }

    #[test]
    fn what_was_not_seen_is_no_work() {
        let mut waiting = Waiting::default();
        waiting.driver(&interval(doing::BLOCKED | doing::DRIVER, 1000, 1900, 1900));
        waiting.other(&interval(doing::BLOCKED, 500, 0, 2500));
        waiting.other(&interval(doing::RUNNING | doing::BLOCKED, 0, 0, 1500));
        let workers = [worker(cpu::UNKNOWN, 1200), worker(cpu::BLOCKED, 1200)];
        assert_eq!(waiting.finish(&workers, &window()), Waited::default());
    }

    #[test]
    fn a_driver_in_a_fault_waits_for_the_fault() {
        let mut waiting = Waiting::default();
        let blocked = interval(doing::BLOCKED | doing::DRIVER, 1200, 1900, 1900);
        waiting.driver(&IntervalRecord { fault_begin_ns: 1190, ..blocked });
        waiting.fault(1100, 2500);
        let waited = waiting.finish(&[], &window());
        assert_eq!((waited.for_workers_ns, waited.for_their_faults_ns), (0, 0));
        assert_eq!(waited.in_their_faults_ns, 900);
    }

    #[test]
    fn what_is_past_the_bound_is_said() {
        let mut waiting = Waiting::default();
        for ns in 0..=KEPT as u64 {
            waiting.fault(1000 + 2 * ns, 1001 + 2 * ns);
        }
        let waited = waiting.finish(&[], &window());
        assert!(waited.at_least && waited.faults_at_least);
    }

    #[test]
    fn of_a_worker_that_changed_more_often_than_is_told_it_is_said_too() {
        let told = |changes: u32| {
            let mut waiting = Waiting::default();
            for n in 0..u64::from(changes) {
                waiting.other(&interval(doing::RUNNING | doing::PREEMPTED, 1000 + n, 0, 1001 + n));
            }
            let waited = waiting.finish(&[worker(cpu::UNKNOWN, 0)], &window());
            (waited.at_least, waited.faults_at_least)
        };
        assert_eq!(told(INTERVALS_OF_WORKERS - 1), (false, false));
        assert_eq!(told(INTERVALS_OF_WORKERS), (true, false));
    }
}
