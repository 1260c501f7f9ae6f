//! All tests in order, and what they come to.

use super::{
    finding::{Finding, Verdict},
    host, probes, process,
};
use crate::{
    cli::{
        Exit,
        args::{CheckArgs, Global},
        output::print,
        progress,
    },
    probe::{Tracefs, gather},
};

/// Tests, prints, and fails when something indispensable is missing.
pub(in crate::cli) fn check(arguments: &CheckArgs, _global: Global) -> anyhow::Result<Exit> {
    let trying = progress::doing("trying what tracing needs");
    let mut findings = host::rights();
    findings.extend(host::kernel());
    match Tracefs::open() {
        Ok(tracefs) => {
            findings.push(host::tracefs(&tracefs));
            let facts = gather(&tracefs);
            findings.extend(host::tracepoints(&facts));
            match probes::probes(&facts) {
                Ok(tested) => findings.extend(tested),
                Err(error) => findings.push(Finding::new(
                    "probes",
                    Verdict::Missing,
                    format!("{error:#}"),
                    "nothing could be tested on pauselens's own process",
                )),
            }
        }
        Err(error) => {
            findings.push(Finding::new(
                "tracefs",
                Verdict::Missing,
                error.to_string(),
                "no tracepoint can be used",
            ));
        }
    }
    if let Some(pid) = arguments.pid {
        findings.extend(process::process(pid));
    }
    let mut text: String = findings.iter().map(Finding::text).collect();
    let missing = findings.iter().filter(|finding| finding.verdict == Verdict::Missing).count();
    if missing == 0 {
        text.push_str("\nEverything that tracing needs is here.\n");
    } else {
        let all = findings.len();
        text.push_str(&format!("\n{missing} of {all} things are missing: see MISSING above.\n"));
    }
    drop(trying);
    print(text.as_bytes())?;
    Ok(if missing == 0 { Exit::Done } else { Exit::Failed })
}
