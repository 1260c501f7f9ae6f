//! The rules that the pause waited for a CPU: a quota that was used up, or somebody else who had the CPU.

use crate::report::model::{Budget, CpuWaits, Diagnosis, Neighbour, Throttling, Unit};
use crate::report::units;

use super::basis::{Basis, Scope};
use super::finding::Finding;
use super::remedy::{self, Remedy, for_all, for_go};
use super::split;
use super::thresholds::{MOST_PERCENT, at_least};

/// The rule's stable name when a quota was used up.
pub(super) const THROTTLED: &str = "cpu_throttled_during_pause";

/// The rule's stable name when it was not.
pub(super) const BUSY: &str = "cpu_busy_during_pause";

/// How many neighbours are named.
const MOST_NEIGHBOURS: usize = 3;

const THROTTLED_REMEDIES: [Remedy; 5] = [
    for_all(
        "raise the quota: cpu.max of the cgroup (cgroup v1: cpu.cfs_quota_us; systemd: CPUQuota=; Kubernetes: \
         resources.limits.cpu), or take it away and share by cpu.weight, which throttles nobody on an idle host",
    ),
    for_all(
        "a longer period (the second number of cpu.max) lets a burst finish, and cpu.max.burst lends unused time to \
         one; the quota as a share stays the same",
    ),
    for_go(
        "GOMAXPROCS above the quota lets the collector's workers use it up within a part of the period, and the {pause} \
         then waits for the next: set it to the quota, rounded up (from Go 1.25 on the default follows the quota)",
    ),
    for_all("run fewer threads at once than the quota has CPUs: all of the cgroup's threads share it"),
    for_all("watch nr_throttled and throttled_usec (cgroup v1: throttled_time) in the cgroup's cpu.stat"),
];

const BUSY_REMEDIES: [Remedy; 5] = [
    for_all(
        "give the service CPUs of its own (cpuset.cpus, taskset) or the neighbours other ones; a thread that is \
         pinned waits for its CPU even if others are idle",
    ),
    for_all(
        "give it more weight: cpu.weight of its cgroup (systemd: CPUWeight=), a lower nice value; real-time threads \
         (SCHED_FIFO) go before any of these",
    ),
    for_all("less load: cpu.pressure of the host and of the cgroup say how much waiting there is in all"),
    for_all(
        "on a virtual machine see its steal time (the st column of vmstat 1): the host may be short of CPUs",
    ),
    for_go(
        "threads of the program itself compete as well: GOMAXPROCS above the number of CPUs gains nothing",
    ),
];

pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let waiting = split::waiting_for_cpu(basis);
    let scope = basis.scope(waiting.worst_ns, waiting.all_ns)?;
    let throttling = match scope {
        Scope::Worst => basis.worst.throttling.as_ref(),
        Scope::Total => basis.report.summary.throttling.as_ref(),
    };
    let explains = throttling.filter(|throttling| explains(throttling, waiting.of(scope)));
    let mut what = match scope {
        // The driver did not wait so long itself.
        Scope::Worst if split::last_waiting_for_cpu(basis).worst_ns > driver_ns(basis) => {
            "passed while the thread that stopped last waited for a CPU".to_owned()
        }
        _ => "was spent waiting for a CPU".to_owned(),
    };
    if explains.is_some() {
        what.push_str(", and around that time the CPU quota of its cgroup was used up");
    } else if scope == Scope::Worst
        && let Some(neighbour) =
            basis.worst.cpu_waits.as_ref().and_then(|waits| main_neighbour(waits, waiting.worst_ns))
    {
        what.push_str(&format!(", which {} had before", neighbour_in_words(neighbour)));
    }
    let mut evidence = vec![basis.worst_in_words()];
    evidence.extend(driver(basis));
    evidence.extend(last_to_stop(basis));
    if let Some(throttling) = throttling {
        evidence.push(throttling_in_words(throttling, explains.is_some(), basis.unit()));
    }
    if let Some(waits) = &basis.worst.cpu_waits {
        evidence.extend(neighbours(waits));
    }
    evidence.push(format!("{} it was {}", basis.in_all(), basis.of_all(waiting.all_ns)));
    evidence.extend(basis.reservations());
    let (rule, remedies) = match explains {
        Some(_) => (THROTTLED, &THROTTLED_REMEDIES),
        None => (BUSY, &BUSY_REMEDIES),
    };
    Some(Finding {
        scope,
        ns: waiting.of(scope),
        diagnosis: Diagnosis {
            rule: rule.to_owned(),
            finding: basis.sentence(scope, waiting.worst_ns, waiting.all_ns, &what),
            evidence,
            remedies: remedy::applying(remedies, basis.report),
        },
    })
}

/// Whether the throttling is long enough to be most of the waiting. Its length is counted when it ends, so that a
/// throttling without one is not held against it.
fn explains(throttling: &Throttling, waiting_ns: u64) -> bool {
    if throttling.ns == 0 { throttling.times > 0 } else { at_least(throttling.ns, MOST_PERCENT, waiting_ns) }
}

fn throttling_in_words(throttling: &Throttling, explains: bool, unit: Unit) -> String {
    let reservation = if explains {
        format!("which is of that time, not of the {} alone", unit.one())
    } else {
        "too little to be the cause".to_owned()
    };
    format!(
        "cgroup {} was throttled {}, {} summed over CPUs, between two readings {} apart: {reservation}",
        throttling.cgroup,
        units::counted(throttling.times, "time", "times"),
        units::duration(throttling.ns),
        units::duration(throttling.over_ns),
    )
}

fn driver_ns(basis: &Basis<'_>) -> u64 {
    basis.worst.budget.as_ref().map_or(0, Budget::all_waiting_for_cpu_ns)
}

/// The driver's own waits.
fn driver(basis: &Basis<'_>) -> Option<String> {
    let budget = basis.worst.budget.as_ref()?;
    let mut text = format!(
        "{} waited {} for a CPU, {} of that inside page faults",
        basis.unit().driver(),
        units::duration(budget.all_waiting_for_cpu_ns()),
        units::duration(budget.fault_waiting_for_cpu_ns),
    );
    if let Some(waits) = &basis.worst.cpu_waits {
        text.push_str(&format!(
            "; {}, the longest {}",
            units::counted(waits.count, "wait", "waits"),
            units::duration(waits.longest_ns)
        ));
    }
    Some(text)
}

/// The wait of the thread that stopped last, when it is what counts.
fn last_to_stop(basis: &Basis<'_>) -> Option<String> {
    let waited_ns = split::last_waiting_for_cpu(basis).worst_ns;
    let stopping = basis.worst.stopping.as_ref()?;
    let tid = stopping.last_tid.filter(|&tid| tid != basis.worst.driver_tid)?;
    (waited_ns > 0).then(|| {
        format!(
            "thread {tid}, which stopped last, waited {} for a CPU while the world was stopping",
            units::duration_of(waited_ns, stopping.ns)
        )
    })
}

/// The one that had the CPU for most of the time waited.
fn main_neighbour(waits: &CpuWaits, waited_ns: u64) -> Option<&Neighbour> {
    let most = waits.after.iter().max_by_key(|neighbour| neighbour.ns)?;
    at_least(most.ns, MOST_PERCENT, waits.ns.max(waited_ns)).then_some(most)
}

fn neighbour_in_words(neighbour: &Neighbour) -> String {
    let whose = if neighbour.of_target { " of the program itself" } else { "" };
    format!("thread {} ({}){whose}", neighbour.tid, neighbour.name)
}

fn neighbours(waits: &CpuWaits) -> Vec<String> {
    let mut lines: Vec<String> = waits
        .after
        .iter()
        .take(MOST_NEIGHBOURS)
        .map(|neighbour| {
            format!(
                "before {} of its waits ended, the CPU was with {}: {}",
                units::count(neighbour.count),
                neighbour_in_words(neighbour),
                units::duration(neighbour.ns)
            )
        })
        .collect();
    let named_ns = waits.after.iter().fold(0_u64, |sum, neighbour| sum.saturating_add(neighbour.ns));
    let rest_ns = waits.ns.saturating_sub(named_ns);
    if at_least(rest_ns, MOST_PERCENT, waits.ns) {
        lines.push(format!(
            "for {} no thread was seen on the CPU before: it was idle, or not there (throttling, a host that is short \
             of CPUs)",
            units::duration_of(rest_ns, waits.ns)
        ));
    }
    lines
}
