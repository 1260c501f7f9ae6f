//! How a process is traced: each need, what serves it, and what can't.

use crate::{probe::Plan, report::model::PlanStep};

/// The plan, in the report's words.
#[must_use]
pub fn plan_steps(plan: &Plan) -> Vec<PlanStep> {
    let used = plan.steps.iter().map(|step| PlanStep {
        need: step.need.to_owned(),
        source: step.source.describe(),
        why: step.why.to_owned(),
        used: true,
    });
    let skipped = plan.skipped.iter().map(|skipped| PlanStep {
        need: skipped.need.to_owned(),
        source: skipped.source.to_owned(),
        why: skipped.why.to_owned(),
        used: false,
    });
    used.chain(skipped).collect()
}
