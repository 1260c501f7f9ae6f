//! `pauselens generate-docs`: completions for shells, and manual pages, from the same definitions that are parsed.

mod completions;
mod pages;
mod repairs;
mod sections;

use std::{
    fs::{self, File},
    path::Path,
};

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};

use super::{args::Cli, exit::Exit, generate_docs_args::GenerateDocsArgs};

const NAME: &str = "pauselens";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes all of it.
pub(super) fn generate_docs(arguments: &GenerateDocsArgs) -> anyhow::Result<Exit> {
    let folder = |name: &str| {
        let folder = arguments.folder.join(name);
        fs::create_dir_all(&folder).with_context(|| format!("{} can't be made", folder.display()))?;
        anyhow::Ok(folder)
    };
    completions::write(&folder("completions")?)?;
    pages::write(&folder("man/man1")?, arguments.date.as_deref())?;
    Ok(Exit::Done)
}

/// The command without the verbs that help doesn't show.
fn shown() -> Command {
    let all = Cli::command();
    Command::new(NAME)
        .version(VERSION)
        .about(all.get_about().cloned().unwrap_or_default())
        .after_help(all.get_after_help().cloned().unwrap_or_default())
        .subcommand_required(true)
        .args(all.get_arguments().cloned())
        .subcommands(all.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned())
}

fn create(path: &Path) -> anyhow::Result<File> {
    File::create(path).with_context(|| format!("{} can't be written", path.display()))
}
