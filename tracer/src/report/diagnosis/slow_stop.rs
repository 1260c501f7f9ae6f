//! The rule that the world was slow to stop, and neither faults nor waiting for a CPU is why.

use crate::report::model::{AtRequest, Diagnosis, StoppingThread};
use crate::report::units;

use super::basis::{Basis, Scope};
use super::code_path;
use super::finding::Finding;
use super::remedy::{self, Remedy, for_all, for_go};
use super::stopping_fault;
use super::thresholds::{MOST_PERCENT, NOTABLE_PERCENT, at_least};

/// The rule's stable name.
pub(super) const NAME: &str = "slow_stop_without_faults";

/// When it is not known what the thread that stopped last was doing.
const UNSEEN: [Remedy; 3] = [
    for_all(
        "see whether the threads get CPU time: nr_throttled and throttled_usec in the cgroup's cpu.stat, cpu.pressure, \
         and steal time on a virtual machine. A thread that does not run can't stop either",
    ),
    for_all("look for code that runs long without reaching a safepoint"),
    for_go(
        "GOMAXPROCS above the cgroup's CPU quota makes throttling likely (the default follows the quota from Go \
         1.25 on); an execution trace (runtime/trace) shows which goroutine stopped last",
    ),
];

const RUNNING: [Remedy; 3] = [
    for_all(
        "find the code that runs so long without reaching a safepoint: `perf record -g -t TID` of that thread",
    ),
    for_go(
        "Go interrupts a goroutine with a signal, but not inside the runtime or in assembly: copying and clearing of large \
         objects, hashes and ciphers in assembly. Work in smaller pieces; see that GODEBUG=asyncpreemptoff=1 is not set",
    ),
    for_go("an execution trace (runtime/trace) shows which goroutine stopped last"),
];

const BLOCKED: [Remedy; 2] = [
    for_all("the kernel functions in the code path say what it was blocked on"),
    for_all(
        "a thread that the runtime waits for although it is blocked is in code of the runtime itself, or was not \
             known to be in a system call",
    ),
];

/// What kept the last thread, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Running,
    Blocked,
    Unseen,
}

/// The part of the worst pause's stopping that neither faults nor a wait for a CPU explain, the whole phase, and what it
/// was. The driver's own faults count as if all of them had been in the phase.
fn unexplained(basis: &Basis<'_>) -> Option<(u64, u64, Held)> {
    if stopping_fault::judged(basis).is_some() {
        return None;
    }
    let stopping_ns = basis.worst.stopping_ns?;
    let Some(stopping) = basis.worst.stopping.as_ref() else {
        // Of other threads only their faults are known.
        let unexplained_ns = stopping_ns.saturating_sub(basis.worst.explained_by_faults_ns);
        let speaks = at_least(stopping_ns, MOST_PERCENT, basis.worst_ns)
            && at_least(unexplained_ns, MOST_PERCENT, stopping_ns);
        return speaks.then_some((unexplained_ns, stopping_ns, Held::Unseen));
    };
    let budget = &stopping.budget;
    let parts = [
        (Held::Running, budget.on_cpu_ns),
        (Held::Blocked, budget.blocked_ns),
        (Held::Unseen, budget.unknown_ns),
    ];
    let sum_ns = parts.iter().fold(0_u64, |sum, (_, ns)| sum.saturating_add(*ns));
    let unexplained_ns = sum_ns.min(stopping_ns.saturating_sub(basis.worst.in_faults_ns));
    let (mut held, _) =
        parts.into_iter().find(|&(_, ns)| at_least(ns, MOST_PERCENT, sum_ns)).unwrap_or((Held::Unseen, 0));
    if stopping.last_tid.is_none_or(|tid| tid == basis.worst.driver_tid) {
        // What the driver did says nothing of whom it waited for.
        held = Held::Unseen;
    }
    at_least(unexplained_ns, NOTABLE_PERCENT, basis.worst_ns).then_some((unexplained_ns, stopping_ns, held))
}

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let (unexplained_ns, stopping_ns, held) = unexplained(basis)?;
    let took = format!(
        "The world took {} to stop in {}",
        units::duration_of(stopping_ns, basis.worst_ns),
        basis.worst_name()
    );
    let mut evidence = vec![basis.worst_in_words(), format!("stopping took {}", basis.of_worst(stopping_ns))];
    let finding = match &basis.worst.stopping {
        Some(stopping) => {
            let last = stopping.last_tid.filter(|&tid| tid != basis.worst.driver_tid);
            let spent = stopping.budget.in_words();
            evidence.push(match last {
                Some(tid) => {
                    format!("thread {tid} stopped last, as far as it can be told, and spent it {spent}")
                }
                None => format!(
                    "no other thread was seen to wake the one that asked for the stop, which spent it {spent}"
                ),
            });
            evidence
                .extend(stopping.threads.iter().filter(|thread| Some(thread.tid) == last).map(at_request));
            let unexplained = units::duration(unexplained_ns);
            match (held, last) {
                (Held::Running, Some(tid)) => format!(
                    "{took}: thread {tid}, which stopped last, ran for {unexplained} before it came to a point where \
                     it can stop."
                ),
                (Held::Blocked, Some(tid)) => format!(
                    "{took}: thread {tid}, which stopped last, was blocked in a system call for {}.",
                    units::duration(stopping.budget.blocked_ns)
                ),
                _ => {
                    format!(
                        "{took}, and neither page faults nor a wait for a CPU explain {unexplained} of that."
                    )
                }
            }
        }
        None => {
            evidence.push(format!("faults explain {}", basis.of_worst(basis.worst.explained_by_faults_ns)));
            format!(
                "{took}, and page faults explain at most {} of that.",
                units::duration(stopping_ns - unexplained_ns)
            )
        }
    };
    evidence.extend(basis.reservations());
    let remedies = match held {
        Held::Running => &RUNNING[..],
        Held::Blocked => &BLOCKED[..],
        Held::Unseen => &UNSEEN[..],
    };
    Some(Finding {
        scope: Scope::Worst,
        ns: unexplained_ns,
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding,
            evidence,
            remedies: remedy::applying(remedies, basis.report),
        },
    })
}

/// What the last thread was doing when the stop was requested, and in which code.
fn at_request(thread: &StoppingThread) -> String {
    let since = match thread.since_ns {
        Some(ns) => format!(", for {} already", units::duration(ns)),
        None => String::new(),
    };
    let what = match (thread.at_request, thread.blocked_on) {
        (AtRequest::InSyscall, Some(on)) => format!("blocked on {}", on.words()),
        (at_request, _) => at_request.words().to_owned(),
    };
    let place = match code_path::waiting(&thread.frames) {
        Some(function) => format!("; it left the CPU in {function}"),
        None => String::new(),
    };
    let name = thread.name.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
    format!("thread {}{name} was {what} when the stop was requested{since}{place}", thread.tid)
}
