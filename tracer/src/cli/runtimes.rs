//! `pauselens runtimes`: the catalogue.

use anyhow::{Context as _, bail};

use super::{
    args::{Format, RuntimesArgs},
    exit::Exit,
    output::print,
};
use crate::runtime::{Entry, catalogue_entries, definitions::TEXTS};

/// Prints the list, or one definition.
pub(super) fn runtimes(arguments: &RuntimesArgs) -> anyhow::Result<Exit> {
    let text = match (&arguments.show, arguments.format) {
        (Some(name), _) => shown(name)?,
        (None, Format::Text) => listed(&catalogue_entries()),
        (None, Format::Json) => {
            serde_json::to_string_pretty(&catalogue_entries()).context("the list can't be written as JSON")?
                + "\n"
        }
    };
    print(text.as_bytes())?;
    Ok(Exit::Done)
}

fn shown(name: &str) -> anyhow::Result<String> {
    if let Some((_, text)) = TEXTS.iter().find(|(known, _)| *known == name) {
        return Ok((*text).to_owned());
    }
    let names: Vec<&str> = TEXTS.iter().map(|(name, _)| *name).collect();
    if catalogue_entries().iter().any(|entry| entry.name == name) {
        bail!("{name} is built in and has no definition to show; these have: {}", names.join(", "));
    }
    bail!(
        "there is no runtime {name:?}; `pauselens runtimes` lists them; these have a definition: {}",
        names.join(", ")
    )
}

fn listed(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let tested = if entry.tested.is_empty() { "not tested".to_owned() } else { entry.tested.join("; ") };
        text.push_str(&format!("{:<22} {}\n", entry.name, entry.title));
        text.push_str(&format!("{:<22} known by: {}\n", "", entry.known_by));
        text.push_str(&format!("{:<22} stops: {}\n", "", entry.stops));
        text.push_str(&format!("{:<22} tested: {tested}\n", ""));
    }
    text
}
