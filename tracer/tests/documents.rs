//! What `generate-docs` writes: every shell's completions and a manual page for every verb; and how pauselens behaves
//! when its output is read by a pager, or by nobody.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pauselens.rs"]
#[allow(dead_code, reason = "only the binary's path is used")]
mod pauselens;

use std::{
    fs,
    io::Read as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use pauselens::binary;

const ESCAPE: &str = "\u{1b}[";

fn ran(arguments: &[&str], set: &[(&str, &str)]) -> Output {
    let mut command = Command::new(binary());
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").envs(set.iter().copied());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The verbs that help shows.
fn verbs() -> Vec<String> {
    let help = text(&ran(&["--help"], &[]).stdout);
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs: Vec<String> = listed
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|word| !word.is_empty()))
        .map(str::to_owned)
        .filter(|verb| verb != "help")
        .collect();
    assert!(verbs.len() > 5 && verbs.contains(&"attach".to_owned()), "{verbs:?}");
    verbs
}

fn generated() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ended = ran(&["generate-docs", folder.path().to_str().unwrap()], &[]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    folder
}

#[test]
fn bash_loads_the_completions_and_completes_verbs_and_options() {
    let folder = generated();
    let script = "source \"$1\"; complete -p pauselens; \
                  COMP_WORDS=(pauselens \"$2\"); COMP_CWORD=1; _pauselens pauselens \"$2\" pauselens; echo \"${COMPREPLY[@]}\"; \
                  COMP_WORDS=(pauselens attach --memory-in); COMP_CWORD=2; _pauselens pauselens --memory-in attach; \
                  echo \"${COMPREPLY[@]}\"";
    let file = folder.path().join("completions/pauselens");
    let bash =
        Command::new("bash").args(["--norc", "-c", script, "bash"]).arg(&file).arg("att").output().unwrap();
    let said = text(&bash.stdout);
    assert!(bash.status.success() && bash.stderr.is_empty(), "{}", text(&bash.stderr));
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("_pauselens"), "{said}");
    assert_eq!(lines[1..], ["attach", "--memory-interval"], "{said}");
    for name in ["_pauselens", "pauselens.fish"] {
        let text = fs::read_to_string(folder.path().join("completions").join(name)).unwrap();
        assert!(!text.contains("demo-target"), "{name} has a hidden verb");
        for verb in verbs() {
            assert!(text.contains(&verb), "{name} has no {verb}");
        }
    }
}

#[test]
fn every_verb_has_a_manual_page_that_renders_without_a_warning() {
    let folder = generated();
    let man = folder.path().join("man/man1");
    let mut pages = vec!["pauselens".to_owned()];
    pages.extend(verbs().into_iter().map(|verb| format!("pauselens-{verb}")));
    let mut written: Vec<String> = fs::read_dir(&man)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| name.strip_suffix(".1").unwrap().to_owned())
        .collect();
    written.sort_unstable();
    pages.sort_unstable();
    assert_eq!(written, pages, "hidden verbs have none");
    for page in &pages {
        let path = man.join(format!("{page}.1"));
        let source = fs::read_to_string(&path).unwrap();
        for part in [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"] {
            assert!(source.contains(part), "{page} has no {part}");
        }
        rendered(page, &path);
    }
}

/// By groff, where it is there.
fn rendered(page: &str, path: &Path) {
    let groff = Command::new("groff").args(["-man", "-Tutf8", "-ww", "-z"]).arg(path).output();
    let Ok(groff) = groff else {
        eprintln!("groff is not here: {page} was not rendered");
        return;
    };
    assert!(groff.status.success() && groff.stderr.is_empty(), "{page}: {}", text(&groff.stderr));
}

#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    for arguments in [&["--help"][..], &["attach"], &["runtimes"]] {
        let coloured = |more: &[&str], set: &[(&str, &str)]| {
            let ended = ran(&[more, arguments].concat(), set);
            text(&ended.stdout).contains(ESCAPE) || text(&ended.stderr).contains(ESCAPE)
        };
        assert!(!coloured(&[], &[]), "{arguments:?}: a pipe gets none");
        assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]), "{arguments:?}");
        assert!(!coloured(&[], &[("NO_COLOR", "1")]), "{arguments:?}");
    }
    // A pager that shows them, such as `less -R`.
    for arguments in [&["--color", "always", "--help"][..], &["--color=always", "attach"]] {
        let ended = ran(arguments, &[]);
        assert!(
            text(&ended.stdout).contains(ESCAPE) || text(&ended.stderr).contains(ESCAPE),
            "{arguments:?}"
        );
    }
}

/// Whoever reads it can go away at any time: nothing panics, and the exit status says what was done.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [&["runtimes"][..], &["runtimes", "--format", "json"], &["--help"]] {
        let mut command = Command::new(binary());
        let mut child =
            command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), &*said), (Some(0), ""), "{arguments:?}");
    }
    // Nobody reads what goes wrong either.
    let mut command = Command::new(binary());
    command.args(["report", "/nonexistent"]).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
