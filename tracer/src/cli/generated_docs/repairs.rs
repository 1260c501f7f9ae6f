//! What the generated completion scripts lack, put in: process ids, files behind verbs that take files, `--option=`.

use anyhow::bail;
use clap_complete::Shell;

/// Stands for the ids of the processes that there are.
pub(super) const PIDS: &str = "PIDS";

/// The verbs behind which a file stands, where bash would be given the options.
const OF_FILES: [&str; 2] = ["report", "compare"];

/// The script with all of it.
///
/// # Errors
/// When the script has not the form that is known.
pub(super) fn repaired(shell: Shell, script: String) -> anyhow::Result<String> {
    match shell {
        Shell::Bash => {
            let script = replaced(
                &script,
                &format!(r#"$(compgen -W "{PIDS}" -- "${{cur}}")"#),
                r#"$(compgen -W "$(command ps -eo pid= 2>/dev/null)" -- "${cur}")"#,
            )?;
            let script = replaced(&script, "    prev=\"$3\"\n", BEHIND_EQUALS)?;
            OF_FILES.iter().try_fold(script, |script, verb| files_behind(verb, &script))
        }
        // zsh's own `_pids` knows those of its terminal only.
        Shell::Zsh => replaced(
            &script,
            &format!(":PID:({PIDS})"),
            ":PID:{compadd -- $(command ps -eo pid= 2>/dev/null)}",
        ),
        Shell::Fish => replaced(&script, &format!("-a \"{PIDS}\\t''\""), "-a \"(__fish_complete_pids)\""),
        _ => Ok(script),
    }
}

/// bash takes `--option=value` for three words.
const BEHIND_EQUALS: &str = r#"    prev="$3"
    if [[ "${COMP_WORDS[COMP_CWORD]}" == "=" ]]; then
        cur=""
        prev="${COMP_WORDS[COMP_CWORD-1]}"
    elif [[ "${prev}" == "=" && ${COMP_CWORD} -ge 2 ]]; then
        prev="${COMP_WORDS[COMP_CWORD-2]}"
    fi
"#;

/// Options when a dash was typed, and otherwise nothing, for which bash puts files.
fn files_behind(verb: &str, script: &str) -> anyhow::Result<String> {
    let begin = format!("        pauselens__subcmd__{verb})\n            opts=\"-");
    let end = "            return 0\n            ;;\n        pauselens__";
    let Some((before, (part, after))) = script.split_once(&begin).and_then(|(before, rest)| {
        let at = rest.find(end)?;
        Some((before, rest.split_at(at)))
    }) else {
        bail!("bash's completions have no part for {verb} where it is expected");
    };
    let part = replaced(part, "|| ${COMP_CWORD} -eq 2 ]]", "]]")?;
    let options = "            COMPREPLY=( $(compgen -W \"${opts}\" -- \"${cur}\") )\n";
    let Some(part) = part.strip_suffix(options) else {
        bail!("bash's completions for {verb} don't end with its options");
    };
    Ok(format!("{before}{begin}{part}{after}"))
}

fn replaced(script: &str, what: &str, with: &str) -> anyhow::Result<String> {
    if !script.contains(what) {
        bail!("the completions have no {what:?}, which is to be replaced");
    }
    Ok(script.replace(what, with))
}
