//! What `generate-docs` writes: every shell's completions and a manual page for every verb; and how pauselens behaves
//! when its output is read by a pager, or by nobody.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pauselens.rs"]
#[allow(dead_code, reason = "only the binary's path is used")]
mod pauselens;
#[path = "support/shell_tools.rs"]
mod shell_tools;

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use pauselens::binary;
use shell_tools::shell_tools;

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
    let ended = ran(&["generate-docs", folder.path().to_str().unwrap(), "--date", "2026-01-02"], &[]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    folder
}

/// What is completed: the words, of which the last one is not finished, and what becomes of it.
fn completed(folder: &Path) -> Vec<(Vec<&'static str>, &'static str)> {
    let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    fs::write(folder.join("a recording.zst"), "").unwrap();
    vec![
        (words("pauselens att"), "attach"),
        (words("pauselens --vers"), "--version"),
        (words("pauselens attach --memory-in"), "--memory-interval"),
        (words("pauselens report --format h"), "html"),
        (words("pauselens attach --runtime hots"), "hotspot"),
        (words("pauselens attach --key thr"), "thread"),
        (words("pauselens attach --duration 3"), "3"),
        // A file whose name has a blank in it.
        (vec!["pauselens", "attach", "--output", "a re"], "a recording.zst"),
    ]
}

const BASH: &str = r#"
source "$1"
compopt() { :; }  # is for the shell's own line editor
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_pauselens pauselens "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// What bash makes of the words; nothing means the names of files.
fn in_bash(script: &Path, words: &[&str]) -> Vec<String> {
    let bash = Command::new("bash")
        .args(["--norc", "-c", BASH, "bash"])
        .arg(script)
        .args(words)
        .current_dir(script.parent().unwrap())
        .output()
        .unwrap();
    assert!(bash.status.success() && bash.stderr.is_empty(), "{words:?}: {}", text(&bash.stderr));
    text(&bash.stdout).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_verbs_options_values_files_and_pids() {
    let folder = generated();
    let script = folder.path().join("completions/pauselens");
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", r#"source "$1"; complete -p pauselens"#, "bash"]).arg(&script);
    let registered = text(&bash.output().unwrap().stdout);
    assert!(registered.contains("-F _pauselens") && registered.contains("-o default"), "{registered}");
    for (words, to) in completed(script.parent().unwrap()) {
        assert_eq!(in_bash(&script, &words), [to], "{words:?}");
    }
    // bash takes an equals sign for a word.
    assert_eq!(in_bash(&script, &["pauselens", "report", "--format", "=", "fl"]), ["flamegraph"]);
    assert_eq!(in_bash(&script, &["pauselens", "report", "--by", "="]), ["time", "count"]);
    // Nothing of ours: then bash puts files.
    for words in [&["pauselens", "report", ""][..], &["pauselens", "compare", "x", "--", ""]] {
        assert_eq!(in_bash(&script, words), [""; 0], "{words:?}");
    }
    let mut shown: Vec<String> = in_bash(&script, &["pauselens", ""]);
    shown.retain(|word| !word.starts_with('-') && word != "help");
    assert_eq!(shown, verbs(), "the hidden ones are not there");
    let pid = std::process::id().to_string();
    for words in [["pauselens", "attach", "--pid", &*pid], ["pauselens", "check", "-p", &pid]] {
        assert!(in_bash(&script, &words).contains(&pid), "{words:?}");
    }
}

/// Types the words into an interactive zsh, presses TAB, and prints the line.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty shell ${(q)0} -d -i
zpty -w shell "PS1=; fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -u -D; cd ${(q)1}"
zpty -w shell 'line() { print -r -- "<<$BUFFER>>" }; zle -N line; bindkey "^X" line; bindkey "^I" complete-word'
zpty -w shell 'print -r -- REA""DY'
while zpty -r shell said; do [[ $said == *READY* ]] && break; done
zpty -w -n shell "$2"$'\t\x18'
while zpty -r shell said; do
    [[ $said == *"<<"*">>"* ]] && { print -r -- "${${said##*<<}%%>>*}"; break; }
done
zpty -d shell
"#;

#[test]
fn zsh_completes_the_same() {
    let tools = shell_tools();
    let folder = generated();
    let completions = folder.path().join("completions");
    let home = tempfile::tempdir().unwrap();
    let typed = |words: &[&str]| {
        let line = words.iter().map(|word| word.replace(' ', "\\ ")).collect::<Vec<_>>().join(" ");
        let mut zsh = Command::new("timeout");
        zsh.arg("60").arg(tools.join("zsh")).args(["-d", "-c", ZSH]).arg(tools.join("zsh"));
        zsh.arg(&completions).arg(&line);
        let zsh = zsh.env("HOME", home.path()).env("TERM", "xterm").output().unwrap();
        assert!(zsh.status.success() && zsh.stderr.is_empty(), "{line}: {zsh:?}");
        text(&zsh.stdout).trim_end().trim_end_matches('=').trim_end().to_owned()
    };
    let pid = std::process::id().to_string();
    let mut all = completed(&completions);
    all.push((vec!["pauselens", "report", "a re"], "a recording.zst"));
    for (words, to) in all {
        let (_, first) = words.split_last().unwrap();
        let expected = format!("{} {}", first.join(" "), to.replace(' ', "\\ "));
        assert_eq!(typed(&words), expected, "{words:?}");
    }
    let words = ["pauselens", "attach", "--pid", &pid];
    assert_eq!(typed(&words), words.join(" "));
}

const FISH: &str = r#"cd $argv[2]; source $argv[1]; complete -C $argv[3]"#;

#[test]
fn fish_completes_the_same() {
    let tools = shell_tools();
    let folder = generated();
    let completions = folder.path().join("completions");
    let home = tempfile::tempdir().unwrap();
    let typed = |words: &[&str]| -> Vec<String> {
        let line = words.iter().map(|word| word.replace(' ', "\\ ")).collect::<Vec<_>>().join(" ");
        let mut fish = Command::new(tools.join("fish"));
        fish.args(["-c", FISH]).arg(completions.join("pauselens.fish")).arg(&completions).arg(&line);
        let fish = fish.env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path()).output().unwrap();
        assert!(fish.status.success() && fish.stderr.is_empty(), "{line}: {fish:?}");
        let said = text(&fish.stdout);
        said.lines().filter_map(|line| line.split('\t').next()).map(str::to_owned).collect()
    };
    let mut all = completed(&completions);
    all.push((vec!["pauselens", "report", "a re"], "a recording.zst"));
    for (words, to) in all {
        // Only what is there is proposed.
        let expected = if to == "3" { vec![] } else { vec![to] };
        assert_eq!(typed(&words), expected, "{words:?}");
    }
    let pid = std::process::id().to_string();
    assert!(typed(&["pauselens", "attach", "--pid", &pid]).contains(&pid));
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
        let title = format!(".TH {} 1 2026-01-02 \"pauselens 0.", page.to_uppercase());
        assert!(source.contains(&title), "{page} has no {title}");
        for part in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"] {
            let heads = [format!(".SH {part}\n"), format!(".SH \"{part}\"\n")];
            assert!(heads.iter().any(|head| source.contains(head)), "{page} has no {part}");
        }
        assert!(source.contains(".TP\n\\fB0\\fR\n"), "{page} does not say what status 0 is");
    }
    let paths: Vec<PathBuf> = pages.iter().map(|page| man.join(format!("{page}.1"))).collect();
    let tools = shell_tools();
    // Of mandoc's warnings one is about clap's blank lines, and no reader sees it.
    let programs: [(&str, &[&str], &str); 2] =
        [("groff", &["-man", "-Tutf8", "-ww", "-z"], ""), ("mandoc", &["-Tlint", "-Wwarning"], "macro: br")];
    for (program, arguments, harmless) in programs {
        let ended = Command::new(tools.join(program)).args(arguments).args(&paths).output().unwrap();
        let said = text(&ended.stdout) + &text(&ended.stderr);
        let complaints = said.lines().filter(|line| harmless.is_empty() || !line.contains(harmless));
        assert_eq!(complaints.collect::<Vec<_>>(), [""; 0], "{program}");
    }
}

/// Each page that is named is there.
#[test]
fn manual_pages_refer_to_pages_that_are_there() {
    let folder = generated();
    let man = folder.path().join("man/man1");
    let main = fs::read_to_string(man.join("pauselens.1")).unwrap().replace('\\', "");
    let mut named = 0;
    for reference in main.split("pauselens-").skip(1) {
        if let Some((verb, _)) = reference.split_once("(1)").or_else(|| reference.split_once("fR(1)")) {
            let verb = verb.trim_end_matches("fR");
            if verb.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-') {
                assert!(man.join(format!("pauselens-{verb}.1")).is_file(), "{verb}");
                named += 1;
            }
        }
    }
    // Where verbs are listed, and under what else to see.
    assert_eq!(named, 2 * verbs().len());
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
