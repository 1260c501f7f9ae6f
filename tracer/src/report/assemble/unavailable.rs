//! Parts of the report that can't be had here, and why.

use crate::{report::model::Unavailable, session::Outcome};

pub(super) fn unavailable(outcome: &Outcome) -> Vec<Unavailable> {
    let mut parts = Vec::new();
    let mut part = |part: &str, why: String| parts.push(Unavailable { part: part.to_owned(), why });
    let skipped = |need: &str| outcome.plan.skipped.iter().find(|skipped| skipped.need == need);
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
    if let Some(why) = &outcome.kernel_names_missing {
        part("kernel stacks, and what was blocked on what", why.clone());
    }
    let of_regions = outcome.space.unavailable().into_iter();
    parts.extend(of_regions.map(|missing| Unavailable { part: missing.part, why: missing.why }));
    parts
}
