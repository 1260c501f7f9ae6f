//! The rule that nothing explains the worst pause: said plainly, so that nobody looks for a cause where there is none.

use crate::report::model::{Budget, Diagnosis};
use crate::report::units;

use super::basis::{Basis, Scope};
use super::finding::Finding;
use super::remedy::{self, Remedy, for_all, for_go};
use super::thresholds::{MOST_PERCENT, at_least};

/// The rule's stable name.
pub(super) const NAME: &str = "faults_explain_little";

const WITHOUT_BUDGET: [Remedy; 3] = [
    for_all(
        "see whether the {pause} waited for a CPU: `perf sched timehist -p PID`, nr_throttled and throttled_usec in \
         the cgroup's cpu.stat, cpu.pressure, steal time on a virtual machine",
    ),
    for_all("if it had its CPU, see what it computed there: `perf record -g -p PID`"),
    for_go("GODEBUG=gctrace=1 prints how long each phase of a collection took and how much CPU it used")
        .of_pauses(),
];

const WITH_BUDGET: [Remedy; 1] = [for_all(
    "several causes add up, none of which is half of the {pause}: the table of the {pause} lists them; mend the largest \
     first, and trace again",
)];

/// How many parts of the budget are listed.
const MOST_PARTS: usize = 5;

pub(super) fn finding(basis: &Basis<'_>, others: &[Finding]) -> Option<Finding> {
    let explained_ns = basis.worst.explained_by_faults_ns;
    let explains = |ns: u64| at_least(ns, MOST_PERCENT, basis.worst_ns);
    let one_explains = others.iter().any(|finding| finding.scope == Scope::Worst && explains(finding.ns));
    if explains(explained_ns) || one_explains {
        return None;
    }
    let mut evidence = vec![basis.worst_in_words()];
    if basis.worst.faults == 0 {
        evidence.push(format!("{} took no page fault in it", basis.unit().driver()));
    } else {
        evidence.push(format!(
            "{} took {} in it, {} in all",
            basis.unit().driver(),
            units::counted(basis.worst.faults, "fault", "faults"),
            units::duration(basis.worst.in_faults_ns)
        ));
    }
    let (ns, finding, remedies) = match &basis.worst.budget {
        Some(budget) => {
            evidence.extend(parts(budget));
            // Whatever else was found says more than this.
            (0, nothing_dominates(basis, budget, explained_ns), &WITH_BUDGET[..])
        }
        None => (
            basis.worst_ns.saturating_sub(explained_ns),
            faults_do_not(basis, explained_ns),
            &WITHOUT_BUDGET[..],
        ),
    };
    evidence.extend(basis.reservations());
    Some(Finding {
        scope: Scope::Worst,
        ns,
        diagnosis: Diagnosis {
            rule: NAME.to_owned(),
            finding,
            evidence,
            remedies: remedy::applying(remedies, basis.report),
        },
    })
}

/// All that can be said without a budget: what it was not.
fn faults_do_not(basis: &Basis<'_>, explained_ns: u64) -> String {
    if explained_ns == 0 {
        format!(
            "Page faults explain nothing of {} ({}): look at CPU next.",
            basis.worst_name(),
            units::duration(basis.worst_ns)
        )
    } else {
        format!("Page faults explain only {}: look at CPU next.", basis.of_worst(explained_ns))
    }
}

fn nothing_dominates(basis: &Basis<'_>, budget: &Budget, explained_ns: u64) -> String {
    let largest = budget.largest();
    if at_least(budget.unknown_ns, MOST_PERCENT, basis.worst_ns) {
        return format!("Where most of {} went was not seen.", basis.worst_name());
    }
    format!(
        "No one cause explains half of {} ({}): page faults explain {}, the largest part is {} ({}).",
        basis.worst_name(),
        units::duration(basis.worst_ns),
        units::share(explained_ns, basis.worst_ns),
        largest.words,
        units::share(largest.ns, basis.worst_ns),
    )
}

/// The largest parts of the budget.
fn parts(budget: &Budget) -> Vec<String> {
    let mut parts: Vec<_> = budget.parts().into_iter().filter(|part| part.ns > 0).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.ns));
    parts
        .into_iter()
        .take(MOST_PARTS)
        .map(|part| format!("{} {}", units::duration(part.ns), part.words))
        .collect()
}
