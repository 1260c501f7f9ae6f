//! Runtimes of compiled languages, run for real: OCaml 4 and 5, the Boehm collector in C, Guile and Crystal, D, SBCL, GHC, Mono,
//! Julia, Erlang. The number of windows is the runtime's own count, and no window is longer or shorter than the program and the
//! runtime say it can be.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/attached.rs"]
mod attached;
#[path = "support/collecting.rs"]
mod collecting;
#[path = "support/go.rs"]
mod go;

use attached::as_root;
use collecting::{Program, Run, duration_ns};
use tracer::report::model::State;

// ---- OCaml

/// The runtime's log says how often it did what: `<` for a minor collection that had something to do, a line for each slice
/// and for each compaction.
#[test]
fn ocaml_4_s_windows_are_those_of_its_log() {
    as_root();
    let run = Program::build("ocaml4").traced(&[("OCAMLRUNPARAM", "v=0x52")]);
    assert_eq!(run.runtime().0, "ocaml4");
    run.all_complete();
    run.in_order();
    run.fits();
    let minor = run.with_reason("minor collection");
    assert_eq!(minor, run.log.matches('<').count(), "the log's minor collections");
    assert_eq!(minor as u64, run.number("minor"), "the counter's minor collections");
    assert_eq!(run.with_reason("major slice"), run.log.matches("ordered work").count());
    let compactions = run.with_reason("compaction");
    assert_eq!(compactions, run.log.matches("Compacting heap").count());
    assert_eq!(compactions as u64, run.number("compactions"));
    // Gc.full_major and Gc.compact finish the cycle twice.
    let twice = run.intervals.iter().filter(|one| one.kind == "full" || one.kind == "compact").count();
    assert_eq!(run.with_reason("end of a major cycle"), 2 * twice);
    assert_eq!(run.windows.len(), minor + run.with_reason("major slice") + compactions + 2 * twice);
}

/// Without the places of compactions, the others are seen all the same, and the report says what isn't.
#[test]
fn ocaml_4_s_stripped_interpreter_shows_all_but_compactions() {
    as_root();
    let run = Program::build("ocaml4-bytecode").traced(&[("OCAMLRUNPARAM", "v=0x52")]);
    assert_eq!(run.runtime(), ("ocaml4", "4.13.1"));
    run.all_complete();
    run.in_order();
    run.fits();
    let minor = run.with_reason("minor collection");
    assert_eq!(minor, run.log.matches('<').count(), "the log's minor collections");
    assert_eq!(run.with_reason("major slice"), run.log.matches("ordered work").count());
    assert!(run.log.contains("Compacting heap"), "the test says nothing: {}", run.log);
    assert_eq!(run.with_reason("compaction"), 0);
    let notes = &run.report.trace.notes;
    assert!(notes.iter().any(|note| note.contains("compactions")), "{notes:?}");
}

/// What the runtime logs when a domain has won the race for leading a stop, and when one asks for it.
fn stops_of(log: &str) -> (usize, usize) {
    (log.matches("causing STW").count(), log.matches("requesting STW").count())
}

fn ocaml_5(program: &str) -> Run {
    as_root();
    let run = Program::build(program).traced(&[("OCAMLRUNPARAM", "v=0x800")]);
    assert_eq!(run.runtime().0, "ocaml5");
    run.all_complete();
    run.in_order();
    let (led, asked) = stops_of(&run.log);
    assert_eq!(run.windows.len(), led, "stops by the log");
    let discarded = run.report.summary.by_state.get(&State::Discarded).copied().unwrap_or(0);
    assert_eq!(discarded, (asked - led) as u64, "races that were lost, by the log");
    for window in &run.windows {
        assert!(window.reason.contains("stw_"), "what is run on all domains has a name: {}", window.reason);
    }
    run
}

#[test]
fn ocaml_5_s_windows_are_the_stops_of_its_log() {
    let run = ocaml_5("ocaml5");
    run.fits();
    assert!(run.with_reason("caml_stw_empty_minor_heap") >= 7, "one for each call of Gc.minor");
}

/// Domains that lose the race for a stop do their share of it inside the same function: those are no windows.
#[test]
fn domains_of_ocaml_5_that_lose_the_race_make_no_windows() {
    let run = ocaml_5("ocaml5-domains");
    let (led, asked) = stops_of(&run.log);
    assert!(asked > led, "no race was lost: the test says nothing ({led} stops)");
}

// ---- the Boehm collector

/// The lengths that the collector logs, in ns.
fn logged_marking_ns(log: &str) -> Vec<u64> {
    let lines = log.lines().filter_map(|line| line.strip_prefix("World-stopped marking took "));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            words[0].parse::<u64>().unwrap() * 1_000_000 + words[2].parse::<u64>().unwrap()
        })
        .collect()
}

fn boehm(program: &str) -> Run {
    as_root();
    let run = Program::build(program).traced(&[("GC_PRINT_STATS", "1")]);
    assert_eq!(run.runtime().0, "boehm");
    run.one_window_each();
    run.in_order();
    assert!(run.windows.iter().all(|window| window.stopping_ns.is_some() && window.is_gc == Some(true)));
    run
}

fn as_long_as_logged(run: &Run) {
    let logged = logged_marking_ns(&run.log);
    assert_eq!(logged.len(), run.windows.len(), "{}", run.log);
    for (window, logged) in run.windows.iter().zip(logged) {
        // The collector's clock begins after the window and ends before it.
        assert!(duration_ns(window) >= logged, "{} ns, {logged} by the log", duration_ns(window));
    }
}

#[test]
fn boehm_s_windows_are_its_collections_and_as_long_as_it_logs() {
    as_long_as_logged(&boehm("boehm"));
}

#[test]
fn boehm_in_a_shared_library() {
    as_long_as_logged(&boehm("boehm-shared"));
}

#[test]
fn guile_s_windows_are_its_collections() {
    boehm("guile");
}

#[test]
fn boehm_without_its_places_is_an_error_that_names_them() {
    as_root();
    for program in ["boehm-stripped", "guile-stripped"] {
        let said = Program::build(program).refused().stderr;
        for part in ["libgc.so.1", "Boehm GC", "GC_stopped_mark", "libgc1-dbgsym"] {
            assert!(said.contains(part), "no {part} in: {said}");
        }
    }
}

#[test]
fn crystal_s_windows_are_its_collections_and_as_long_as_the_collector_logs() {
    as_long_as_logged(&boehm("crystal"));
}

// ---- D

#[test]
fn d_s_windows_are_its_collections_and_as_long_as_it_counts() {
    as_root();
    for program in ["d", "d-static"] {
        let run = Program::build(program).traced(&[]);
        assert_eq!(run.runtime().0, "d");
        run.one_window_each();
        run.in_order();
        assert_eq!(run.number("collections"), run.windows.len() as u64);
        // The runtime's clock begins before the window and ends after it.
        let (sum_ns, paused_ns) = (run.sum_ns(), run.number("paused_ns"));
        assert!(sum_ns <= paused_ns, "{sum_ns} ns, {paused_ns} by the runtime");
        // What is not in the window takes microseconds; a thread that lost its CPU there can't have done so in every one.
        assert!(sum_ns >= paused_ns / 2, "{sum_ns} ns, {paused_ns} by the runtime");
        let longest_ns = run.windows.iter().map(duration_ns).max().unwrap();
        assert!(longest_ns <= run.number("longest_ns"));
    }
}

// ---- SBCL

#[test]
fn sbcl_s_windows_are_its_collections_with_their_generations() {
    as_root();
    let run = Program::build("sbcl").traced(&[]);
    let (name, version) = run.runtime();
    assert_eq!(name, "sbcl");
    assert!(version.starts_with("2."), "{version}");
    run.one_window_each();
    run.in_order();
    assert_eq!(run.number("collections"), run.windows.len() as u64);
    for (window, interval) in run.windows.iter().zip(&run.intervals) {
        assert_eq!(window.reason, format!("generation {}", interval.kind));
        assert!(window.stopping_ns.is_some() && window.is_gc == Some(true));
    }
}

// ---- GHC

#[test]
fn ghc_s_windows_are_its_collections_and_as_long_as_it_counts() {
    as_root();
    for program in ["ghc", "ghc-threaded"] {
        let run = Program::build(program).traced(&[]);
        let (name, version) = run.runtime();
        assert_eq!((name, version), ("ghc", "9.0.2"));
        run.one_window_each();
        run.in_order();
        assert_eq!(run.number("collections"), run.windows.len() as u64);
        assert_eq!(run.number("major"), run.with_reason("generation 1") as u64);
        for (window, interval) in run.windows.iter().zip(&run.intervals) {
            let generation = if interval.kind == "major" { 1 } else { 0 };
            assert_eq!(window.reason, format!("generation {generation}"));
            assert_eq!(
                window.stopping_ns.is_some(),
                program == "ghc-threaded",
                "only there is a stopping phase"
            );
        }
        // The runtime's clock begins when all have stopped, and ends before they are let go.
        let paused_ns = run.number("paused_ns");
        assert!(run.sum_ns() >= paused_ns, "{} ns, {paused_ns} by the runtime", run.sum_ns());
    }
}

// ---- Mono

/// The runtime logs each stop: which generation it was for, and for how long.
fn logged_stops(log: &str) -> Vec<(&'static str, f64)> {
    let stop = |line: &str| {
        let (kind, rest) = line.split_once("GC_")?.1.split_once(": (")?;
        let reason = match kind {
            "MINOR" => "nursery",
            "MAJOR" => "major",
            _ => return None,
        };
        let stopped_ms = rest.split_once(", stw ")?.1.split_once("ms")?.0;
        Some((reason, stopped_ms.parse().unwrap()))
    };
    log.lines().filter_map(stop).collect()
}

/// Debian's build is stripped; its debug symbols are a package of their own.
#[test]
fn mono_s_windows_are_its_collections_and_as_long_as_it_logs() {
    as_root();
    let run = Program::build("mono").traced(&[("MONO_LOG_LEVEL", "debug"), ("MONO_LOG_MASK", "gc")]);
    let (name, version) = run.runtime();
    assert_eq!((name, version), ("mono", "6.8.0"));
    run.one_window_each();
    run.in_order();
    assert_eq!(run.number("minor"), run.with_reason("nursery") as u64);
    assert_eq!(run.number("major"), run.with_reason("major") as u64);
    let logged = logged_stops(&run.log);
    assert_eq!(logged.len(), run.windows.len(), "{}", run.log);
    for (window, (reason, stopped_ms)) in run.windows.iter().zip(logged) {
        assert_eq!(window.reason, reason);
        // The runtime's clock begins after the window and ends before it; the log is rounded to 0.01 ms.
        let (ns, logged_ns) = (duration_ns(window) as f64, stopped_ms * 1e6);
        assert!(ns >= logged_ns - 5e3, "{ns} ns, {logged_ns} by the log");
    }
}

#[test]
fn mono_without_its_places_is_an_error_that_names_them() {
    as_root();
    let said = Program::build("mono-stripped").refused().stderr;
    for part in ["Mono (SGen)", "sgen_stop_world", "mono-runtime-dbg", ".debug/mono-sgen"] {
        assert!(said.contains(part), "no {part} in: {said}");
    }
}

// ---- Julia

/// The runtime logs each of its passes; a full collection can have a second one within the same stop.
#[test]
fn julia_s_windows_are_its_collections() {
    as_root();
    let run = Program::build("julia").traced(&[]);
    assert_eq!(run.runtime(), ("julia", "1.13"));
    run.one_window_each();
    run.in_order();
    let again = run.log.matches("recollect").count();
    assert_eq!(run.windows.len(), run.log.matches("GC: pause").count() - again, "{}", run.log);
    assert!(again <= run.with_reason("full"), "{}", run.log);
    for (window, interval) in run.windows.iter().zip(&run.intervals) {
        assert_eq!(window.reason, interval.kind);
        assert!(window.stopping_ns.is_some() && window.is_gc == Some(true));
    }
    let collected_ns = run.number("collected_ns");
    assert!(run.sum_ns() >= collected_ns, "{} ns, {collected_ns} by the runtime", run.sum_ns());
}

// ---- Erlang

/// Its processes' own collections stop nothing and are no windows; what stops the whole machine is.
#[test]
fn erlang_s_windows_are_its_whole_machine_stops() {
    as_root();
    let run = Program::build("erlang").traced(&[]);
    let (name, version) = run.runtime();
    assert_eq!(name, "erlang");
    assert!(version.starts_with("13."), "{version}");
    run.all_complete();
    run.fits();
    assert!(run.number("process_collections") >= 20);
    assert_eq!(run.windows.len() as u64, run.number("collections"));
    for window in &run.windows {
        assert_eq!((window.reason.as_str(), window.is_gc), ("whole-machine stop", Some(false)));
    }
}
