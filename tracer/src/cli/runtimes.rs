//! `pauselens runtimes`: the catalogue.

use anyhow::{Context as _, bail};

use super::{
    args::{Global, RuntimesArgs},
    exit::Exit,
    format::Format,
    output::print,
    rendering::style,
};
use crate::{
    report::text::wrap_text,
    runtime::{Entry, catalogue_entries, definitions::TEXTS},
};

/// The column of names, and how much further in a line that goes on begins.
const NAMES: usize = 22;
const FURTHER: usize = 2;

/// Prints the list, or one definition.
pub(super) fn runtimes(arguments: &RuntimesArgs, global: Global) -> anyhow::Result<Exit> {
    let text = match (&arguments.show, arguments.format) {
        (Some(name), _) => shown(name)?,
        (None, Format::Text) => listed(&catalogue_entries(), style(global, true).columns()),
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

fn listed(entries: &[Entry], width: usize) -> String {
    let mut text = String::new();
    for entry in entries {
        let tested = if entry.tested.is_empty() { "not tested".to_owned() } else { entry.tested.join("; ") };
        let said = [
            entry.title.clone(),
            format!("known by: {}", entry.known_by),
            format!("stops: {}", entry.stops),
            format!("tested: {tested}"),
        ];
        let mut name = entry.name.as_str();
        for said in said {
            let room = width.saturating_sub(NAMES + 1);
            for (number, line) in wrap_text(&said, room, room.saturating_sub(FURTHER)).iter().enumerate() {
                let before = if number == 0 { NAMES } else { NAMES + FURTHER };
                text.push_str(&format!("{name:<before$} {line}\n"));
                name = "";
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_and_nothing_of_it_is_lost() {
        let entries = catalogue_entries();
        // A word that is longer than a line is broken.
        let words = |text: &str| text.split_whitespace().collect::<String>();
        let whole = words(&listed(&entries, usize::MAX));
        for width in [60, 100] {
            let text = listed(&entries, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert_eq!(words(&text), whole);
        }
    }
}
