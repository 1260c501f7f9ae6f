//! What is not the same in all runs: said before any number, since it can be what makes the difference.

use std::collections::BTreeSet;

use super::model::{RunAbout, Unlike, UnlikeValue};
use crate::{
    recording::{Recorded, Recording},
    report::units,
};

/// Something that should be the same.
struct Fact {
    what: &'static str,
    why: &'static str,
    of: fn(&Recording, &[&Recorded]) -> String,
}

/// The first of them: a program of one build is the same one, whatever its path.
const PROGRAM: &str = "program";

/// In the order in which they are told.
const FACTS: [Fact; 14] = [
    Fact {
        what: PROGRAM,
        why: "different programs pause for different reasons",
        of: |_, processes| all(processes, |it| it.process.target.exe.clone()),
    },
    Fact {
        what: "processes compared",
        why: "the pauses of several processes are taken together",
        of: |_, processes| processes.len().to_string(),
    },
    Fact {
        what: "build id",
        why: "the program was built anew: its code can be another one",
        of: |_, processes| {
            all(processes, |it| it.process.target.build_id.clone().unwrap_or_else(|| "none".to_owned()))
        },
    },
    Fact {
        what: "runtime",
        why: "its collector can be another one",
        of: |_, processes| {
            all(processes, |it| {
                let runtime = &it.process.target.runtime;
                format!("{} {}", runtime.name, runtime.version).trim().to_owned()
            })
        },
    },
    Fact {
        what: "windows",
        why: "what is counted and measured is not the same thing",
        of: |_, processes| {
            all(processes, |it| {
                let windows = &it.report.windows;
                let of = windows.of.as_ref().map_or_else(String::new, |of| format!(" of {of}"));
                format!("{}{of}", windows.unit.many())
            })
        },
    },
    Fact {
        what: "shortest window told of",
        why: "shorter ones are in the counts and lengths, but in no kind, region and code path",
        of: |_, processes| {
            all(processes, |it| match it.report.windows.short {
                Some(short) => units::duration(short.than_ns),
                None => "all are".to_owned(),
            })
        },
    },
    Fact {
        what: "share of time watched",
        why: "rare long pauses are missed by a sample",
        of: |_, processes| {
            all(processes, |it| match it.report.windows.sampled {
                Some(sampled) => super::verdict::percent(sampled.share),
                None => "100 %".to_owned(),
            })
        },
    },
    Fact {
        what: "host",
        why: "hosts differ in speed, disks and neighbours",
        of: |it, _| it.header.host.name.clone(),
    },
    Fact {
        what: "kernel",
        why: "kernels differ in how they reclaim memory and handle faults",
        of: |it, _| it.header.host.kernel.clone(),
    },
    Fact {
        what: "architecture",
        why: "nothing takes as long on another one",
        of: |it, _| it.header.host.machine.clone(),
    },
    Fact {
        what: "CPUs",
        why: "collectors use as many threads as there are CPUs",
        of: |it, _| it.header.host.cpus.map_or_else(|| "unknown".to_owned(), units::count),
    },
    Fact {
        what: "memory of the host",
        why: "with less of it more is reclaimed and swapped",
        of: |it, _| it.header.host.memory_bytes.map_or_else(|| "unknown".to_owned(), units::bytes),
    },
    Fact {
        what: "pauselens",
        why: "another version can measure otherwise",
        of: |it, _| it.header.tool.version.clone(),
    },
    Fact {
        what: "parts unavailable",
        why: "what was not measured on one side can't be compared",
        of: |_, processes| {
            let parts: BTreeSet<&str> = processes
                .iter()
                .flat_map(|it| &it.report.trace.unavailable)
                .map(|unavailable| unavailable.part.as_str())
                .collect();
            if parts.is_empty() {
                "none".to_owned()
            } else {
                parts.into_iter().collect::<Vec<_>>().join(", ")
            }
        },
    },
];

/// Runs that were watched this much longer than others are worth a word.
const LONGER: f64 = 1.25;

/// What is not alike.
pub(super) fn unlike(a: &[(&Recording, Vec<&Recorded>)], b: &[(&Recording, Vec<&Recorded>)]) -> Vec<Unlike> {
    let mut found = Vec::new();
    let build_ids: BTreeSet<_> = a
        .iter()
        .chain(b)
        .flat_map(|(_, processes)| processes)
        .map(|recorded| &recorded.process.target.build_id)
        .collect();
    let one_build = build_ids.len() == 1 && build_ids.iter().all(|id| id.is_some());
    for fact in &FACTS {
        if one_build && fact.what == PROGRAM {
            continue;
        }
        let of = |side: &[(&Recording, Vec<&Recorded>)]| -> Vec<String> {
            side.iter().map(|(recording, processes)| (fact.of)(recording, processes)).collect()
        };
        let (a, b) = (of(a), of(b));
        if a.iter().chain(&b).collect::<BTreeSet<_>>().len() > 1 {
            found.push(Unlike {
                what: fact.what.to_owned(),
                why: fact.why.to_owned(),
                a: counted(a),
                b: counted(b),
            });
        }
    }
    found
}

/// What is missing from runs, how long they were watched, and in which order they were made.
pub(super) fn of_runs(a: &[RunAbout], b: &[RunAbout], window: &str) -> (Vec<Unlike>, Vec<String>) {
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    let partial = |side: &[RunAbout]| {
        counted(
            side.iter()
                .map(|run| if run.partial.is_empty() { "whole" } else { "partial" }.to_owned())
                .collect(),
        )
    };
    if a.iter().chain(b).any(|run| !run.partial.is_empty()) {
        found.push(Unlike {
            what: "recordings".to_owned(),
            why: "of a partial one the pauses that were lost can be the long ones".to_owned(),
            a: partial(a),
            b: partial(b),
        });
    }
    let watched = || a.iter().chain(b).map(|run| run.covered_ns);
    let (least, most) = (watched().min().unwrap_or(0), watched().max().unwrap_or(0));
    if most as f64 > least as f64 * LONGER {
        let of = |side: &[RunAbout]| vec![range(side)];
        found.push(Unlike {
            what: "time watched".to_owned(),
            why: format!(
                "the longer one watches, the longer the longest {window} gets; rates and shares allow for it"
            ),
            a: of(a),
            b: of(b),
        });
    }
    let started = |side: &[RunAbout]| {
        let times = || side.iter().map(|run| run.started_unix_ms);
        (times().min().unwrap_or(0), times().max().unwrap_or(0))
    };
    let ((a_first, a_last), (b_first, b_last)) = (started(a), started(b));
    if a.len() > 1 && b.len() > 1 && (a_last < b_first || b_last < a_first) {
        let (first, then) = if a_last < b_first { ("A", "B") } else { ("B", "A") };
        notes.push(format!(
            "All runs of {first} were recorded before all runs of {then}: whatever else changed on the host meanwhile \
             is in the difference. Runs of A and B by turns would not have that."
        ));
    }
    (found, notes)
}

fn range(side: &[RunAbout]) -> UnlikeValue {
    let times = || side.iter().map(|run| run.covered_ns);
    let (least, most) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let value = if least == most {
        units::duration(least)
    } else {
        format!("{} to {}", units::duration(least), units::duration(most))
    };
    UnlikeValue { value, runs: side.len() as u64 }
}

/// Values and how many runs have them, in the order of the runs.
fn counted(values: Vec<String>) -> Vec<UnlikeValue> {
    let mut counted: Vec<UnlikeValue> = Vec::new();
    for value in values {
        match counted.iter_mut().find(|known| known.value == value) {
            Some(known) => known.runs += 1,
            None => counted.push(UnlikeValue { value, runs: 1 }),
        }
    }
    counted
}

/// What the processes of a run have, each value once.
fn all(processes: &[&Recorded], of: impl Fn(&Recorded) -> String) -> String {
    let values: BTreeSet<String> = processes.iter().map(|it| of(it)).collect();
    values.into_iter().collect::<Vec<_>>().join(", ")
}
