//! No pause at all: says so, and what to try.

use crate::report::model::{Report, State, Trace, Unit};
use crate::report::units;

use super::page::{Page, Tone};

/// Go's `forcegcperiod`: once a program has collected, it does so again after this time, however idle it is.
/// <https://github.com/golang/go/blob/go1.26.0/src/runtime/proc.go>
const GO_COLLECTS_EVERY_NS: u64 = 120_000_000_000;

/// What to try when a function was not called.
const OF_CALLS: [&str; 3] = [
    "trace for longer, and while the program does what the function is for",
    "make sure that this is the process that does the work, not its parent, a shell or a twin",
    "a compiler may have put the function's code into its callers: then its own code is not run. Trace a caller, or build \
     without that (Go: //go:noinline before the function; C: __attribute__((noinline)))",
];

/// What to try when the places were not reached.
const OF_WINDOWS: [&str; 3] = [
    "trace for longer, and while the program does what lies between the places",
    "make sure that this is the process that does the work, not its parent, a shell or a twin",
    "a compiler may have put the code of the places into other functions: then it is not run where the probes are",
];

pub(super) fn write(page: &mut Page, report: &Report) {
    if report.summary.pauses > 0 {
        return;
    }
    page.gap();
    let traced = units::duration(report.trace.duration_ns);
    let unit = report.windows.unit;
    let (one, many) = (unit.one(), unit.many());
    let in_part = |(&state, &n): (&State, &u64)| state != State::Discarded && n > 0;
    let seen_in_part = report.summary.by_state.iter().any(in_part) || !report.pauses.is_empty();
    if seen_in_part {
        page.line(Tone::Strong, 0, 2, &format!("No {one} was seen from begin to end in {traced}."));
        let text = format!("What was seen of {many} stands below; a longer trace sees whole ones.");
        page.line(Tone::Plain, 0, 2, &text);
        return;
    }
    page.line(Tone::Strong, 0, 2, &format!("No {one} was seen in {traced}."));
    page.line(Tone::Plain, 0, 2, "That does not show that the program has none. What to try:");
    let advice = match unit {
        Unit::Pause => advice(&report.target.runtime.name, &report.trace),
        Unit::Call => OF_CALLS.to_vec(),
        Unit::Window => OF_WINDOWS.to_vec(),
    };
    for advice in advice {
        page.line(Tone::Plain, 2, 4, &format!("- {advice}"));
    }
}

fn advice(runtime: &str, trace: &Trace) -> Vec<&'static str> {
    let mut advice = vec![
        "trace for longer, and while the program is under load: a collector runs when memory is allocated, an \
         idle program may not collect at all",
        "make sure that this is the process that does the work, not its parent, a shell or a twin",
    ];
    if runtime == "go" {
        advice.push(if trace.duration_ns < GO_COLLECTS_EVERY_NS {
            "Go starts a collection when the last one was 2 minutes ago, unless the collector is off (GOGC=off): a \
             trace of more than 2 minutes should see it, if the program has ever collected"
        } else {
            "Go starts a collection when the last one was 2 minutes ago: a program without any has the collector \
             off (GOGC=off, debug.SetGCPercent(-1)) or has never filled its first heap of 4 MiB"
        });
        advice.push(
            "start the program with GODEBUG=gctrace=1: it prints one line per collection to standard error",
        );
    }
    advice
}
