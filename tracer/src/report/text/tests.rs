//! Whole pages as expectations, in `expected/`: what a person reads is what is tested.

use std::path::Path;

use super::{Style, render};
use crate::report::fixtures;
use crate::report::model::{Report, Summary};

const PLAIN: Style = Style { colour: false, width: 100, verbose: false };

/// With `UPDATE_EXPECTED=1` the files are written instead of compared, to be read before they are kept.
fn check(name: &str, report: &Report, style: &Style) {
    let text = render(report, style);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/text/expected").join(name);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert!(text == expected, "{} differs; it is now:\n{text}", path.display());
}

#[test]
fn the_story() {
    check("story.txt", &fixtures::story(), &PLAIN);
}

#[test]
fn the_story_in_a_narrow_terminal() {
    check("story_narrow.txt", &fixtures::story(), &Style { width: 20, ..PLAIN });
}

#[test]
fn everything() {
    check("story_verbose.txt", &fixtures::story(), &Style { verbose: true, ..PLAIN });
}

#[test]
fn no_pause_at_all() {
    check("no_pauses.txt", &fixtures::no_pauses(), &PLAIN);
}

#[test]
fn a_thread_that_stops_late() {
    check("slow_stop.txt", &fixtures::slow_stop(), &PLAIN);
}

#[test]
fn a_quota_that_is_used_up() {
    check("throttled.txt", &fixtures::throttled(), &PLAIN);
}

#[test]
fn pauses_not_seen_whole() {
    check("partial.txt", &fixtures::partial(), &PLAIN);
}

#[test]
fn dropped_details() {
    check("incomplete.txt", &fixtures::incomplete(), &PLAIN);
}

#[test]
fn stops_that_were_no_collections() {
    check("other_stops.txt", &fixtures::other_stops(), &PLAIN);
}

#[test]
fn calls_of_a_function() {
    check("calls.txt", &fixtures::calls(), &PLAIN);
}

#[test]
fn windows_of_the_user() {
    check("user_windows.txt", &fixtures::user_windows(), &PLAIN);
}

#[test]
fn pauses_with_workers() {
    check("workers.txt", &fixtures::workers(), &PLAIN);
}

#[test]
fn calls_and_windows_are_called_so_and_names_stay() {
    let calls = render(&fixtures::calls(), &Style { verbose: true, ..PLAIN });
    assert!(calls.contains("main.(*Pauses).pause"), "{calls}");
    let windows = render(&fixtures::user_windows(), &Style { verbose: true, ..PLAIN });
    for (text, name) in [(&calls, "main.(*Pauses).pause"), (&windows, "txn_begin")] {
        let rest = text.replace(name, "").replace("pauselens", "").to_lowercase();
        for word in ["pause", "stopping", "restart", "collect", "world", "unknown reason"] {
            assert!(!rest.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn a_pause_of_less_than_the_program_says_what_it_stops() {
    let mut report = fixtures::other_stops();
    assert!(!render(&report, &PLAIN).contains("\nStops "));
    report.windows.stops =
        "the thread that is in it, and those that wait for a lock that it holds".to_owned();
    (report.windows.has_stopped, report.windows.has_restarting) = (false, false);
    report.windows.discarded = 3;
    for pause in &mut report.pauses {
        (pause.stopped_ns, pause.restarting_ns, pause.stopping_ns) = (None, None, None);
    }
    let text = render(&report, &PLAIN);
    assert!(
        text.contains("\nStops        the thread that is in it, and those that wait for a lock"),
        "{text}"
    );
    assert!(text.contains("\nDiscarded    3 requests that another one had come before"), "{text}");
    assert!(!text.contains("stopping"), "{text}");
}

#[test]
fn what_has_no_mark_of_its_own_is_told_together() {
    let mut report = fixtures::workers();
    assert!(render(&report, &PLAIN).contains("; stopping 12.0 µs, stopped and restarting 9.99 ms\n"));
    report.windows.has_stopped = false;
    report.windows.has_restarting = true;
    report.pauses[0].restarting_ns = report.pauses[0].resumed_ns.map(|ns| ns - 1_000_000);
    assert!(render(&report, &PLAIN).contains("; stopping and stopped 9.00 ms, restarting 1.00 ms\n"));
}

#[test]
fn hostile_names() {
    for verbose in [false, true] {
        for width in [0, 60, 80, 100, usize::MAX] {
            fits(&fixtures::hostile(), &Style { width, verbose, colour: false });
        }
    }
    let text = render(&fixtures::hostile(), &PLAIN);
    assert!(text.contains("\\x1b[2J\\x1b]0;owned\\x07nnn"));
    assert!(text.contains(";<a b>"));
    assert!(text.lines().count() < 500, "long names fill the page: {} lines", text.lines().count());
}

#[test]
fn random_reports_fit() {
    for seed in 1..200 {
        let report = fixtures::random(seed);
        let style =
            Style { width: 40 + usize::try_from(seed).unwrap() % 80, verbose: seed % 3 == 0, colour: false };
        fits(&report, &style);
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    for report in [fixtures::story(), fixtures::incomplete(), fixtures::partial(), fixtures::hostile()] {
        let coloured = render(&report, &Style { colour: true, ..PLAIN });
        assert!(coloured.contains("\x1b["));
        let mut plain = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once("\x1b[") {
            plain.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        plain.push_str(rest);
        assert_eq!(plain, render(&report, &PLAIN));
    }
}

#[test]
fn unknown_is_never_zero() {
    let text = render(&fixtures::partial(), &PLAIN);
    assert!(text.contains("requested unknown"), "{text}");
    assert!(text.contains("length unknown"), "{text}");
    let mut report = fixtures::other_stops();
    report.summary = Summary { median_ns: None, p99_ns: None, stopping_ns: None, ..report.summary };
    let text = render(&report, &PLAIN);
    assert!(text.contains("median —, p90 99.0 µs, p99 —, worst 99.0 µs"), "{text}");
    assert!(text.contains("stopping is unknown"), "{text}");
}

fn fits(report: &Report, style: &Style) {
    let width = style.width.clamp(60, 100);
    for line in render(report, style).lines() {
        assert!(line.chars().count() <= width, "{} of {width} columns: {line}", line.chars().count());
        assert!(!line.contains(char::is_control), "{line:?}");
        assert!(!line.ends_with(' '), "{line:?}");
    }
}
