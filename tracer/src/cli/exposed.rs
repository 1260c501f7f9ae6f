//! What of the target's memory is out before a trace and after it.

use std::time::Duration;

use crate::{
    exposure::{Exposure, Latency, Missing, Subject, TakeOptions, take},
    memory::Layout,
    report::{
        exposure::{Usual, exposed, regions_read},
        model::{Ended, Kind, Report, Unavailable},
        text::swapped,
    },
    runtime::RuntimeKind,
    session, tell,
};

/// A look at the memory delays a trace by no more than this.
const WITHIN: Duration = Duration::from_millis(300);

/// How a runtime lays out memory.
pub(super) fn layout(runtime: RuntimeKind) -> Layout {
    match runtime {
        RuntimeKind::Go => Layout::Go,
        RuntimeKind::Demo | RuntimeKind::Described => Layout::Plain,
    }
}

/// The look before the trace. No latency is measured: that would delay it.
#[derive(Debug)]
pub(super) struct Before {
    found: Result<(Exposure, Vec<Missing>), String>,
}

impl Before {
    /// Looks, and says on standard error what is out, if anything is.
    pub(super) fn take(subject: &session::Subject) -> Self {
        let found = look(subject, None, false);
        if let Ok((exposure, _)) = &found
            && exposure.regions.iter().any(|region| region.bytes.swapped_bytes.is_some_and(|bytes| bytes > 0))
        {
            tell!("{} when the trace begins", swapped(exposure));
        }
        Self { found }
    }

    /// No look: the runtime is not there yet, or there are several processes.
    pub(super) fn untaken() -> Self {
        Self { found: Err("its runtime was not mapped when the trace began".to_owned()) }
    }

    /// Looks again, and puts both into the report. The latency that was found out meanwhile serves both.
    pub(super) fn and_after(self, found: &session::Subject, report: &mut Report) {
        let kind = found.recognised.kind;
        let swap_ins = report.summary.by_kind.get(&Kind::SwapIn).copied().unwrap_or_default();
        let of_trace = Latency::of_trace(swap_ins.count, swap_ins.ns);
        let mut after = look(found, of_trace, true);
        if after.is_err() && report.trace.ended == Ended::TargetExited {
            after = Err("the target had ended".to_owned());
        }
        let latency = after.as_ref().ok().and_then(|(after, _)| after.latency).or(of_trace);
        let outside_faults_ns =
            report.summary.paused_ns.saturating_sub(report.summary.explained_by_faults_ns);
        let usual = Usual { pause_ns: outside_faults_ns.checked_div(report.summary.pauses) };
        let mut unavailable = Vec::new();
        let mut put = |when: &str, looked: Result<(Exposure, Vec<Missing>), String>| match looked {
            Ok((mut exposure, missing)) => {
                exposure.latency = exposure.latency.or(latency);
                let (exposed, more) = exposed(exposure, Ok(kind), usual);
                let missing = missing.into_iter().map(|missing| Unavailable {
                    part: format!("exposure {when}: {}", missing.part),
                    why: missing.why,
                });
                unavailable.extend(missing);
                unavailable.extend(more.into_iter().map(|more| Unavailable {
                    part: format!("exposure {when}: {}", more.part),
                    why: more.why,
                }));
                Some(exposed)
            }
            Err(why) => {
                unavailable.push(Unavailable { part: format!("exposure {when}"), why });
                None
            }
        };
        report.exposure.at_start = put("at start", self.found);
        report.exposure.at_end = put("at end", after);
        report.trace.unavailable.extend(unavailable);
    }
}

fn look(
    found: &session::Subject,
    latency: Option<Latency>,
    may_probe: bool,
) -> Result<(Exposure, Vec<Missing>), String> {
    let subject = Subject { target: &found.target, layout: layout(found.recognised.kind) };
    let regions = regions_read(found.recognised.kind);
    take(subject, TakeOptions { within: WITHIN, latency, may_probe, regions })
        .map_err(|error| error.to_string())
}
