//! `pauselens generate-docs`: completions for shells, and manual pages, from the same definitions that are parsed.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::{Args, Command, CommandFactory as _};
use clap_complete::{Shell, generate};

use super::{args::Cli, exit::Exit};

const NAME: &str = "pauselens";

/// `generate-docs`.
#[derive(Args, Debug)]
pub struct GenerateDocsArgs {
    /// The folder: it gets completions/ and man/man1/
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Writes all of it.
pub(super) fn generate_docs(arguments: &GenerateDocsArgs) -> anyhow::Result<Exit> {
    let folder = |name: &str| {
        let folder = arguments.folder.join(name);
        fs::create_dir_all(&folder).with_context(|| format!("{} can't be made", folder.display()))?;
        anyhow::Ok(folder)
    };
    completions(&folder("completions")?)?;
    pages(&folder("man/man1")?)?;
    Ok(Exit::Done)
}

/// The files have the names under which the shells look for them.
fn completions(folder: &Path) -> anyhow::Result<()> {
    let shells = [
        (Shell::Bash, NAME.to_owned()),
        (Shell::Zsh, format!("_{NAME}")),
        (Shell::Fish, format!("{NAME}.fish")),
    ];
    for (shell, name) in shells {
        let path = folder.join(name);
        let mut file = File::create(&path).with_context(|| format!("{} can't be written", path.display()))?;
        generate(shell, &mut shown(), NAME, &mut file);
    }
    Ok(())
}

/// The command without the verbs that help doesn't show.
fn shown() -> Command {
    let all = Cli::command();
    Command::new(NAME)
        .args(all.get_arguments().cloned())
        .subcommands(all.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned())
}

/// One for the program and one for each verb that is shown.
fn pages(folder: &Path) -> anyhow::Result<()> {
    let mut command = Cli::command();
    command.build();
    page(&command, NAME, folder)?;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help") {
        page(verb, &format!("{NAME}-{}", verb.get_name()), folder)?;
    }
    Ok(())
}

fn page(command: &Command, name: &str, folder: &Path) -> anyhow::Result<()> {
    let path = folder.join(format!("{name}.1"));
    let mut file = File::create(&path).with_context(|| format!("{} can't be written", path.display()))?;
    // The command is built: it knows its name behind the program's.
    clap_mangen::Man::new(command.clone())
        .render(&mut file)
        .with_context(|| format!("{} can't be written", path.display()))
}
