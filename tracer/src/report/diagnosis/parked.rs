//! The rule that a call's goroutine was on no thread for most of its time: it waited for something that Go's scheduler
//! knows, or for its turn.

use crate::report::model::{Diagnosis, Pause};
use crate::report::units;

use super::basis::{Basis, Scope};
use super::finding::Finding;
use super::remedy::{self, Remedy, for_go};
use super::split;

/// The rule's stable name.
pub(super) const NAME: &str = "goroutine_parked_during_call";

const REMEDIES: [Remedy; 4] = [
    for_go(
        "an execution trace (runtime/trace, `go tool trace`) shows for each goroutine what it waited for, who woke it, and \
         for how long it was ready to run before it ran",
    ),
    for_go(
        "the block profile (runtime.SetBlockProfileRate) says at which channels, locks and conditions goroutines wait, the \
         mutex profile (runtime.SetMutexProfileFraction) who held the locks",
    ),
    for_go(
        "GODEBUG=schedtrace=1000 prints the lengths of the run queues once a second: where they are long, goroutines wait \
         for their turn: more CPUs and GOMAXPROCS, or fewer goroutines that run at once",
    ),
    for_go(
        "a system call that takes longer than about 20 µs can lose its place (P) to another goroutine, and its goroutine \
         then waits for one: many long system calls at once (file reads above all) show as such waits",
    ),
];

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let parked = split::parked(basis);
    let scope = basis.scope(parked.worst_ns, parked.all_ns)?;
    let what = "passed while its goroutine was on no thread: it waited for a channel, a lock, a timer or the network, or \
                for its turn among the other goroutines";
    let what = match scope {
        Scope::Worst => what.to_owned(),
        Scope::Total => what
            .replace("its goroutine was", "their goroutines were")
            .replace("it waited", "they waited")
            .replace("its turn", "their turn"),
    };
    let mut evidence = vec![basis.worst_in_words()];
    evidence.extend(resumptions(basis.worst, parked.worst_ns));
    evidence.push(
        "waits in the run queue for a turn, and waits for a place (P) after a system call, are in it: which part they \
         are is not told"
            .to_owned(),
    );
    evidence.push(format!("{} it was {}", basis.in_all(), basis.of_all(parked.all_ns)));
    evidence.extend(basis.reservations());
    Some(Finding {
        scope,
        ns: parked.of(scope),
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding: basis.sentence(scope, parked.worst_ns, parked.all_ns, &what),
            evidence,
            remedies: remedy::applying(&REMEDIES, basis.report),
        },
    })
}

/// `its goroutine was put on a thread again 3 times, on several threads: it was on none for 4.00 ms at a time on average`.
fn resumptions(pause: &Pause, parked_ns: u64) -> Option<String> {
    let call = pause.call.filter(|call| call.resumptions > 0)?;
    let moved = if call.moved { ", on several threads" } else { "" };
    Some(format!(
        "its goroutine was put on a thread again {}{moved}: it was on none for {} at a time on average",
        units::counted(call.resumptions, "time", "times"),
        units::duration(parked_ns / call.resumptions),
    ))
}
