//! Runtimes that are described by a definition: whether a process holds one, and where its windows are.

use std::{collections::HashSet, slice, sync::Arc};

use super::{
    RecogniseError, Recognised, RuntimeKind,
    definition::{Definition, ReasonKind, WindowPlaces},
    files::MappedFiles,
    locate::{LocateError, locate},
    place::Place,
    purpose::{Described, word_wanted},
    recognised::Decoder,
    sites::{PauseSites, Site},
    windows::WindowRules,
};
use crate::elf::{Image, functions_where, usdt};

/// The file that holds all that identifies the runtime, by its index.
pub(super) fn holding_file(definition: &Definition, files: &MappedFiles) -> Option<usize> {
    Held::of(slice::from_ref(definition), files).file(definition)
}

/// What each of a process's files holds of all that identifies some runtimes. Each file's tables are read once.
pub(super) struct Held(Vec<HashSet<String>>);

impl Held {
    pub(super) fn of(definitions: &[Definition], files: &MappedFiles) -> Self {
        let identities = definitions.iter().filter_map(|definition| definition.recognise.as_ref());
        let wanted: HashSet<&[u8]> =
            identities.flat_map(|identity| &identity.holds).map(|name| name.as_bytes()).collect();
        let tracepoints = wanted.iter().any(|name| name.starts_with(b"usdt:"));
        let of_file = |image: &Arc<Image>| {
            let functions = functions_where(image, |name| wanted.contains(name));
            let mut held: HashSet<String> = functions.into_iter().map(|function| function.name).collect();
            if tracepoints {
                let here = usdt(image);
                held.extend(here.iter().map(|usdt| format!("usdt:{}:{}", usdt.provider, usdt.name)));
            }
            held
        };
        Self(files.files.iter().map(of_file).collect())
    }

    /// The file that holds all that identifies this runtime.
    pub(super) fn file(&self, definition: &Definition) -> Option<usize> {
        let identity = definition.recognise.as_ref()?;
        self.0.iter().position(|held| identity.holds.iter().all(|name| held.contains(name)))
    }
}

/// The runtime of a definition in a process's files; `held_in` is the file that identifies it, in which its places are
/// looked for. `None`: in all files.
pub(super) fn recognise(
    definition: &Definition,
    files: &MappedFiles,
    held_in: Option<usize>,
) -> Result<Recognised, RecogniseError> {
    let within = match held_in {
        Some(file) => files.one(file),
        None => files.clone(),
    };
    let shown = within.files[0].shown_as().to_path_buf();
    let mut tried = Vec::new();
    for window in &definition.windows {
        match sites(window, &within) {
            Ok(sites) => {
                let word = window.reason.as_ref().and_then(|reason| word_wanted(reason, &sites.requested));
                return Ok(Recognised {
                    kind: RuntimeKind::Described,
                    name: definition.name.clone(),
                    version: version(definition, &within.files[0]),
                    sites,
                    files: within.files,
                    go_functions: None,
                    notes: unseen(definition, window).into_iter().collect(),
                    rules: WindowRules {
                        keyed: definition.key,
                        nested: definition.nested,
                        stops: definition.stops,
                        workers: !definition.workers.is_empty(),
                        told_object: window
                            .reason
                            .as_ref()
                            .is_some_and(|reason| reason.kind == ReasonKind::Class),
                        word,
                        ..WindowRules::default()
                    },
                    decoder: Decoder::Described(Described {
                        workers: definition.workers.clone(),
                        reason: window.reason.clone(),
                        discard: window.discard.clone().unwrap_or_default(),
                    }),
                });
            }
            Err(error) => tried.push(format!("{}: {error}", places(window))),
        }
    }
    if let Err(nothing) = within.debug_file(0) {
        tried.push(nothing.to_string());
    }
    Err(RecogniseError::PlacesNotFound {
        path: shown,
        runtime: definition.title.clone(),
        tried,
        hint: definition.hint.clone().unwrap_or_else(|| {
            "a build with symbols, or --enter and --exit with places that it has, is needed".to_owned()
        }),
    })
}

/// What the user should know of the places that are used.
fn unseen(definition: &Definition, window: &WindowPlaces) -> Option<String> {
    let what = window.unseen.as_ref()?;
    let hint = definition.hint.as_ref().map(|hint| format!(". To see them: {hint}")).unwrap_or_default();
    Some(format!(
        "{}: this build lacks some places, so these pauses are not seen: {what}{hint}",
        definition.title
    ))
}

/// All places of a candidate, as they are written.
fn places(window: &WindowPlaces) -> String {
    let shown = |places: &[Place]| places.iter().map(Place::to_string).collect::<Vec<_>>().join(" or ");
    let inside =
        [&window.stopped, &window.told, &window.restarting].into_iter().filter(|places| !places.is_empty());
    let through: String = inside.map(|places| format!(" through {}", shown(places))).collect();
    format!("from {}{through} to {}", shown(&window.requested), shown(&window.resumed))
}

/// All of a window's places, or the reason why not: never half of them.
pub(super) fn sites(window: &WindowPlaces, files: &MappedFiles) -> Result<PauseSites, LocateError> {
    let all = |places: &[Place]| -> Result<Vec<Site>, LocateError> {
        let mut found: Vec<Site> = Vec::new();
        for place in places {
            match locate(place, files) {
                Ok(sites) => found.extend(sites),
                Err(_) if place.optional => {}
                Err(error) => return Err(error),
            }
        }
        found.sort_by_key(|site| (site.file, site.file_offset.0));
        found.dedup_by_key(|site| (site.file, site.file_offset.0));
        Ok(found)
    };
    let sites = PauseSites {
        requested: all(&window.requested)?,
        stopped: all(&window.stopped)?,
        told: all(&window.told)?,
        restarting: all(&window.restarting)?,
        resumed: all(&window.resumed)?,
        ..PauseSites::default()
    };
    for (places, found) in [(&window.requested, &sites.requested), (&window.resumed, &sites.resumed)] {
        if found.is_empty() {
            // All of them optional, and none there.
            let place = places.first().map(Place::to_string).unwrap_or_default();
            let files = files.files.iter().map(|image| image.shown_as().to_path_buf()).collect();
            return Err(LocateError::NotFound { place, files, near: Vec::new() });
        }
    }
    Ok(sites)
}

/// The version as the definition says where it is; "unknown" when it is not there.
fn version(definition: &Definition, image: &Image) -> String {
    let Some(at) = &definition.version else { return UNKNOWN_VERSION.to_owned() };
    let path = image.shown_as().as_os_str().as_encoded_bytes();
    let of_path = at.path.as_ref().and_then(|expression| matched(expression, path));
    let of_text = || {
        let expression = at.text.as_ref()?;
        image.constants().find_map(|bytes| matched(expression, bytes))
    };
    of_path.or_else(of_text).unwrap_or_else(|| UNKNOWN_VERSION.to_owned())
}

/// In place of a version that could not be read.
pub const UNKNOWN_VERSION: &str = "unknown version";

fn matched(expression: &str, bytes: &[u8]) -> Option<String> {
    // Checked when the definition was read.
    let expression = super::definition::expression(expression).ok()?;
    let groups = expression.captures(bytes)?;
    let parts: Vec<String> = groups
        .iter()
        .skip(1)
        .flatten()
        .map(|group| String::from_utf8_lossy(group.as_bytes()).into_owned())
        .collect();
    (!parts.is_empty()).then(|| parts.join("."))
}

/// In words: what is looked for in a process to recognise this runtime.
pub(super) fn looked_for(definition: &Definition) -> Option<String> {
    let identity = definition.recognise.as_ref()?;
    Some(format!("{} ({})", definition.title, identity.holds.join(", ")))
}
