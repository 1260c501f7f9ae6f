//! Parts of the report that can't be had here, and why.

use crate::{memory::AddressSpace, probe::Plan, report::model::Unavailable};

/// What the plan can't serve, and what has no names because of `kernel_names_missing`.
#[must_use]
pub fn unavailable(plan: &Plan, kernel_names_missing: Option<&str>) -> Vec<Unavailable> {
    let mut parts = Vec::new();
    let mut part = |part: &str, why: String| parts.push(Unavailable { part: part.to_owned(), why });
    let skipped = |need: &str| plan.skipped.iter().find(|skipped| skipped.need == need);
    for (need, name) in [
        ("budget", "budget, blocked, cpu_waits, stopping"),
        ("reclaim", "reclaim and compaction"),
        ("device", "reads"),
        ("fault kind", "exact kinds"),
    ] {
        if let Some(skipped) = skipped(need) {
            part(name, format!("{}: {}", skipped.source, skipped.why));
        }
    }
    if let Some(why) = kernel_names_missing {
        part("kernel stacks, and what was blocked on what", why.to_owned());
    }
    parts
}

/// What is not known of where memory belongs to.
pub fn unplaced(space: &AddressSpace) -> impl Iterator<Item = Unavailable> {
    space.unavailable().into_iter().map(|missing| Unavailable { part: missing.part, why: missing.why })
}
