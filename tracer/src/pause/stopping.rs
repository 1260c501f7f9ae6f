//! The stopping phase, requested → stopped, thread by thread: what each was doing when the stop was requested, how it
//! spent the phase, and which one stopped last.
//!
//! A thread is seen where it changes: it loses its CPU, gets it back, ends a fault. What it did between two changes
//! follows from the later one. A thread without a change in the window either ran all the time or was blocked all the
//! time; the first kind shows if it woke the driver.

use std::collections::BTreeMap;

use tracer_common::schedule::{IntervalRecord, doing};

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
    intervals: &[IntervalRecord],
    faults: &[FaultSpan],
    driver_faults: &[(u64, u64)],
) -> Stopping {
    let phase = (from_ns, to_ns);
    let (mut others, mut of_driver): (BTreeMap<u32, Seen<'_>>, Vec<&IntervalRecord>) = Default::default();
    for interval in intervals {
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
        .filter_map(|(tid, seen)| thread(tid, seen, phase, woke_last == Some(tid)))
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
        None => of_the_driver(&of_driver, driver_faults, phase),
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
) -> Option<StoppingThread> {
    seen.intervals.sort_by_key(|interval| interval.to_ns);
    seen.intervals.retain(|interval| interval.to_ns > from_ns);
    seen.faults.retain(|fault| fault.end_ns > from_ns && fault.begin_ns < to_ns);
    let stretches = stretches(&seen.intervals, (from_ns, to_ns));
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

/// The thread's time as its changes tell it, in order, from before the phase to its end.
fn stretches(intervals: &[&IntervalRecord], (_, to_ns): (u64, u64)) -> Vec<Stretch> {
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
    if let Some(last) = intervals.last()
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
fn of_the_driver(intervals: &[&IntervalRecord], faults: &[(u64, u64)], phase: (u64, u64)) -> StoppingBudget {
    let off: Vec<Stretch> =
        stretches(intervals, (0, 0)).into_iter().filter(|stretch| stretch.what != AtRequest::OnCpu).collect();
    let mut in_faults = faults.to_vec();
    let mut budget = budget(&off, &mut in_faults, phase, false);
    // Where nothing was seen it ran.
    budget.on_cpu_ns += std::mem::take(&mut budget.unknown_ns);
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
        let phase = stopping(PHASE, DRIVER, &[in_fault, woken], &[fault], &[]);
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
        let phase = stopping(PHASE, DRIVER, &[woken], &[], &[]);
        assert_eq!(phase.last, Some(MUTATOR));
        assert_eq!(phase.budget, StoppingBudget { on_cpu_ns: 1000, ..StoppingBudget::default() });
        assert_eq!((phase.threads[0].at_request, phase.threads[0].since_ns), (AtRequest::OnCpu, None));
    }

    #[test]
    fn waiting_for_a_cpu_is_told_from_being_blocked() {
        let late = interval(MUTATOR, doing::BLOCKED, (400, 1100, 1600));
        let parked = interval(MUTATOR, doing::RUNNING | doing::BLOCKED, (1600, 0, 1900));
        let phase = stopping(PHASE, DRIVER, &[late, parked], &[], &[]);
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
        let phase = stopping(PHASE, DRIVER, &[preempted], &[], &[(1600, 1700)]);
        assert_eq!((phase.last, phase.threads.len()), (None, 0));
        let expected = StoppingBudget {
            fault_ns: 100,
            waiting_for_cpu_ns: 300,
            on_cpu_ns: 600,
            ..StoppingBudget::default()
        };
        assert_eq!(phase.budget, expected);
    }

    #[test]
    fn parts_add_up_for_odd_input_too() {
        let odd = [
            interval(MUTATOR, doing::RUNNING, (0, 0, 1500)),
            interval(MUTATOR, doing::BLOCKED, (1400, 9000, 1450)),
            interval(3, doing::PREEMPTED, (5000, 0, 6000)),
        ];
        let phase = stopping(PHASE, DRIVER, &odd, &[], &[]);
        assert!(phase.threads.iter().all(|thread| thread.budget.sum_ns() >= 1000), "{phase:?}");
        assert_eq!(stopping((5, 5), DRIVER, &[], &[], &[]).budget, StoppingBudget::default());
    }
}
