//! Manual pages: one for the program and one for each verb that is shown.

use std::{
    io::{self, Write},
    path::Path,
};

use anyhow::Context as _;
use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};

use super::{NAME, VERSION, create, sections, shown};

/// An empty one would be left out, and the next word taken for it.
const NO_DATE: &str = " ";
const MANUAL: &str = "User Commands";

/// Writes all of them.
pub(super) fn write(folder: &Path, date: Option<&str>) -> anyhow::Result<()> {
    // There is no page for the verb `help`.
    let mut command = shown().disable_help_subcommand(true);
    command.build();
    let verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let help = help_of(&command);
    let common = Common { date: date.unwrap_or(NO_DATE), help: &help, verbs: &verbs };
    let page = |command: &Command, name: &str| {
        let path = folder.join(format!("{name}.1"));
        let mut file = create(&path)?;
        render(command, name, &common, &mut file)
            .with_context(|| format!("{} can't be written", path.display()))
    };
    page(&command, NAME)?;
    command.get_subcommands().try_for_each(|verb| page(verb, &format!("{NAME}-{}", verb.get_name())))
}

/// What every page is made with.
struct Common<'a> {
    date: &'a str,
    /// What stands under the program's help.
    help: &'a str,
    verbs: &'a [&'a str],
}

fn help_of(command: &Command) -> String {
    command.get_after_help().map(ToString::to_string).unwrap_or_default()
}

fn render(command: &Command, name: &str, common: &Common<'_>, out: &mut dyn Write) -> io::Result<()> {
    // The command is built: it knows its name behind the program's.
    let page = Man::new(command.clone())
        .title(name.to_uppercase())
        .date(common.date)
        .source(format!("{NAME} {VERSION}"))
        .manual(MANUAL);
    page.render_title(out)?;
    page.render_name_section(out)?;
    synopsis(command).to_writer(out)?;
    page.render_description_section(out)?;
    let is_program = command.has_subcommands();
    let traces = is_program || command.get_arguments().any(|arg| arg.get_id() == "duration");
    if is_program {
        sections::description().to_writer(out)?;
    }
    page.render_options_section(out)?;
    if is_program {
        page.render_subcommands_section(out)?;
    }
    let help = help_of(command);
    sections::exit_status(&help).to_writer(out)?;
    sections::environment(traces).to_writer(out)?;
    if traces {
        sections::files().to_writer(out)?;
    }
    sections::examples(&help, common.help, command.get_bin_name().unwrap_or(NAME)).to_writer(out)?;
    sections::see_also(name, common.verbs).to_writer(out)
}

/// What help calls usage.
fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let name = command.get_bin_name().unwrap_or(NAME);
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    roff.text([bold(name), roman(usage.strip_prefix(name).unwrap_or(usage))]);
    roff
}
