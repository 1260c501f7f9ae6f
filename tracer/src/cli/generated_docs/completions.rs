//! Completions: what can stand behind each option, and one file for each shell.

use std::{io::Write as _, path::Path};

use anyhow::Context as _;
use clap::{Arg, Command, ValueHint, builder::PossibleValuesParser};
use clap_complete::{Shell, generate};

use super::{NAME, create, repairs, shown};
use crate::runtime::{catalogue_entries, definitions::TEXTS};

/// Writes them under the names by which the shells look for them.
pub(super) fn write(folder: &Path) -> anyhow::Result<()> {
    let shells = [
        (Shell::Bash, NAME.to_owned()),
        (Shell::Zsh, format!("_{NAME}")),
        (Shell::Fish, format!("{NAME}.fish")),
    ];
    for (shell, name) in shells {
        let mut script = Vec::new();
        generate(shell, &mut hinted(), NAME, &mut script);
        let script = String::from_utf8(script).context("a completion script is no text")?;
        let path = folder.join(name);
        create(&path)?
            .write_all(repairs::repaired(shell, script)?.as_bytes())
            .with_context(|| format!("{} can't be written", path.display()))?;
    }
    Ok(())
}

fn hinted() -> Command {
    let with_hints = |command: Command| command.mut_args(hint);
    let command = with_hints(shown());
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    verbs.iter().fold(command, |command, verb| command.mut_subcommand(verb, with_hints))
}

/// What the shell completes. Nothing is better than files where no file can stand.
fn hint(arg: Arg) -> Arg {
    if arg.get_value_parser().possible_values().is_some() {
        return arg;
    }
    match (arg.get_id().as_str(), arg.get_value_hint()) {
        ("pid", _) => arg.value_parser(PossibleValuesParser::new([repairs::PIDS])),
        ("runtime", _) => {
            // clap takes names that stay: for this verb, which ends the program.
            let names = catalogue_entries().into_iter().map(|entry| &*entry.name.leak());
            arg.value_parser(PossibleValuesParser::new(names))
        }
        ("show", _) => arg.value_parser(PossibleValuesParser::new(TEXTS.iter().map(|(name, _)| *name))),
        ("cgroup", _) => arg.value_hint(ValueHint::DirPath),
        (_, ValueHint::AnyPath) => arg.value_hint(ValueHint::FilePath),
        (_, ValueHint::Unknown) if !arg.is_positional() && arg.get_action().takes_values() => {
            arg.value_hint(ValueHint::Other)
        }
        _ => arg,
    }
}
