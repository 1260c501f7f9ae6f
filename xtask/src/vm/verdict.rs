//! Does what the guest reported mean that pauselens works there?

use std::collections::BTreeMap;

use super::{
    kernels::{Kernel, Kinds},
    results::{Counts, Results},
};

/// What `scripts/vm/init` has the Go program do, and the stops of the world that each collection takes.
const COLLECTIONS: u64 = 20;
const STOPS_PER_COLLECTION: u64 = 2;
/// pauselens's exit status when a comparison shows a difference.
const INCOMPLETE: i32 = 3;
/// Kinds that the error code, the processor's mode or the kernel's signal tells on every kernel.
const NEVER_INFERRED: [&str; 3] = ["copy_on_write", "kernel", "signal"];
const PAUSES: &str = "pauses";

/// The figures for the line of success, or what is wrong.
pub(super) fn judge(results: &Results, kernel: &Kernel, with_go: bool) -> Result<String, Vec<String>> {
    let mut problems = Vec::new();
    judge_check(results, &mut problems);
    for step in ["demo", "namespace"] {
        judge_demo(results, step, kernel.kinds, &mut problems);
    }
    if with_go {
        judge_go(results, &mut problems);
    }
    problems.extend(results.of("dmesg").map(|line| format!("the kernel said: {line}")));
    if problems.is_empty() { Ok(figures(results, with_go)) } else { Err(problems) }
}

fn judge_check(results: &Results, problems: &mut Vec<String>) {
    if results.status("check") != Some(0) {
        problems.push(format!("pauselens check: {}", ended(results, "check")));
        let good = |line: &&str| line.starts_with("ok ");
        problems.extend(results.of("check").filter(|line| !good(line)).map(|line| format!("  {line}")));
    }
}

fn judge_demo(results: &Results, step: &str, kinds: Kinds, problems: &mut Vec<String>) {
    let before = problems.len();
    let comparison = results.comparison(step);
    let status = results.status(step);
    let good_status = match kinds {
        Kinds::Exact => status == Some(0),
        Kinds::Inferred => matches!(status, Some(0 | INCOMPLETE)),
    };
    if !good_status {
        problems.push(format!("pauselens demo ({step}): {}", ended(results, step)));
    }
    if comparison.is_empty() {
        problems.push(format!("{step}: it did not get as far as to compare"));
    }
    for (kind, counts) in &comparison {
        let exact = kinds == Kinds::Exact || *kind == PAUSES || NEVER_INFERRED.contains(kind);
        if exact && counts.made != counts.seen {
            problems.push(format!("{step}: {kind}: {} made, {} seen", counts.made, counts.seen));
        }
    }
    // Whatever kind a fault was taken for: none is missing and none was counted twice.
    let Counts { made, seen } = all_faults(&comparison);
    if made != seen {
        problems.push(format!("{step}: {made} faults made, {seen} seen"));
    }
    // The demo target locks a page before each pause, for which the kernel can count a fault that is none (mlock(2)).
    let pauses = comparison.get(PAUSES).map_or(0, |counts| counts.made);
    if results.left_over(step).is_none_or(|left_over| left_over > pauses) {
        problems.push(format!(
            "{step}: the kernel counted other faults: {:?} left over",
            results.left_over(step)
        ));
    }
    if !results.text(step).contains("nothing was dropped") {
        problems.push(format!("{step}: the report doesn't say that nothing was dropped"));
    }
    if problems.len() > before {
        problems.extend(results.of(step).map(|line| format!("  {line}")));
    }
}

fn judge_go(results: &Results, problems: &mut Vec<String>) {
    let before = problems.len();
    if results.status("go") != Some(0) {
        problems.push(format!("pauselens run (go): {}", ended(results, "go")));
    }
    match (counted_by_go(results), pauses_of_go(results)) {
        (Some((collections, others)), Some(seen)) => {
            if collections != STOPS_PER_COLLECTION * COLLECTIONS || seen != collections + others {
                problems.push(format!(
                    "go: {COLLECTIONS} collections; the runtime counts {collections} stops for them and {others} \
                     others, the trace has {seen}"
                ));
            }
        }
        counted => problems.push(format!("go: counts are missing: {counted:?}")),
    }
    if problems.len() > before {
        problems.extend(results.of("go").map(|line| format!("  {line}")));
    }
}

fn ended(results: &Results, step: &str) -> String {
    results.status(step).map_or("did not end".to_owned(), |status| format!("exit status {status}"))
}

fn all_faults(comparison: &BTreeMap<&str, Counts>) -> Counts {
    let faults = comparison.iter().filter(|(kind, _)| **kind != PAUSES);
    faults.fold(Counts::default(), |sum, (_, counts)| Counts {
        made: sum.made + counts.made,
        seen: sum.seen + counts.seen,
    })
}

/// The program's line `counted COLLECTIONS OTHERS`.
fn counted_by_go(results: &Results) -> Option<(u64, u64)> {
    let line = results.of("go").find_map(|line| line.strip_prefix("counted "))?;
    let (collections, others) = line.split_once(' ')?;
    Some((collections.parse().ok()?, others.parse().ok()?))
}

/// The report's line `Pauses  42: 40 collections, 2 other stops`, or `Pauses  40 collections`.
fn pauses_of_go(results: &Results) -> Option<u64> {
    let line = results.of("go").find_map(|line| line.strip_prefix("Pauses "))?;
    line.split_whitespace().next()?.trim_end_matches(':').parse().ok()
}

/// Made and seen, of everything; what is not used on this kernel.
fn figures(results: &Results, with_go: bool) -> String {
    let comparison = results.comparison("demo");
    let pair = |counts: &Counts| format!("{}/{}", counts.made, counts.seen);
    let pauses = comparison.get(PAUSES).map(pair).unwrap_or_default();
    let kinds: Vec<String> = comparison
        .iter()
        .filter(|(kind, _)| **kind != PAUSES)
        .map(|(kind, counts)| format!("{kind} {}", pair(counts)))
        .collect();
    let mut figures = format!(
        "made/seen: pauses {pauses}, faults {} ({}), as many in a pid namespace",
        pair(&all_faults(&comparison)),
        kinds.join(", ")
    );
    if with_go
        && let (Some((collections, others)), Some(seen)) = (counted_by_go(results), pauses_of_go(results))
    {
        figures.push_str(&format!("; Go: {}/{seen}", collections + others));
    }
    let skipped: Vec<&str> =
        results.of("check").filter_map(|line| line.strip_prefix("less ")).map(str::trim).collect();
    if !skipped.is_empty() {
        figures.push_str(&format!("; less: {}", skipped.join("; ")));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "kernel 6.12.0\n\
        check ok       user id: 0\n\
        check status 0\n\
        DEMO Counted   300 minor and 0 major faults in the whole process; the kernel's own counters: nothing is\n\
        DEMO           left over\n\
        DEMO Dropped   nothing was dropped\n\
        DEMO The demo target's own account against the trace:\n\
        DEMO                        made     seen\n\
        DEMO   pauses                  2        2\n\
        DEMO   copy_on_write          10       10\n\
        DEMO   first_touch           100      100\n\
        DEMO   swap                   60       60\n\
        DEMO status 0\n\
        go counted 40 1\n\
        go Pauses       41: 40 collections, 1 other stop\n\
        go status 0\n";

    fn judged(text: &str, kinds: Kinds) -> Result<String, Vec<String>> {
        let text = format!("{}{}", text.replace("DEMO", "demo"), text.replace("DEMO", "namespace"));
        judge(&Results::parse(&text), &Kernel { name: "x", suite: "x", kinds }, true)
    }

    #[test]
    fn a_good_report_gives_its_figures() {
        let figures = judged(GOOD, Kinds::Exact).unwrap();
        assert!(figures.contains("pauses 2/2, faults 170/170 (copy_on_write 10/10, first_touch 100/100"));
        assert!(figures.contains("Go: 41/41"), "{figures}");
    }

    #[test]
    fn inferred_kinds_may_move_but_not_get_lost() {
        let moved = GOOD.replace("100      100", "100      130").replace("60       60", "60       30");
        let moved = moved.replace("DEMO status 0", "DEMO status 3");
        assert!(judged(&moved, Kinds::Inferred).is_ok());
        assert!(judged(&moved, Kinds::Exact).is_err());
        let lost = GOOD.replace("60       60", "60       59");
        assert!(judged(&lost, Kinds::Inferred).unwrap_err()[0].contains("170 faults made, 169 seen"));
        let not_inferred = GOOD.replace("10       10", "10        9").replace("100      100", "100      101");
        assert!(judged(&not_inferred, Kinds::Inferred).unwrap_err()[0].contains("copy_on_write"));
    }

    #[test]
    fn a_page_that_was_locked_is_no_fault() {
        let one =
            GOOD.replace("nothing is\nDEMO           left over", "1 left over, which the kernel counted");
        assert_ne!(one, GOOD);
        assert!(judged(&one, Kinds::Exact).is_ok());
    }

    #[test]
    fn what_did_not_happen_is_a_problem() {
        for (good, bad) in [
            ("check status 0\n", ""),
            ("DEMO status 0\n", "DEMO status 1\n"),
            ("nothing was dropped", "7 stacks"),
            ("left over", "lost"),
            ("nothing is\nDEMO           left over", "3 left over, which the kernel counted"),
            ("nothing is\nDEMO           left over", "-3 left over"),
            ("Pauses       41", "Pauses       40"),
            ("counted 40", "counted 38"),
            ("go status 0\n", ""),
            ("go status 0\n", "go status 0\ndmesg BUG: unable to handle\n"),
        ] {
            assert!(GOOD.contains(good), "{good}");
            assert!(judged(&GOOD.replace(good, bad), Kinds::Exact).is_err(), "{bad}");
        }
        assert!(judged("", Kinds::Exact).is_err());
    }
}
