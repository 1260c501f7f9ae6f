//! The report as a whole: every part in its place, then the diagnosis of the finished numbers.

use std::collections::HashMap;

use super::{
    context::Context, incomplete::incomplete, notes::notes, overhead::overhead, reconcile, summary::summary,
};
use crate::{
    pause::StampDifferences,
    report::{
        described::{Devices, Known, pauses, plan_steps, target_of, unavailable, unplaced, windows},
        diagnosis::diagnose,
        model::{Ended, Exposures, Part, Report, SCHEMA, Sampled, Short, StampCheck, Tool, Trace, Windows},
    },
    runtime::Recognised,
    session::{self, Outcome},
    symbols::Namer,
};

/// Makes the report. `named` is given what names things before that is gone, and the stacks.
#[must_use]
pub fn assemble(
    mut outcome: Outcome,
    context: Context<'_>,
    named: impl FnOnce(&Namer, &HashMap<u64, Vec<u64>>),
) -> Report {
    let modules = std::mem::replace(&mut outcome.modules, crate::symbols::Modules::new(0));
    let mut namer = Namer::new(modules, context.recognised.go_functions.clone());
    namer.read_generated(outcome.collected.stacks.values().map(Vec::as_slice));
    let devices = Devices::of_this_host();
    let known = Known {
        stacks: &outcome.collected.stacks,
        kernel_stacks: &outcome.collected.kernel_stacks,
        zero_ns: outcome.zero_ns,
        schedule_seen: outcome.plan.schedule_seen,
        pid: context.target.pid(),
        devices: &devices,
        names: &namer,
    };
    let pauses = pauses(&outcome.collected.pauses, &known);
    named(&namer, &outcome.collected.stacks);
    let summary = summary(&mut outcome, &devices);
    let have = outcome.collected.details;
    // What was lost in the ring is known of all processes together only.
    let lost = outcome.losses.of(tracer_common::loss::Loss::FaultRingFull);
    let of = if outcome.others_traced { have.max(outcome.collected.counted) } else { have + lost };
    let fault_details = Part { of, have };
    let incomplete = incomplete(&outcome, &summary, &context);
    let mut notes = notes(&outcome, &context);
    notes.extend(namer.notes());
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "pauselens".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        target: target_of(context.target, context.image, context.recognised),
        trace: Trace {
            started_unix_ms: outcome.zero_unix_ms,
            clock: "CLOCK_MONOTONIC".to_owned(),
            duration_ns: outcome.closed_ns.saturating_sub(outcome.opened_ns),
            covered_from_ns: outcome.opened_ns.saturating_sub(outcome.zero_ns),
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
            unavailable: unavailable(&outcome.plan, outcome.kernel_names_missing.as_deref())
                .into_iter()
                .chain(unplaced(&outcome.space))
                .collect(),
            reconciliation: reconcile::process(&outcome),
            threads: reconcile::threads(&outcome, context.target.pid()),
            runtime_stamps: stamp_check(&mut outcome.stamps),
            overhead: overhead(&outcome),
        },
        windows: windows_seen(&outcome, context.recognised),
        exposure: Exposures::default(),
        summary,
        pauses,
        diagnosis: Vec::new(),
    };
    report.diagnosis = diagnose(&report);
    report
}

fn windows_seen(outcome: &Outcome, recognised: &Recognised) -> Windows {
    let seen = outcome.collected.short;
    let windows = windows(recognised);
    Windows {
        short: windows.short.map(|short| Short {
            count: seen.count,
            ns: seen.ns,
            faults: seen.faults,
            ..short
        }),
        discarded: outcome.collected.discarded.count,
        sampled: outcome.sampled.map(|sampled| Sampled {
            share: sampled.share,
            watched_ns: sampled.watched_ns,
            rounds: sampled.rounds,
        }),
        ..windows
    }
}

/// Why a trace ended, in the report's words.
#[must_use]
pub fn ended(ended: session::Ended) -> Ended {
    match ended {
        session::Ended::Duration => Ended::Duration,
        session::Ended::Interrupted => Ended::Interrupted,
        session::Ended::TargetExited => Ended::TargetExited,
        session::Ended::ProgramReplaced => Ended::ProgramReplaced,
        session::Ended::TooOften => Ended::TooOften,
    }
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
