//! The rule that the pause's driver was blocked outside faults, once the world had stopped.

use std::collections::BTreeMap;

use crate::report::model::{Blocked, BlockedOn, Budget, Diagnosis, Pause, Unit};
use crate::report::units;

use super::basis::{Basis, Scope};
use super::code_path;
use super::finding::Finding;
use super::remedy::{self, Remedy, for_all, for_go};
use super::split;
use super::thresholds::{MOST_PERCENT, at_least};

/// The rule's stable name.
pub(super) const NAME: &str = "blocked_during_pause";

/// How many places are listed.
const MOST_PLACES: usize = 3;

const FUTEX: [Remedy; 3] = [
    for_all(
        "find who held the lock: the code path says which one it is, and the thread that ended the wait is the one that \
         gave it free. A lock that is held while its owner is paused, without a CPU or in a page fault holds up everybody",
    ),
    for_all(
        "keep what the {pause} needs out of locks that other threads hold long: an allocator, a log, a table of threads",
    ),
    for_go(
        "an execution trace (runtime/trace) shows what the runtime waited for; a callback into C (cgo) can bring locks \
         of a C library along",
    ),
];

const IO: [Remedy; 2] = [
    for_all(
        "the {pause} itself reads or writes, outside page faults: find the call in the code path (a log, a dump, a \
         profile) and move it out of the {pause}",
    ),
    for_all("or make it cheap: a tmpfs instead of a disk, a buffer that is written later"),
];

const SLEEP: [Remedy; 1] =
    [for_all("the {pause} sleeps or waits for a timer: the code path says where; back-off loops do that")];

const POLL: [Remedy; 1] = [for_all(
    "the {pause} waits for a descriptor: for another process, or a network. What answers there is what it waits for",
)];

const LOCK: [Remedy; 2] = [
    for_all(
        "a lock in the kernel, often that of the process's memory map (mmap_lock): other threads that map, unmap or \
         protect memory, and tools that read /proc/PID/smaps or maps, hold it. Do less of that, or not at once",
    ),
    for_all("`perf lock contention -p PID` names the lock and its holders"),
];

const OTHER: [Remedy; 1] = [for_all(
    "the kernel functions in the code path say what it waited for; `offcputime-bpfcc -p PID` adds them up",
)];

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let blocked = split::blocked(basis);
    let waited_for_workers_ns = split::waited_for_workers(basis).worst_ns;
    let scope = basis.scope(blocked.worst_ns, blocked.all_ns)?;
    let on = match scope {
        Scope::Worst => main_cause(basis.worst),
        Scope::Total => basis.report.summary.budget.as_ref().and_then(by_budget),
    };
    let mut what = "was spent blocked outside page faults".to_owned();
    match on {
        Some(BlockedOn::Unknown) => what.push_str(", unknown on what"),
        Some(on) => what.push_str(&format!(", mostly on {}", on.words())),
        None => {}
    }
    if scope == Scope::Worst
        && let Some(function) = function(basis.worst)
    {
        what.push_str(&format!(", in {function}"));
    }
    let mut evidence = vec![basis.worst_in_words()];
    evidence.extend(parts(basis));
    if waited_for_workers_ns > 0 {
        evidence.push(format!(
            "of its time blocked, {} in which its workers worked are not counted",
            units::duration(waited_for_workers_ns)
        ));
    }
    if let Some(stopping_ns) = basis.worst.stopping_ns.filter(|&ns| ns > 0) {
        evidence.push(format!(
            "of its time blocked, {} that the world took to stop are not counted: it waits for other threads then",
            units::duration(stopping_ns)
        ));
    }
    evidence.extend(basis.worst.blocked.iter().take(MOST_PLACES).map(place));
    evidence.push(format!("{} it was {}", basis.in_all(), basis.of_all(blocked.all_ns)));
    evidence.extend(basis.reservations());
    let remedies = on.map_or(&OTHER[..], remedies);
    Some(Finding {
        scope,
        ns: blocked.of(scope),
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding: basis.sentence(scope, blocked.worst_ns, blocked.all_ns, &what),
            evidence,
            remedies: remedy::applying(remedies, basis.report),
        },
    })
}

fn remedies(on: BlockedOn) -> &'static [Remedy] {
    match on {
        BlockedOn::Futex => &FUTEX,
        BlockedOn::Io => &IO,
        BlockedOn::Sleep => &SLEEP,
        BlockedOn::Poll => &POLL,
        BlockedOn::Lock => &LOCK,
        BlockedOn::Userfault | BlockedOn::Other | BlockedOn::Unknown => &OTHER,
    }
}

/// What the driver was blocked on for most of its blocked time, by its places where they are kept, else by its budget.
fn main_cause(pause: &Pause) -> Option<BlockedOn> {
    let budget = pause.budget.as_ref()?;
    let mut sums: BTreeMap<BlockedOn, u64> = BTreeMap::new();
    for blocked in &pause.blocked {
        let sum = sums.entry(blocked.on).or_default();
        *sum = sum.saturating_add(blocked.ns);
    }
    let most = sums.into_iter().max_by_key(|&(_, ns)| ns);
    most.filter(|&(_, ns)| at_least(ns, MOST_PERCENT, split::blocked_ns(budget)))
        .map(|(on, _)| on)
        .or_else(|| by_budget(budget))
}

fn by_budget(budget: &Budget) -> Option<BlockedOn> {
    let parts = [
        (BlockedOn::Futex, budget.blocked_futex_ns),
        (BlockedOn::Io, budget.blocked_io_ns),
        (BlockedOn::Other, budget.blocked_other_ns),
        (BlockedOn::Unknown, budget.blocked_unknown_ns),
    ];
    let whole_ns = split::blocked_ns(budget);
    parts.into_iter().find(|&(_, ns)| at_least(ns, MOST_PERCENT, whole_ns)).map(|(on, _)| on)
}

/// `of its time outside faults 28.0 ms were blocked on a futex, 1.00 ms blocked on I/O`.
fn parts(basis: &Basis<'_>) -> Option<String> {
    let budget = basis.worst.budget.as_ref()?;
    let parts: Vec<String> = budget
        .parts()
        .into_iter()
        .filter(|part| part.ns > 0 && part.name.starts_with("blocked_"))
        .map(|part| format!("{} {}", units::duration(part.ns), part.words))
        .collect();
    (!parts.is_empty()).then(|| format!("outside faults, {} was {}", driver(basis.unit()), parts.join(", ")))
}

fn driver(unit: Unit) -> &'static str {
    match unit {
        Unit::Pause => "its driver",
        Unit::Call | Unit::Window => unit.driver(),
    }
}

/// The function that waited in the place where most of the blocked time was, when one place holds most of it.
fn function(pause: &Pause) -> Option<&str> {
    let budget = pause.budget.as_ref()?;
    let most = pause.blocked.iter().max_by_key(|blocked| blocked.ns)?;
    at_least(most.ns, MOST_PERCENT, split::blocked_ns(budget)).then(|| code_path::waiting(&most.frames))?
}

fn place(blocked: &Blocked) -> String {
    let woken = match blocked.woken_by_tid {
        Some(tid) => format!(", the longest ended by thread {tid}"),
        None => String::new(),
    };
    let path = match blocked.frames.as_slice() {
        [] => "at an unknown place".to_owned(),
        frames => format!("in {}", frames.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(" ← ")),
    };
    format!(
        "{} on {} in {}{woken}: {path}",
        units::duration(blocked.ns),
        blocked.on.words(),
        units::counted(blocked.count, "wait", "waits"),
    )
}
