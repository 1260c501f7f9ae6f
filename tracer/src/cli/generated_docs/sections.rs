//! The sections of manual pages that clap doesn't know of, and those that are made of a verb's help.

use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use super::NAME;

/// What is said of the program.
pub(super) fn description() -> Roff {
    let mut roff = Roff::new();
    for paragraph in [
        "The process is not stopped, not sent a signal and not written to; it needs no restart, no flag and no \
         agent. Nothing stays behind when pauselens ends, however it ends.",
        "Tracing needs Linux 5.10 or later and root. What reads recordings (report, compare) needs neither.",
    ] {
        roff.control("PP", []);
        roff.text([roman(paragraph)]);
    }
    roff
}

/// The line of the help that says what each exit status means.
pub(super) fn exit_status(help: &str) -> Roff {
    let mut roff = Roff::new();
    let listed = help.lines().find_map(|line| line.strip_prefix("Exit status: ")).unwrap_or_default();
    for (status, meaning) in statuses(listed) {
        if roff == Roff::new() {
            roff.control("SH", ["EXIT STATUS"]);
        }
        item(&mut roff, [bold(status)], &meaning);
    }
    roff
}

/// `0 done; 1 this; or that; 2 other.` by number.
fn statuses(listed: &str) -> Vec<(String, String)> {
    let mut statuses: Vec<(String, String)> = Vec::new();
    for part in listed.trim_end_matches('.').split("; ") {
        match (part.split_once(' '), statuses.last_mut()) {
            (Some((number, meaning)), _) if number.parse::<u8>().is_ok() => {
                statuses.push((number.to_owned(), meaning.to_owned()));
            }
            (_, Some((_, meaning))) => *meaning = format!("{meaning}; {part}"),
            (_, None) => {}
        }
    }
    statuses
}

/// What is looked at of the environment; `traces`: by a verb that traces.
pub(super) fn environment(traces: bool) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["ENVIRONMENT"]);
    for (name, meaning) in [
        ("NO_COLOR", "When it is set and not empty there are no colours, unless --color always is given."),
        (
            "CLICOLOR, CLICOLOR_FORCE",
            "Without NO_COLOR and --color: CLICOLOR_FORCE asks for colours in a pipe too, CLICOLOR=0 for none.",
        ),
        (
            "TERM",
            "On a terminal that is dumb there are no colours, unless CI is set, and no progress is shown.",
        ),
        ("CI", "When it is set, a terminal gets colours though TERM says that it is dumb, or says nothing."),
    ] {
        item(&mut roff, [bold(name)], meaning);
    }
    if traces {
        let meaning =
            "Where the recording is meanwhile that a picture of the trace is drawn from; /tmp without it.";
        item(&mut roff, [bold("TMPDIR")], meaning);
    }
    roff
}

/// What is read besides the process itself.
pub(super) fn files() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["FILES"]);
    for (path, meaning) in [
        (
            "/tmp/perf-PID.map, jit-PID.dump",
            "Where the process writes down the names of the code that it generates; of its own root folder.",
        ),
        (
            "/usr/lib/debug",
            "Symbols and debug information that were split off, found by build id or by name.",
        ),
        ("/sys/kernel/tracing", "The kernel's tracepoints; it need not be mounted."),
    ] {
        item(&mut roff, [italic(path)], meaning);
    }
    roff
}

/// The help's examples, line by line; a verb without any has those of the program's help that are its own. `own`: the
/// verb as it is typed.
pub(super) fn examples(help: &str, of_program: &str, own: &str) -> Roff {
    let lines_of = |help| {
        let lines = str::lines(help).skip_while(|line| *line != "Examples:").skip(1);
        lines.take_while(|line| !line.is_empty()).map(str::trim)
    };
    let mut lines: Vec<&str> = lines_of(help).collect();
    if lines.is_empty() {
        lines = lines_of(of_program).filter(|line| line.starts_with(own)).collect();
    }
    let mut roff = Roff::new();
    if lines.is_empty() {
        return roff;
    }
    roff.control("SH", ["EXAMPLES"]);
    for line in lines {
        // Behind two blanks it is said what for.
        let (command, meaning) = line.split_once("  ").unwrap_or((line, ""));
        item(&mut roff, [bold(command)], meaning.trim());
    }
    roff
}

/// The other pages.
pub(super) fn see_also(own: &str, verbs: &[&str]) -> Roff {
    let mut names = vec![NAME.to_owned()];
    names.extend(verbs.iter().map(|verb| format!("{NAME}-{verb}")));
    names.retain(|name| name != own);
    let mut line: Vec<Inline> = Vec::new();
    for name in names {
        line.extend([bold(name), roman("(1), ")]);
    }
    line.extend([bold("perf"), roman("(1), "), bold("bpf"), roman("(2)")]);
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    roff.text(line);
    roff.control("PP", []);
    roff.text([roman("What is called docs/ here comes with pauselens, beside its README.md.")]);
    roff
}

fn item(roff: &mut Roff, head: [Inline; 1], text: &str) {
    roff.control("TP", []);
    roff.text(head);
    roff.text([roman(text)]);
}

#[cfg(test)]
mod tests {
    use super::statuses;

    #[test]
    fn a_meaning_can_hold_a_semicolon() {
        let found = statuses("0 done; 1 no file; or an empty one; 3 partial.");
        let expected = [("0", "done"), ("1", "no file; or an empty one"), ("3", "partial")];
        assert_eq!(found, expected.map(|(number, meaning)| (number.to_owned(), meaning.to_owned())));
        assert_eq!(statuses(""), []);
    }
}
