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
    if outcome.plan.schedule_seen && outcome.plan.pid_namespace.is_some() {
        let why = "pauselens runs in a pid namespace: threads are seen from their first fault on; it sees all of them \
                   when it runs in the host's";
        part("stopping: threads that have not faulted yet", why.to_owned());
    }
    let of_regions = outcome.space.unavailable().into_iter();
    parts.extend(of_regions.map(|missing| Unavailable { part: missing.part, why: missing.why }));
    parts
}
