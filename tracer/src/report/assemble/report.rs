//! The report as a whole: every part in its place, then the diagnosis of the finished numbers.

use super::{
    context::Context, devices::Devices, incomplete::incomplete, notes::notes, overhead::overhead,
    pauses::pauses, reconcile, summary::summary, unavailable::unavailable,
};
use crate::{
    pause::StampDifferences,
    probe::Plan,
    report::{
        diagnosis::diagnose,
        model::{Ended, Exposures, Part, PlanStep, Report, Runtime, SCHEMA, StampCheck, Target, Tool, Trace},
    },
    session::{self, Outcome},
    symbols::Namer,
};

/// Makes the report.
#[must_use]
pub fn assemble(mut outcome: Outcome, context: Context<'_>) -> Report {
    let modules = std::mem::replace(&mut outcome.modules, crate::symbols::Modules::new(0));
    let namer = Namer::new(modules, context.recognised.go_functions.clone());
    let devices = Devices::of_this_host();
    let pauses = pauses(&outcome, &namer, &devices, context.target.pid());
    let summary = summary(&mut outcome, &devices);
    let of = outcome.collected.details + outcome.losses.of(tracer_common::loss::Loss::FaultRingFull);
    let fault_details = Part { of, have: outcome.collected.details };
    let incomplete = incomplete(&outcome, &summary, &context);
    let notes = notes(&outcome, &context);
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "pauselens".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        target: target(&context),
        trace: Trace {
            started_unix_ms: outcome.opened_unix_ms,
            clock: "CLOCK_MONOTONIC".to_owned(),
            duration_ns: outcome.closed_ns.saturating_sub(outcome.opened_ns),
            ended: ended(outcome.ended),
            exit: context.exit,
            plan: plan_steps(&outcome.plan),
            dropped: outcome
                .losses
                .by_name()
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count))
                .collect(),
            fault_details,
            complete: incomplete.is_empty(),
            incomplete,
            notes,
            unavailable: unavailable(&outcome),
            reconciliation: reconcile::process(&outcome),
            threads: reconcile::threads(&outcome, context.target.pid()),
            runtime_stamps: stamp_check(&mut outcome.stamps),
            overhead: overhead(&outcome),
        },
        exposure: Exposures::default(),
        summary,
        pauses,
        diagnosis: Vec::new(),
    };
    report.diagnosis = diagnose(&report);
    report
}

fn target(context: &Context<'_>) -> Target {
    let build_id = context.image.build_id();
    Target {
        pid: context.target.pid(),
        exe: context.target.exe().to_string_lossy().into_owned(),
        build_id: build_id.map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect()),
        runtime: Runtime {
            name: context.recognised.name.to_owned(),
            version: context.recognised.version.clone(),
        },
    }
}

fn ended(ended: session::Ended) -> Ended {
    match ended {
        session::Ended::Duration => Ended::Duration,
        session::Ended::Interrupted => Ended::Interrupted,
        session::Ended::TargetExited => Ended::TargetExited,
    }
}

fn plan_steps(plan: &Plan) -> Vec<PlanStep> {
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

fn stamp_check(stamps: &mut StampDifferences) -> Option<StampCheck> {
    (stamps.pauses > 0).then(|| StampCheck {
        pauses: stamps.pauses,
        requested_worst_ns: stamps.requested.quantile(1.0),
        requested_median_ns: stamps.requested.quantile(0.5),
        stopped_worst_ns: stamps.stopped.quantile(1.0),
        stopped_median_ns: stamps.stopped.quantile(0.5),
    })
}
