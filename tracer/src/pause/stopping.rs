//! The stopping phase, requested → stopped, thread by thread: what each was doing when the stop was requested, how it
//! spent the phase, and which one stopped last.
//!
//! A thread is seen where it changes: it loses its CPU, gets it back, ends a fault. What it did between two changes
//! follows from the later one. A thread without a change in the window either ran all the time or was blocked all the
//! time; the first kind shows if it woke the driver.

use std::collections::BTreeMap;

use tracer_common::{
    schedule::{INTERVALS_OF_OTHERS, INTERVALS_OF_WORKERS, IntervalRecord, doing},
    thread::WorkerRecord,
};

use super::{
    blocked::AtRequest, budget::StoppingBudget, intervals::union_length, span::FaultSpan, waits::split,
};

/// A thread that spent this much of the phase, in percent, other than blocked in system calls is called the last one when
/// nothing else tells.
const MOST_PERCENT: u64 = 50;
/// Threads that are listed; those that kept the world waiting longest come first.
const LISTED: usize = 16;

/// The stopping phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopping {
    /// Its length, in ns.
    pub ns: u64,
    /// The thread that stopped last, as far as it can be told.
    pub last: Option<u32>,
    /// How that thread, or else the driver, spent it.
    pub budget: StoppingBudget,
    /// The threads that changed in it, the last one first.
    pub threads: Vec<StoppingThread>,
}

/// One thread in the stopping phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppingThread {
    /// The thread.
    pub tid: u32,
    /// What it was doing when the stop was requested.
    pub at_request: AtRequest,
    /// For how long, in ns; `None` when its begin was not seen.
    pub since_ns: Option<u64>,
    /// How it spent the phase.
    pub budget: StoppingBudget,
    /// Where it left the CPU in the kernel; 0 when not seen.
    pub kernel_stack: u64,
    /// Whether it was blocked there, and not preempted.
    pub blocked_there: bool,
    /// Where it left the CPU in the program, or faulted; 0 when not seen.
    pub user_stack: u64,
}

/// A stretch of a thread's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    from_ns: u64,
    to_ns: u64,
    what: AtRequest,
}

/// What threads did, and how far that reaches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told<'a> {
    /// Of all threads.
    pub(super) intervals: &'a [IntervalRecord],
    /// Nothing was sent that is not among them.
    pub(super) all_kept: bool,
    /// Of workers the kernel side sends more than of others.
    pub(super) workers: &'a [WorkerRecord],
}

impl Told<'_> {
    /// Whether what a thread did after the last of its intervals can be told from that: later ones would have been sent.
    fn reaches_the_end(self, tid: u32, intervals: usize) -> bool {
        let is_worker = self.workers.iter().any(|worker| worker.tid == tid);
        let most = if is_worker { INTERVALS_OF_WORKERS } else { INTERVALS_OF_OTHERS };
        self.all_kept && intervals < most as usize
    }
}

/// What is known of one thread.
#[derive(Debug, Default)]
struct Seen<'a> {
    intervals: Vec<&'a IntervalRecord>,
    faults: Vec<&'a FaultSpan>,
}

/// The phase from these marks, the intervals of all threads, and the faults of the others and of the driver.
#[must_use]
pub(super) fn stopping(
    (from_ns, to_ns): (u64, u64),
    driver: u32,
    told: Told<'_>,
    faults: &[FaultSpan],
    driver_faults: &[(u64, u64)],
) -> Stopping {
    let phase = (from_ns, to_ns);
    let (mut others, mut of_driver): (BTreeMap<u32, Seen<'_>>, Vec<&IntervalRecord>) = Default::default();
    for interval in told.intervals {
        if interval.tid == driver {
            of_driver.push(interval);
        } else {
            others.entry(interval.tid).or_default().intervals.push(interval);
        }
    }
    for fault in faults.iter().filter(|fault| fault.tid != driver) {
        others.entry(fault.tid).or_default().faults.push(fault);
    }
    let woke_last = of_driver
        .iter()
        .filter(|interval| {
            (from_ns..=to_ns).contains(&interval.to_ns) && interval.doing & doing::BLOCKED != 0
        })
        .max_by_key(|interval| interval.to_ns)
        .map(|interval| interval.woken_by)
        .filter(|tid| *tid != 0);
    if let Some(tid) = woke_last {
        others.entry(tid).or_default();
    }
    let mut threads: Vec<StoppingThread> = others
        .into_iter()
        .filter_map(|(tid, seen)| {
            let to_the_end = told.reaches_the_end(tid, seen.intervals.len());
            thread(tid, seen, phase, woke_last == Some(tid), to_the_end)
        })
        .collect();
    let held_up = |budget: &StoppingBudget| budget.fault_ns + budget.on_cpu_ns + budget.waiting_for_cpu_ns;
    threads.sort_by_key(|thread| {
        (
            std::cmp::Reverse(Some(thread.tid) == woke_last),
            std::cmp::Reverse(held_up(&thread.budget)),
            thread.tid,
        )
    });
    let ns = to_ns - from_ns;
    let last = woke_last.or_else(|| {
        let first = threads.first()?;
        (held_up(&first.budget) * 100 >= ns * MOST_PERCENT && ns > 0).then_some(first.tid)
    });
    let budget = match threads.iter().find(|thread| Some(thread.tid) == last) {
        Some(thread) => thread.budget,
        None => of_the_driver(&of_driver, driver_faults, phase, told.all_kept),
    };
    threads.truncate(LISTED);
    Stopping { ns, last, budget, threads }
}

/// `None` when it did not change in the phase.
fn thread(
    tid: u32,
    mut seen: Seen<'_>,
    (from_ns, to_ns): (u64, u64),
    woke_the_driver: bool,
    to_the_end: bool,
) -> Option<StoppingThread> {
    seen.intervals.sort_by_key(|interval| interval.to_ns);
    seen.intervals.retain(|interval| interval.to_ns > from_ns);
    seen.faults.retain(|fault| fault.end_ns > from_ns && fault.begin_ns < to_ns);
    let stretches = stretches(&seen.intervals, to_the_end.then_some(to_ns));
    let in_phase = |stretch: &&Stretch| stretch.from_ns < to_ns && stretch.to_ns > from_ns;
    if !stretches.iter().any(|stretch| in_phase(&stretch)) && seen.faults.is_empty() && !woke_the_driver {
        return None;
    }
    let mut in_faults: Vec<(u64, u64)> =
        seen.faults.iter().map(|fault| (fault.begin_ns, fault.end_ns)).collect();
    // A fault that is still in progress when the thread is last seen has no span of its own.
    in_faults.extend(
        seen.intervals
            .iter()
            .filter(|interval| interval.fault_begin_ns != 0)
            .map(|interval| (interval.fault_begin_ns, interval.to_ns)),
    );
    let fault_at_request = in_faults
        .iter()
        .filter(|(begin, end)| *begin <= from_ns && *end > from_ns)
        .map(|(begin, _)| *begin)
        .min();
    let budget = budget(&stretches, &mut in_faults, (from_ns, to_ns), woke_the_driver);
    // Blocked in system calls all the time: a runtime doesn't wait for such threads.
    if budget.blocked_ns == to_ns - from_ns && !woke_the_driver {
        return None;
    }
    let stretch = stretches.iter().find(|stretch| stretch.to_ns > from_ns);
    let (at_request, since_ns) = match (fault_at_request, stretch) {
        (Some(begin_ns), _) => (AtRequest::InFault, Some(from_ns - begin_ns)),
        (None, Some(stretch)) => {
            (stretch.what, (stretch.from_ns != 0).then(|| from_ns.saturating_sub(stretch.from_ns)))
        }
        (None, None) => (AtRequest::OnCpu, None),
    };
    // Where it was blocked is more than where it was preempted.
    let with_stack = |interval: &&&IntervalRecord| interval.kernel_stack != 0;
    let blocked =
        seen.intervals.iter().filter(with_stack).find(|interval| interval.doing & doing::BLOCKED != 0);
    let left = blocked.or_else(|| seen.intervals.iter().find(with_stack));
    let fault = seen.faults.iter().max_by_key(|fault| fault.end_ns.min(to_ns) - fault.begin_ns.max(from_ns));
    Some(StoppingThread {
        tid,
        at_request,
        since_ns,
        budget,
        blocked_there: blocked.is_some(),
        kernel_stack: left.map_or(0, |interval| interval.kernel_stack),
        user_stack: fault.map(|fault| fault.stack).or(left.map(|interval| interval.user_stack)).unwrap_or(0),
    })
}

/// The thread's time as its changes tell it, in order, from before the phase to its end, if that is given.
fn stretches(intervals: &[&IntervalRecord], to_ns: Option<u64>) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    for interval in intervals {
        if interval.doing & doing::RUNNING != 0 {
            stretches.push(Stretch {
                from_ns: interval.from_ns,
                to_ns: interval.to_ns,
                what: AtRequest::OnCpu,
            });
            continue;
        }
        let (blocked_ns, _) = split(interval);
        let ready_ns = interval.from_ns + blocked_ns;
        if blocked_ns > 0 {
            stretches.push(Stretch {
                from_ns: interval.from_ns,
                to_ns: ready_ns,
                what: AtRequest::InSyscall,
            });
        }
        if ready_ns < interval.to_ns {
            stretches.push(Stretch {
                from_ns: ready_ns,
                to_ns: interval.to_ns,
                what: AtRequest::WaitingForCpu,
            });
        }
    }
    // What it did after its last change: it had just got the CPU, or had just left it.
    if let (Some(last), Some(to_ns)) = (intervals.last(), to_ns)
        && last.to_ns < to_ns
    {
        let what = if last.doing & doing::RUNNING == 0 {
            AtRequest::OnCpu
        } else if last.doing & doing::PREEMPTED != 0 {
            AtRequest::WaitingForCpu
        } else {
            AtRequest::InSyscall
        };
        stretches.push(Stretch { from_ns: last.to_ns, to_ns, what });
    }
    stretches
}

/// Faults go before everything else; what no stretch covers is unknown, unless the thread is known to have run.
fn budget(
    stretches: &[Stretch],
    in_faults: &mut [(u64, u64)],
    (from_ns, to_ns): (u64, u64),
    ran: bool,
) -> StoppingBudget {
    let clip = |(begin, end): (u64, u64)| (begin.clamp(from_ns, to_ns), end.clamp(from_ns, to_ns));
    for fault in in_faults.iter_mut() {
        *fault = clip(*fault);
    }
    let fault_ns = union_length(in_faults);
    let mut budget = StoppingBudget { fault_ns, ..StoppingBudget::default() };
    for stretch in stretches {
        let (begin, end) = clip((stretch.from_ns, stretch.to_ns));
        let mut both: Vec<(u64, u64)> = in_faults.to_vec();
        both.push((begin, end));
        let outside_faults_ns = union_length(&mut both) - fault_ns;
        match stretch.what {
            AtRequest::OnCpu | AtRequest::InFault => budget.on_cpu_ns += outside_faults_ns,
            AtRequest::WaitingForCpu => budget.waiting_for_cpu_ns += outside_faults_ns,
            AtRequest::InSyscall => budget.blocked_ns += outside_faults_ns,
        }
    }
    let rest_ns = (to_ns - from_ns).saturating_sub(budget.sum_ns());
    if ran && stretches.is_empty() {
        budget.on_cpu_ns += rest_ns;
    } else {
        budget.unknown_ns += rest_ns;
    }
    budget
}

/// The driver waited for nobody that is known: how it spent the phase itself.
fn of_the_driver(
    intervals: &[&IntervalRecord],
    faults: &[(u64, u64)],
    phase: (u64, u64),
    all_kept: bool,
) -> StoppingBudget {
    let off: Vec<Stretch> =
        stretches(intervals, None).into_iter().filter(|stretch| stretch.what != AtRequest::OnCpu).collect();
    let mut in_faults = faults.to_vec();
    let mut budget = budget(&off, &mut in_faults, phase, false);
    if all_kept {
        // Where nothing was seen it ran.
        budget.on_cpu_ns += std::mem::take(&mut budget.unknown_ns);
    }
    budget
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pause::Kind;
    use bytemuck::Zeroable as _;

    const DRIVER: u32 = 1;
    const MUTATOR: u32 = 2;
    const PHASE: (u64, u64) = (1000, 2000);

    fn all(intervals: &[IntervalRecord]) -> Told<'_> {
        Told { intervals, all_kept: true, workers: &[] }
    }

    fn interval(tid: u32, bits: u32, (from_ns, woken_ns, to_ns): (u64, u64, u64)) -> IntervalRecord {
        IntervalRecord { tid, doing: bits, from_ns, woken_ns, to_ns, ..IntervalRecord::zeroed() }
    }

    #[test]
    fn a_mutator_in_a_fault_is_the_last_to_stop() {
        let mut in_fault = interval(MUTATOR, doing::BLOCKED, (900, 1700, 1750));
        in_fault.fault_begin_ns = 880;
        let woken =
            IntervalRecord { woken_by: MUTATOR, ..interval(DRIVER, doing::BLOCKED, (1010, 1900, 1980)) };
        let fault = FaultSpan { tid: MUTATOR, begin_ns: 880, end_ns: 1800, kind: Kind::Userfault, stack: 7 };
        let phase = stopping(PHASE, DRIVER, all(&[in_fault, woken]), &[fault], &[]);
        assert_eq!((phase.ns, phase.last), (1000, Some(MUTATOR)));
        assert_eq!(
            phase.budget,
            StoppingBudget { fault_ns: 800, on_cpu_ns: 200, ..StoppingBudget::default() }
        );
        let thread = &phase.threads[0];
        assert_eq!(
            (thread.at_request, thread.since_ns, thread.user_stack),
            (AtRequest::InFault, Some(120), 7)
        );
    }

    #[test]
    fn a_thread_that_ran_on_shows_by_the_wake_up_alone() {
        let woken =
            IntervalRecord { woken_by: MUTATOR, ..interval(DRIVER, doing::BLOCKED, (1010, 1900, 1980)) };
        let phase = stopping(PHASE, DRIVER, all(&[woken]), &[], &[]);
        assert_eq!(phase.last, Some(MUTATOR));
        assert_eq!(phase.budget, StoppingBudget { on_cpu_ns: 1000, ..StoppingBudget::default() });
        assert_eq!((phase.threads[0].at_request, phase.threads[0].since_ns), (AtRequest::OnCpu, None));
    }

    #[test]
    fn waiting_for_a_cpu_is_told_from_being_blocked() {
        let late = interval(MUTATOR, doing::BLOCKED, (400, 1100, 1600));
        let parked = interval(MUTATOR, doing::RUNNING | doing::BLOCKED, (1600, 0, 1900));
        let phase = stopping(PHASE, DRIVER, all(&[late, parked]), &[], &[]);
        let expected = StoppingBudget {
            blocked_ns: 200,
            waiting_for_cpu_ns: 500,
            on_cpu_ns: 300,
            ..StoppingBudget::default()
        };
        assert_eq!((phase.last, phase.budget), (Some(MUTATOR), expected));
        assert_eq!(
            (phase.threads[0].at_request, phase.threads[0].since_ns),
            (AtRequest::InSyscall, Some(600))
        );
    }

    #[test]
    fn a_driver_that_waits_for_nobody_accounts_for_itself() {
        let preempted = interval(DRIVER, doing::PREEMPTED, (1200, 0, 1500));
        let phase = stopping(PHASE, DRIVER, all(&[preempted]), &[], &[(1600, 1700)]);
        assert_eq!((phase.last, phase.threads.len()), (None, 0));
        let expected = StoppingBudget {
            fault_ns: 100,
            waiting_for_cpu_ns: 300,
            on_cpu_ns: 600,
            ..StoppingBudget::default()
        };
        assert_eq!(phase.budget, expected);
    }

    /// A thread that loses its CPU every so often: the kernel side stops telling of it after so many changes.
    #[test]
    fn what_was_not_told_of_any_more_is_unknown() {
        let changes = |count: u32| -> Vec<IntervalRecord> {
            let change = |n: u32| {
                let from_ns = 1000 + u64::from(n) * 10;
                let bits =
                    if n.is_multiple_of(2) { doing::RUNNING | doing::PREEMPTED } else { doing::PREEMPTED };
                interval(MUTATOR, bits, (from_ns, 0, from_ns + 10))
            };
            (0..count).map(change).collect()
        };
        let half = StoppingBudget { on_cpu_ns: 160, waiting_for_cpu_ns: 160, ..StoppingBudget::default() };
        let few = changes(INTERVALS_OF_OTHERS - 2);
        let told = stopping(PHASE, DRIVER, all(&few), &[], &[]).threads[0].budget;
        assert_eq!((told.on_cpu_ns, told.waiting_for_cpu_ns, told.unknown_ns), (850, 150, 0));
        let many = changes(INTERVALS_OF_OTHERS);
        let cut = stopping(PHASE, DRIVER, all(&many), &[], &[]);
        assert_eq!(cut.threads[0].budget, StoppingBudget { unknown_ns: 680, ..half });
        let of_worker = WorkerRecord { tid: MUTATOR, ..WorkerRecord::zeroed() };
        let told = Told { workers: &[of_worker], ..all(&many) };
        assert_eq!(stopping(PHASE, DRIVER, told, &[], &[]).threads[0].budget.unknown_ns, 0);
        let not_kept = Told { all_kept: false, ..all(&few) };
        assert_eq!(stopping(PHASE, DRIVER, not_kept, &[], &[]).threads[0].budget.unknown_ns, 700);
        let own = [interval(DRIVER, doing::PREEMPTED, (1200, 0, 1500))];
        let not_kept = Told { all_kept: false, ..all(&own) };
        let budget = stopping(PHASE, DRIVER, not_kept, &[], &[]).budget;
        assert_eq!((budget.waiting_for_cpu_ns, budget.on_cpu_ns, budget.unknown_ns), (300, 0, 700));
    }

    #[test]
    fn parts_add_up_for_odd_input_too() {
        let odd = [
            interval(MUTATOR, doing::RUNNING, (0, 0, 1500)),
            interval(MUTATOR, doing::BLOCKED, (1400, 9000, 1450)),
            interval(3, doing::PREEMPTED, (5000, 0, 6000)),
        ];
        let phase = stopping(PHASE, DRIVER, all(&odd), &[], &[]);
        assert!(phase.threads.iter().all(|thread| thread.budget.sum_ns() >= 1000), "{phase:?}");
        assert_eq!(stopping((5, 5), DRIVER, all(&[]), &[], &[]).budget, StoppingBudget::default());
    }
}
