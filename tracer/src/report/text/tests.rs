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
