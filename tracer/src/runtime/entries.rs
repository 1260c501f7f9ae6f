//! The catalogue as a list: what is known, and what of it was tested.

use serde::Serialize;

use super::{Stops, definitions};

/// One runtime of the catalogue.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Entry {
    /// Its name in machine-readable output, and for `--runtime`.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is known by.
    pub known_by: String,
    /// What stands still during its windows.
    pub stops: String,
    /// Versions that the tests have run.
    pub tested: Vec<String>,
}

/// All of them.
#[must_use]
pub fn catalogue_entries() -> Vec<Entry> {
    let go = Entry {
        name: "go".to_owned(),
        title: "Go (standard compiler)".to_owned(),
        known_by: super::go::LOOKED_FOR.to_owned(),
        stops: stops(Stops::Process).to_owned(),
        tested: ["1.19.8", "1.21.13", "1.22.10", "1.23.9", "1.25.5", "1.26.6", "1.27.3"]
            .map(str::to_owned)
            .into(),
    };
    let described = definitions().iter().map(|definition| Entry {
        name: definition.name.clone(),
        title: definition.title.clone(),
        known_by: definition.recognise.as_ref().map(|identity| identity.holds.join(", ")).unwrap_or_default(),
        stops: stops(definition.stops).to_owned(),
        tested: definition.tested.clone(),
    });
    std::iter::once(go).chain(described).collect()
}

/// In words: what stands still.
#[must_use]
pub fn stops(stops: Stops) -> &'static str {
    match stops {
        Stops::Process => "all threads of the program",
        Stops::Thread => "the thread that is in it",
        Stops::Lock => "the thread that is in it, and those that wait for a lock that it holds",
    }
}
