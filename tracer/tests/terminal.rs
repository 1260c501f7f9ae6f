//! pauselens in a terminal, in a pipe and before a pager: colours, and what is shown while something takes long.

#![recursion_limit = "256"]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/million_faults.rs"]
mod million_faults;
#[path = "support/pauselens.rs"]
#[allow(dead_code, reason = "the fixture and the binary's path are used")]
mod pauselens;
#[path = "support/shell_tools.rs"]
mod shell_tools;
#[path = "support/terminal.rs"]
mod terminal;

use std::fs;

use pauselens::{Fixture, binary};
use shell_tools::shell_tools;
use terminal::Terminal;

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/v1.jsonl.zst");

fn ran(line: &str, set: &[(&str, &str)]) -> Terminal {
    Terminal::of(line, &[set, &[("R", RECORDING)]].concat(), &binary())
}

/// The verbs that colour what they print, help, and a wrong usage.
const COLOURED: [&str; 4] = [r#"$P report "$R""#, r#"$P compare "$R" -- "$R""#, "$P --help", "$P report"];

#[test]
fn a_terminal_gets_colours_unless_they_are_not_wanted() {
    for line in COLOURED {
        let coloured = |more: &str, set: &[(&str, &str)]| {
            let ended = ran(&line.replacen("$P", &format!("$P {more}"), 1), set);
            assert!(ended.written.lines().count() > 3, "{line}: {ended:?}");
            ended.has_escapes()
        };
        assert!(coloured("", &[]), "{line}");
        assert!(coloured("", &[("NO_COLOR", "")]), "{line}: empty is as if it were not there");
        assert!(coloured("--color always", &[("NO_COLOR", "1")]), "{line}: the option has the last word");
        assert!(!coloured("", &[("NO_COLOR", "1")]), "{line}");
        assert!(!coloured("", &[("NO_COLOR", "0")]), "{line}: any value counts");
        assert!(!coloured("", &[("TERM", "dumb")]), "{line}");
        assert!(coloured("", &[("TERM", "dumb"), ("CI", "true")]), "{line}: its logs are shown with colours");
        assert!(!coloured("", &[("TERM", "dumb"), ("CI", "true"), ("NO_COLOR", "1")]), "{line}");
        assert!(!coloured("", &[("CLICOLOR", "0")]), "{line}");
        assert!(!coloured("--color never", &[("CLICOLOR_FORCE", "1")]), "{line}");
    }
}

#[test]
fn a_pipe_gets_no_colours_unless_they_are_asked_for() {
    for line in COLOURED {
        let piped = format!("{line} 2>&1 | cat");
        assert!(!ran(&piped, &[]).has_escapes(), "{line}");
        assert!(ran(&piped, &[("CLICOLOR_FORCE", "1")]).has_escapes(), "{line}");
        assert!(!ran(&piped, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).has_escapes(), "{line}");
        let always = piped.replacen("$P", "$P --color=always", 1);
        assert!(ran(&always, &[]).has_escapes(), "{line}");
    }
}

/// A table is laid out for the terminal's width, and for 100 columns where there is none.
#[test]
fn a_report_fits_the_terminal() {
    let widest = |line: &str| {
        let ended = ran(line, &[("NO_COLOR", "1")]);
        ended.written.lines().map(|line| line.trim_end().chars().count()).max().unwrap()
    };
    let report = r#"$P report "$R""#;
    let (narrow, wide, piped) = (
        widest(&format!("stty cols 72; {report}")),
        widest(&format!("stty cols 300; {report}")),
        widest(&format!("stty cols 72; {report} | cat")),
    );
    assert!((60..=72).contains(&narrow), "{narrow}");
    assert!((90..=100).contains(&wide), "{wide}");
    assert_eq!(piped, wide);
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    // The shell's own status is that of the last command of the pipe.
    let line = r#"{ $P report "$R" --all; echo "status $?" >&2; } | head -1"#;
    let ended = ran(line, &[]);
    let lines: Vec<&str> = ended.written.lines().map(str::trim_end).collect();
    assert!(lines.iter().any(|line| line.starts_with("pauselens 0.")), "{lines:?}");
    assert!(lines.contains(&"status 0"), "{lines:?}");
    assert_eq!(lines.len(), 2, "nothing is complained of: {lines:?}");
}

#[test]
fn a_pager_shows_the_colours_that_are_asked_for() {
    let less = shell_tools().join("less");
    let set = [("R", RECORDING), ("LESS_COMMAND", less.to_str().unwrap())];
    let paged = |more: &str| {
        let line = format!(r#"$P report "$R" {more} | "$LESS_COMMAND" -R"#);
        let ended = Terminal::typed(&line, &set, &binary(), b"q");
        assert_eq!(ended.status, 0, "{ended:?}");
        assert!(ended.written.contains("Pauses"), "{ended:?}");
        ended.written
    };
    const BOLD: &str = "\u{1b}[1mPauses\u{1b}[0m";
    assert!(paged("--color always").contains(BOLD));
    assert!(!paged("").contains(BOLD));
}

// ---- what is shown while something takes long

/// A spinner is made of dots.
fn shows_progress(text: &str) -> bool {
    text.contains(|letter| ('\u{2801}'..='\u{28ff}').contains(&letter))
}

#[test]
fn reading_a_large_recording_is_shown_on_a_terminal_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, out) = (folder.path().join("million.jsonl.zst"), folder.path().join("out"));
    million_faults::write_a_million(&recording, &binary());
    let set = [("R", recording.to_str().unwrap()), ("OUT", out.to_str().unwrap())];
    // However fast this machine is, more than a second passes.
    let ran = |arguments: &str, to: &str, more: &[(&str, &str)]| {
        let line = format!(
            r#"{{ $P report "$R" {arguments} & sleep 0.2; kill -STOP $!; sleep 1.5; kill -CONT $!; wait $!; }} {to}"#
        );
        let ended = Terminal::of(&line, &[&set, more].concat(), &binary());
        assert_eq!(ended.status, 0, "{line}: {ended:?}");
        ended
    };
    // However it is asked for, what is written is the same.
    let written = || fs::read_to_string(&out).unwrap();
    let to_file = ran(r#"--format html -o "$OUT""#, "", &[]);
    assert!(shows_progress(&to_file.written) && to_file.written.contains("reading"), "{to_file:?}");
    assert_eq!(to_file.screen().trim(), "", "it is gone in the end");
    let page = written();
    assert!(page.to_lowercase().starts_with("<!doctype html>"));
    // What has no colours can still be shown.
    let redirected = ran("--format html", r#"> "$OUT""#, &[("NO_COLOR", "1")]);
    assert!(
        shows_progress(&redirected.written) && !redirected.written.contains("\u{1b}[3"),
        "{redirected:?}"
    );
    assert_eq!((redirected.screen().trim(), written() == page), ("", true));
    let piped = ran(r#"--format html -o "$OUT""#, "2>&1 | cat", &[]);
    assert_eq!((&*piped.written, written() == page), ("", true));
    let dumb = ran(r#"--format html -o "$OUT""#, "", &[("TERM", "dumb")]);
    assert_eq!((&*dumb.written, written() == page), ("", true));
    // On the terminal itself, and before a pager, it makes way for the report.
    for to in ["", "| cat"] {
        let text = ran("--top 20", to, &[]);
        assert!(shows_progress(&text.written), "{to}: it is shown");
        let screen = text.screen();
        assert!(screen.starts_with("pauselens 0.") && !shows_progress(&screen), "{to}: {screen}");
    }
}

#[test]
fn a_trace_shows_how_it_goes_on_a_terminal_and_nowhere_else() {
    let fixture = Fixture::start(&["--rounds", "0"]);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report.json");
    let pid = fixture.pid.to_string();
    let ran = |line: &str, more: &[(&str, &str)]| {
        let set = [("PID", &*pid), ("OUT", out.to_str().unwrap())];
        Terminal::of(line, &[&set, more].concat(), &binary())
    };
    let attach = r#"$P attach --pid "$PID" --duration 1500ms --format json -o "$OUT""#;
    let shown = ran(attach, &[]);
    assert_eq!(shown.status, 0, "{shown:?}");
    assert!(shows_progress(&shown.written) && shown.written.contains("0 pauses"), "{shown:?}");
    let screen = shown.screen();
    assert!(!shows_progress(&screen), "{screen}");
    assert!(screen.contains("attached to") && screen.contains("the report is in"), "{screen}");
    for (line, set) in [(attach, &[("TERM", "dumb")][..]), (&format!("{attach} 2>&1 | cat"), &[])] {
        let plain = ran(line, set);
        assert!(!plain.has_escapes() && !shows_progress(&plain.written), "{line}: {plain:?}");
        assert!(
            plain.written.contains("attached to") && plain.written.contains("the report is in"),
            "{line}"
        );
    }
    fixture.finish();
}
