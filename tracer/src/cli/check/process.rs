//! A process: what was recognised in it, and which places would be probed.

use super::finding::{Finding, Verdict};
use crate::{
    cli::recognised::find,
    probe::verify_sites,
    runtime::{Chosen, Site, SiteKind},
    target::{read_maps, thread_ids},
};

pub(super) fn process(pid: u32) -> Vec<Finding> {
    let found = match find(pid, &Chosen::Recognised) {
        Ok(found) => found,
        Err(error) => {
            return vec![Finding::new(
                &format!("process {pid}"),
                Verdict::Missing,
                format!("{error:#}"),
                "it can't be traced as it is",
            )];
        }
    };
    let threads = thread_ids(pid).map_or(0, |ids| ids.len());
    let mut findings = vec![
        Finding::good("executable", found.target.exe().display().to_string()),
        Finding::good("runtime", format!("{} {}", found.recognised.name, found.recognised.version)),
        Finding::good("threads", threads.to_string()),
    ];
    let sites = &found.recognised.sites;
    let mut place = |what: &str, site: &Site| {
        let kind = match site.kind {
            SiteKind::Entry => "entry",
            SiteKind::Return => "return",
            SiteKind::TailJump => "jump out",
            SiteKind::Usdt => "tracepoint",
            SiteKind::Given => "instruction",
        };
        findings.push(Finding::good(
            what,
            format!(
                "{kind} of {}, ELF address {:#x}, file offset {:#x}, from {:?}",
                site.function, site.elf_address, site.file_offset, site.source
            ),
        ));
    };
    for (what, sites) in [
        ("requested", &sites.requested),
        ("stopped", &sites.stopped),
        ("told", &sites.told),
        ("restarting", &sites.restarting),
        ("resumed", &sites.resumed),
    ] {
        sites.iter().for_each(|site| place(what, site));
    }
    let mappings = read_maps(pid).unwrap_or_default();
    findings.push(match verify_sites(&found.target, &found.recognised.files, sites, &mappings) {
        Ok(()) => Finding::good("places", "the code in memory is the file's"),
        Err(error) => Finding::new(
            "places",
            Verdict::Missing,
            error.to_string(),
            "no probe is placed at an unverified offset",
        ),
    });
    findings.extend(
        found.recognised.notes.iter().map(|note| Finding::new("note", Verdict::Less, note.clone(), "")),
    );
    findings
}
