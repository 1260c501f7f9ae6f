//! The rule that the pause's driver waited for its workers: then what they did is why the pause was long.

use crate::report::model::{BudgetPart, Diagnosis, Kind, Pause, Region, Worker};
use crate::report::units;

use super::basis::{Basis, Scope};
use super::code_path;
use super::finding::Finding;
use super::kind_rule;
use super::kinds::KIND_RULES;
use super::remedy::{self, Remedy, for_all};
use super::split;
use super::thresholds::{MOST_PERCENT, NOTABLE_PERCENT, at_least};

/// The rule's stable name.
pub(super) const NAME: &str = "waited_for_workers";

/// How many workers are listed.
const MOST_WORKERS: usize = 4;

/// How many parts of a worker's budget are named.
const MOST_PARTS: usize = 4;

/// How many kinds of fault and places are named.
const MOST_KINDS: usize = 3;

/// The collector's own work.
const RUNNING: [Remedy; 3] = [
    for_all(
        "the work grows with what the collector has to follow: objects that are alive, roots, references between \
         generations. Fewer or longer-lived objects, or a heap with more room, mean less of it",
    ),
    for_all(
        "if CPUs are idle meanwhile, more workers share the work (HotSpot: -XX:ParallelGCThreads); if the workers are \
         more than the CPUs, fewer do it sooner",
    ),
    for_all("see what they compute: `perf record -g -t TID` of a worker"),
];

/// Workers without a CPU.
const NO_CPU: [Remedy; 3] = [
    for_all(
        "there are more threads that want to run than CPUs: give the service CPUs of its own (cpuset.cpus) or more weight \
         (cpu.weight), or move the neighbours away",
    ),
    for_all(
        "no more workers than CPUs, and than the CPU quota allows (HotSpot: -XX:ParallelGCThreads, \
         -XX:ActiveProcessorCount): the slowest one decides when the pause ends",
    ),
    for_all("watch nr_throttled and throttled_usec (cgroup v1: throttled_time) in the cgroup's cpu.stat"),
];

/// Workers that wait for each other or for something else.
const BLOCKED: [Remedy; 1] = [for_all(
    "the workers wait for each other or for a lock of the runtime: uneven work (one large structure that one worker has to \
     follow alone) does that, and a lock whose owner has no CPU or is in a page fault",
)];

/// What workers can do, in the order in which the first of equals is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    InFaults,
    WaitingForCpu,
    OnCpu,
    Blocked,
}

/// What the workers' time after all went to, added up over those that worked, without what they were idle.
fn did(pause: &Pause) -> Option<(Did, u64, u64)> {
    let sum = |of: &dyn Fn(&BudgetPart) -> bool| {
        let parts = working(pause).flat_map(|worker| worker.budget.parts());
        parts.filter(|part| of(part)).fold(0_u64, |sum, part| sum.saturating_add(part.ns))
    };
    let sums = [
        (Did::InFaults, sum(&|part| part.is_in_faults() && part.name != "fault_waiting_for_cpu")),
        (Did::WaitingForCpu, sum(&|part| part.name.ends_with("waiting_for_cpu"))),
        (Did::OnCpu, sum(&|part| ["on_cpu", "reclaiming", "compacting"].contains(&part.name))),
        (Did::Blocked, 0),
    ];
    let whole_ns = sums.iter().fold(0_u64, |sum, (_, ns)| sum.saturating_add(*ns));
    let (most, ns) = sums.into_iter().reduce(|most, next| if next.1 > most.1 { next } else { most })?;
    if whole_ns == 0 { Some((Did::Blocked, 0, 0)) } else { Some((most, ns, whole_ns)) }
}

fn working(pause: &Pause) -> impl Iterator<Item = &Worker> {
    pause.workers.iter().filter(|worker| worker.worked())
}

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let waited = split::waited_for_workers(basis);
    let scope = basis.scope(waited.worst_ns, waited.all_ns)?;
    let pause = basis.worst;
    let mut workers: Vec<&Worker> = working(pause).collect();
    workers.sort_by_key(|worker| std::cmp::Reverse(worker.busy_ns()));
    let mut what = match (scope, workers.len()) {
        (Scope::Worst, 1) => "was spent waiting for its worker".to_owned(),
        (Scope::Worst, n) if n > 1 => format!("was spent waiting for its {n} workers"),
        _ => "was spent waiting for workers".to_owned(),
    };
    if let (Scope::Worst, Some(busiest)) = (scope, workers.first()) {
        let which = if workers.len() > 1 { "the busiest of which, " } else { "" };
        what.push_str(&format!(", {which}{}, was {}", name(busiest), shares(basis, busiest)));
    }
    let mut evidence = vec![basis.worst_in_words()];
    evidence.extend(workers.iter().take(MOST_WORKERS).map(|worker| in_words(worker)));
    if workers.len() > MOST_WORKERS {
        evidence.push(format!("… and {} more", workers.len() - MOST_WORKERS));
    }
    evidence.extend(faults(basis));
    if pause.waited_for_workers.is_some_and(|waited| waited.at_least) {
        evidence.push(
            "more was seen of the workers than is kept: the driver waited at least so long for them"
                .to_owned(),
        );
    }
    evidence.push(format!("{} it was {}", basis.in_all(), basis.of_all(waited.all_ns)));
    evidence.extend(basis.reservations());
    Some(Finding {
        scope,
        ns: waited.of(scope),
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding: basis.sentence(scope, waited.worst_ns, waited.all_ns, &what),
            evidence,
            remedies: remedies(basis),
        },
    })
}

fn name(worker: &Worker) -> String {
    match &worker.name {
        Some(name) => format!("thread {} ({name})", worker.tid),
        None => format!("thread {}", worker.tid),
    }
}

/// What a worker's time consists of: faults together, what is outside them part by part, longest first.
fn spent(worker: &Worker) -> Vec<(u64, &'static str)> {
    let parts = worker.budget.parts();
    let in_faults = parts.iter().filter(|part| part.is_in_faults());
    let in_faults_ns = in_faults.fold(0_u64, |sum, part| sum.saturating_add(part.ns));
    let mut spent: Vec<(u64, &str)> =
        parts.iter().filter(|part| !part.is_in_faults()).map(|part| (part.ns, part.words)).collect();
    spent.push((in_faults_ns, "in faults"));
    spent.retain(|(ns, _)| *ns > 0);
    spent.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
    spent
}

/// `on CPU for 40.0 % of the pause, waiting for a CPU for 45.0 %, in faults for 10.0 %`.
fn shares(basis: &Basis<'_>, worker: &Worker) -> String {
    let spent = spent(worker);
    let words = spent.iter().take(MOST_PARTS).enumerate().map(|(index, (ns, words))| {
        let of = if index == 0 { format!(" of the {}", basis.unit().one()) } else { String::new() };
        format!("{words} for {}{of}", units::share(*ns, basis.worst_ns))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// `thread 7 (GC Thread#0): 5.10 ms on CPU, 2.00 ms in faults (12 faults)`.
fn in_words(worker: &Worker) -> String {
    let words = spent(worker).into_iter().take(MOST_PARTS).map(|(ns, words)| {
        let faults = if words == "in faults" {
            format!(" ({})", units::counted(worker.faults, "fault", "faults"))
        } else {
            String::new()
        };
        format!("{} {words}{faults}", units::duration(ns))
    });
    format!("{}: {}", name(worker), words.collect::<Vec<_>>().join(", "))
}

/// Which faults the workers had, where, and how much of the wait that was.
fn faults(basis: &Basis<'_>) -> Vec<String> {
    let pause = basis.worst;
    let mut lines = Vec::new();
    if let Some(waited) = pause.waited_for_workers.filter(|waited| waited.in_their_faults_ns > 0) {
        lines.push(format!(
            "{} passed while the driver waited and a worker was in a page fault",
            basis.of_worst(waited.in_their_faults_ns)
        ));
    }
    let Some(faults) = &pause.worker_faults else { return lines };
    let mut kinds: Vec<_> = faults.by_kind.iter().collect();
    kinds.sort_by_key(|(_, total)| std::cmp::Reverse(total.ns));
    lines.extend(kinds.into_iter().take(MOST_KINDS).map(|(kind, total)| {
        format!(
            "the workers took {} of kind {}, {} summed over threads",
            units::counted(total.count, "fault", "faults"),
            kind.word(),
            units::duration(total.ns)
        )
    }));
    let places =
        faults.places.iter().filter(|place| at_least(place.total.ns, NOTABLE_PERCENT, faults.sum_ns));
    lines.extend(places.take(MOST_KINDS).map(|place| {
        format!(
            "{} of these took {} in {}: {}",
            units::counted(place.total.count, "fault", "faults"),
            units::duration(place.total.ns),
            place.region.words(),
            place.what
        )
    }));
    if let Some(kind) = main_kind(pause)
        && let Some(place) = code_path::place_in(&faults.stacks, kind, faults.sum_ns)
    {
        lines.push(format!("most of their time in faults was {}", place.words));
    }
    lines
}

/// The kind of fault that took most of the workers' time in faults.
fn main_kind(pause: &Pause) -> Option<Kind> {
    let faults = pause.worker_faults.as_ref()?;
    let (kind, total) = faults.by_kind.iter().max_by_key(|(_, total)| total.ns)?;
    at_least(total.ns, MOST_PERCENT, faults.sum_ns).then_some(*kind)
}

/// The region that took most of the workers' time in faults, when one did.
fn main_region(pause: &Pause) -> Option<Region> {
    let faults = pause.worker_faults.as_ref()?;
    let (region, total) = faults.by_region.iter().max_by_key(|(_, total)| total.ns)?;
    (*region != Region::Unknown && total.ns > faults.sum_ns / 2).then_some(*region)
}

/// What helps against that which took most of the workers' time, and against their faults where these are notable.
fn remedies(basis: &Basis<'_>) -> Vec<String> {
    let Some((did, _, whole_ns)) = did(basis.worst) else { return Vec::new() };
    let own = match did {
        Did::InFaults => &[][..],
        Did::WaitingForCpu => &NO_CPU[..],
        Did::OnCpu => &RUNNING[..],
        Did::Blocked => &BLOCKED[..],
    };
    let in_faults_ns = basis.worst.worker_faults.as_ref().map_or(0, |faults| faults.sum_ns);
    let of_faults = main_kind(basis.worst)
        .filter(|_| did == Did::InFaults || at_least(in_faults_ns, NOTABLE_PERCENT, whole_ns))
        .and_then(|kind| KIND_RULES.iter().find(|rule| rule.kind == kind))
        .map_or_else(Vec::new, |rule| kind_rule::remedies_on(rule, main_region(basis.worst), basis));
    let mut remedies = remedy::applying(own, basis.report);
    remedies.extend(of_faults);
    remedies
}
