//! The rule that a kind of fault makes the worst pause, or all pauses together, long.

use crate::report::model::{ByKind, Diagnosis, Kind, KindTotal, Region};
use crate::report::units;

use super::basis::{Basis, Scope};
use super::code_path;
use super::finding::Finding;
use super::remedy::{self, Remedy};
use super::split::{self, Both};
use super::{reads, touched};

/// One kind's words.
#[derive(Clone, Copy, Debug)]
pub(super) struct KindRule {
    pub(super) kind: Kind,
    /// The rule's stable name.
    pub(super) name: &'static str,
    /// What follows `was spent`, before and after the count: `reading`, `back from swap`.
    pub(super) before: &'static str,
    /// What is counted, for one and for more.
    pub(super) noun: (&'static str, &'static str),
    pub(super) after: &'static str,
    pub(super) remedies: &'static [Remedy],
    /// What helps besides when most of the time in faults was on one of these regions. It comes first.
    pub(super) by_region: &'static [(&'static [Region], &'static [Remedy])],
}

pub(super) fn finding(rule: &KindRule, basis: &Basis<'_>) -> Option<Finding> {
    let total_in = |kinds: &ByKind| kinds.get(&rule.kind).copied().unwrap_or_default();
    let in_worst = total_in(&basis.worst.by_kind);
    let in_all = total_in(&basis.report.summary.by_kind);
    let scope = basis.scope(in_worst.ns, in_all.ns)?;
    // Pages that were swapped out and found in the swap cache have the same cause.
    let kin = (rule.kind == Kind::SwapIn).then_some(Kind::SwapCache);
    let kin_in = |kinds: &ByKind| kin.and_then(|kin| kinds.get(&kin)).copied().unwrap_or_default();
    let kin_in_worst = kin_in(&basis.worst.by_kind);
    let own = split::of_kind(
        basis,
        Both {
            worst_ns: in_worst.ns.saturating_add(kin_in_worst.ns),
            all_ns: in_all.ns.saturating_add(kin_in(&basis.report.summary.by_kind).ns),
        },
    );
    let judged = match scope {
        Scope::Worst => in_worst,
        Scope::Total => in_all,
    };
    let place = match scope {
        Scope::Worst => code_path::place(basis.worst, rule.kind),
        // Code paths are kept per pause: there is none for all of them together.
        Scope::Total => None,
    };

    let mut what =
        format!("was spent {} {}", rule.before, units::counted(judged.count, rule.noun.0, rule.noun.1));
    if !rule.after.is_empty() {
        what.push_str(&format!(" {}", rule.after));
    }
    if let Some(place) = &place {
        what.push_str(&format!(", mostly {}", place.words));
    }
    if mostly_inferred(judged) {
        what.push_str(" (the kind is inferred, not seen)");
    }

    let mut evidence = vec![basis.worst_in_words(), in_words(rule.kind, "in it", in_worst)];
    if in_worst.inferred > 0 {
        evidence.push(format!(
            "the kind of {} of them is inferred from the mapping and the major flag",
            units::count(in_worst.inferred)
        ));
    }
    if let Some(kin) = kin.filter(|_| kin_in_worst.count > 0) {
        evidence.push(format!("{}: swapped out as well", in_words(kin, "besides, in it", kin_in_worst)));
    }
    if let Some(place) = &place {
        evidence.push(format!("{} of that time {}", units::share(place.ns, in_worst.ns), place.words));
    }
    if let Some(longest) = basis.worst.longest_fault.as_ref().filter(|longest| longest.kind == rule.kind) {
        let mapping = longest.mapping.as_deref().unwrap_or("an unknown mapping");
        evidence.push(format!(
            "the longest single fault took {}, at {} in {mapping}",
            units::duration(longest.ns),
            longest.address
        ));
    }
    evidence.extend(touched::evidence(basis));
    evidence.extend(faults_split(basis));
    evidence.extend(reads::evidence(basis, rule.kind));
    evidence.push(format!(
        "{}, {} of {}",
        in_words(rule.kind, &basis.in_all(), in_all),
        units::share(in_all.ns, basis.report.summary.paused_ns),
        basis.unit().all_time()
    ));
    evidence.extend(basis.reservations());

    Some(Finding {
        scope,
        ns: own.of(scope),
        diagnosis: Diagnosis {
            rule: rule.name.to_owned(),
            finding: basis.sentence(scope, in_worst.ns, in_all.ns, &what),
            evidence,
            remedies: remedies(rule, basis),
        },
    })
}

/// What helps against the kind, where it happened first.
fn remedies(rule: &KindRule, basis: &Basis<'_>) -> Vec<String> {
    remedies_on(rule, touched::main_region(basis).map(|(region, _)| region), basis)
}

/// What helps against the kind on this region, when most of it was on one.
pub(super) fn remedies_on(rule: &KindRule, main: Option<Region>, basis: &Basis<'_>) -> Vec<String> {
    let here = rule
        .by_region
        .iter()
        .filter(|(regions, _)| main.is_some_and(|main| regions.contains(&main)))
        .flat_map(|(_, remedies)| remedy::applying(remedies, basis.report));
    here.chain(remedy::applying(rule.remedies, basis.report)).collect()
}

/// `the time in its faults: 33.2 ms blocked on I/O, 5.36 ms on CPU`.
fn faults_split(basis: &Basis<'_>) -> Option<String> {
    let mut parts: Vec<_> = basis.worst.budget.as_ref()?.parts().to_vec();
    parts.retain(|part| part.ns > 0 && part.is_in_faults());
    parts.sort_by_key(|part| std::cmp::Reverse(part.ns));
    let words = parts.iter().map(|part| {
        let words = part.short_words();
        format!("{} {words}", units::duration(part.ns))
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("the time in its faults: {}", words.join(", ")))
}

pub(super) fn mostly_inferred(total: KindTotal) -> bool {
    total.inferred > total.count / 2
}

/// `in it 228 faults of kind swap_in took 39.0 ms, 171 µs each`.
fn in_words(kind: Kind, place: &str, total: KindTotal) -> String {
    let faults = units::counted(total.count, "fault", "faults");
    match total.ns.checked_div(total.count) {
        None => format!("{place} no fault of kind {}", kind.word()),
        Some(each_ns) => format!(
            "{place} {faults} of kind {} took {}, {} each on average",
            kind.word(),
            units::duration(total.ns),
            units::duration(each_ns)
        ),
    }
}
