//! Every probe of a plan, loaded and attached by itself, on pauselens's own process.

use std::{slice, sync::Arc};

use super::finding::{Finding, Verdict};
use crate::{
    elf::Image,
    probe::{Facts, Plan, Sizes, Stopped, attach_host, attach_process, load, plan, probe_software},
    runtime::recognise,
    target::Target,
};

/// Tests each step. The places of the uprobes are the built-in demo's pause functions in pauselens itself.
pub(super) fn probes(facts: &Facts) -> anyhow::Result<Vec<Finding>> {
    let own = Target::open(std::process::id())?;
    let image = Arc::new(Image::open(own.open_executable()?, own.exe().to_owned())?);
    let mut whole = plan(facts, &recognise(&image)?.sites, Stopped::Probe)?;
    // What notices new processes can be missing without harm to a trace of one.
    whole = whole.clone().with_lineage(facts, 0).unwrap_or(whole);
    let mut findings = vec![match probe_software() {
        Ok(()) => Finding::good("software events", "can be opened"),
        Err(error) => Finding::new(
            "software events",
            Verdict::Missing,
            error.to_string(),
            "no fault's end is seen",
        )
        .remedy("run as root; a container needs --cap-add PERFMON, and seccomp must allow perf_event_open"),
    }];
    for step in &whole.steps {
        let alone = Plan { steps: vec![step.clone()], ..whole.clone() };
        let what = format!("{} ({})", step.need, step.source.describe());
        let tried = load(&alone, Sizes::default(), &facts.kernel_release)
            .map_err(anyhow::Error::from)
            .and_then(|loaded| {
                let mut host = attach_host(loaded, &alone)?;
                let process = attach_process(&mut host.ebpf, &alone, own.pid(), slice::from_ref(&image))?;
                Ok((process, host))
            });
        findings.push(match tried {
            Ok(_) => Finding::good(&what, "loads and attaches"),
            Err(error) => Finding::new(&what, Verdict::Missing, format!("{error:#}"), step.why)
                .remedy("run as root; see the rights and settings above"),
        });
    }
    for skipped in &whole.skipped {
        findings.push(Finding::new(
            &format!("{} ({})", skipped.need, skipped.source),
            Verdict::Less,
            "not used",
            skipped.why,
        ));
    }
    Ok(findings)
}
