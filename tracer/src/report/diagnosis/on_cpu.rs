//! The rule that the pause did its own work for most of its time: neither memory nor scheduling is why.

use crate::report::model::Diagnosis;
use crate::report::units;

use super::basis::{Basis, Scope};
use super::finding::Finding;
use super::remedy::{self, Remedy, for_all, for_go};
use super::split;
use super::thresholds::{MOST_PERCENT, at_least};

/// The rule's stable name.
pub(super) const NAME: &str = "on_cpu_during_pause";

const REMEDIES: [Remedy; 5] = [
    for_all("see what it computes: `perf record -g -p PID` while it runs").of_others(),
    for_go("a CPU profile (runtime/pprof, net/http/pprof) shows the function's callees; it is of all calls, not of the slow ones")
        .of_others(),
    for_all(
        "see what it computes: `perf record -g -p PID` while it runs, and look at the functions of the collector",
    )
    .of_pauses(),
    for_all(
        "the work of a pause grows with what it has to look at: threads, stacks, roots, caches of the allocator; the \
         CPU's frequency and its caches have a part in it",
    )
    .of_pauses(),
    for_go(
        "GODEBUG=gctrace=1 prints how long each phase of a collection took; a pause of some 10 to 100 µs is what Go's \
         collector needs, and grows with GOMAXPROCS and with finalizers and caches that it flushes",
    )
    .of_pauses(),
];

/// Of the worst pause only: what ordinary pauses are made of needs no mending.
pub(super) fn finding(basis: &Basis<'_>) -> Option<Finding> {
    let on_cpu_ns = split::on_cpu_ns(basis.worst)?;
    if !at_least(on_cpu_ns, MOST_PERCENT, basis.worst_ns) {
        return None;
    }
    let what = format!(
        "was the {}'s own work on a CPU: it waited neither for memory nor for a CPU meanwhile",
        basis.unit().one()
    );
    let mut evidence = vec![basis.worst_in_words()];
    if let Some(budget) = &basis.worst.budget {
        let others = budget.sum_ns().saturating_sub(budget.on_cpu_ns);
        evidence.push(format!("all else took {}", units::duration_of(others, basis.worst_ns)));
    }
    if basis.worst.tracing_ns > 0 {
        evidence.push(format!(
            "of the time on a CPU, {} went to pauselens's own work after each fault",
            units::duration(basis.worst.tracing_ns)
        ));
    }
    evidence.push(
        "interrupts are in it, and on a virtual machine the time that its host took away (steal time)"
            .to_owned(),
    );
    evidence.extend(basis.reservations());
    Some(Finding {
        scope: Scope::Worst,
        ns: on_cpu_ns,
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding: basis.sentence(Scope::Worst, on_cpu_ns, 0, &what),
            evidence,
            remedies: remedy::applying(&REMEDIES, basis.report),
        },
    })
}
