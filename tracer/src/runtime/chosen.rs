//! The windows that the user chose: those of the runtime that is recognised, of one by name or by definition, between two
//! places, or the calls of a function.

use std::sync::Arc;

use super::{
    GoroutineSites, KeyedBy, MappedFiles, PauseSites, Place, RecogniseError, Recognised, RuntimeKind, Site,
    SiteKind, Stops, Unit, WindowRules,
    catalogue::recognise_process,
    definition::{Definition, Mark, ReasonAt, ReasonKind, WindowPlaces},
    definitions,
    described::{self, UNKNOWN_VERSION},
    locate::{LocateError, cold_parts, functions, tables},
    place::What,
    recognised::Decoder,
};
use crate::elf::{Exits, exits};

/// What the user chose.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Chosen {
    /// Whatever is recognised.
    #[default]
    Recognised,
    /// The runtime of that name in the catalogue.
    Named(String),
    /// A definition of the user's.
    Defined(Box<Definition>),
    /// From one place to another.
    Between {
        /// Where windows open: any of these.
        enter: Vec<Place>,
        /// Where they close: any of these.
        exit: Vec<Place>,
        /// Which argument at the first place is shown as the reason.
        reason_argument: Option<usize>,
        /// How many can be open at the same time.
        key: KeyedBy,
        /// Shorter ones are counted only, in ns.
        longer_than_ns: u64,
    },
    /// The calls of a function.
    Function {
        /// Which.
        place: Place,
        /// Shorter ones are counted only, in ns.
        longer_than_ns: u64,
    },
}

/// Finds what was chosen in a process's files.
///
/// # Errors
/// What is not there, or can't be probed.
pub fn recognise_chosen(files: &MappedFiles, chosen: &Chosen) -> Result<Recognised, RecogniseError> {
    match chosen {
        Chosen::Recognised => recognise_process(files),
        Chosen::Named(name) => named(files, name),
        Chosen::Defined(definition) => {
            let held_in = described::holding_file(definition, files);
            if held_in.is_none() && definition.recognise.is_some() {
                return Err(RecogniseError::NoKnownRuntime {
                    path: files.files[0].shown_as().to_path_buf(),
                    looked_for: described::looked_for(definition).unwrap_or_default(),
                });
            }
            described::recognise(definition, files, held_in)
        }
        Chosen::Between { enter, exit, reason_argument, key, longer_than_ns } => {
            between(files, (enter, exit), *reason_argument, *key, *longer_than_ns)
        }
        Chosen::Function { place, longer_than_ns } => function_calls(files, place, *longer_than_ns),
    }
}

fn named(files: &MappedFiles, name: &str) -> Result<Recognised, RecogniseError> {
    let Some(definition) = definitions().iter().find(|definition| definition.name == name) else {
        // Those that are built in have no definition.
        let recognised = recognise_process(files).ok().filter(|recognised| recognised.name == name);
        return recognised.ok_or_else(|| RecogniseError::NoKnownRuntime {
            path: files.files[0].shown_as().to_path_buf(),
            looked_for: format!("{name} (`pauselens runtimes` lists what is known)"),
        });
    };
    match described::holding_file(definition, files) {
        Some(file) => described::recognise(definition, files, Some(file)),
        None => Err(RecogniseError::NoKnownRuntime {
            path: files.files[0].shown_as().to_path_buf(),
            looked_for: described::looked_for(definition).unwrap_or_default(),
        }),
    }
}

fn between(
    files: &MappedFiles,
    (enter, exit): (&[Place], &[Place]),
    reason_argument: Option<usize>,
    key: KeyedBy,
    longer_than_ns: u64,
) -> Result<Recognised, RecogniseError> {
    let shown = |places: &[Place]| places.iter().map(Place::to_string).collect::<Vec<_>>().join(", ");
    let title = format!("{} → {}", shown(enter), shown(exit));
    let definition = Definition {
        name: title.clone(),
        title,
        key,
        nested: false,
        stops: Stops::Thread,
        workers: Vec::new(),
        tested: Vec::new(),
        hint: None,
        recognise: None,
        version: None,
        windows: vec![WindowPlaces {
            requested: enter.to_vec(),
            resumed: exit.to_vec(),
            reason: reason_argument.map(|argument| ReasonAt {
                at: Mark::Requested,
                argument,
                kind: ReasonKind::Number,
                names: std::collections::BTreeMap::new(),
                prefix: None,
                because: None,
                of: Vec::new(),
                otherwise: None,
                gc: None,
            }),
            ..WindowPlaces::default()
        }],
    };
    // One candidate: what is missing of it is the error.
    let sites = described::sites(&definition.windows[0], files)?;
    let reason = definition.windows[0].reason.as_ref();
    let word = reason.and_then(|reason| super::purpose::word_wanted(reason, &sites.requested));
    let rules =
        WindowRules { keyed: key, unit: Unit::Window, longer_than_ns, word, ..WindowRules::default() };
    let decoder = Decoder::Between(definition.windows[0].reason.clone());
    Ok(with_own_windows(recognise_process(files).ok(), files, sites, rules, decoder, "user-defined window"))
}

fn function_calls(
    files: &MappedFiles,
    place: &Place,
    longer_than_ns: u64,
) -> Result<Recognised, RecogniseError> {
    let (file, found) = functions(place, files)?;
    let image = &files.files[file];
    let mut sites = PauseSites::default();
    let mut notes = Vec::new();
    for function in &found {
        let failed = |source| LocateError::Returns { place: place.to_string(), source };
        sites.requested.push(Site::entry(image, function).map_err(failed)?.in_file(file));
        let cold = cold_parts(tables(files, file, function.source), function);
        let mut conditional = 0;
        for part in std::iter::once(function).chain(&cold) {
            let Exits { returns, tail_jumps, jumps_out } = exits(image, part).map_err(failed)?;
            let at = |address, kind| Site::at(image, function, address, kind).map(|site| site.in_file(file));
            for address in returns {
                sites.resumed.push(at(address, SiteKind::Return).map_err(failed)?);
            }
            let within = |target: u64| {
                std::iter::once(function)
                    .chain(&cold)
                    .any(|part| (part.address.0..part.address.0 + part.size_bytes).contains(&target))
            };
            for (address, target) in tail_jumps {
                if !within(target.0) {
                    sites.tail_jumps.push(at(address, SiteKind::TailJump).map_err(failed)?);
                }
            }
            conditional += jumps_out.iter().filter(|(_, target)| !within(target.0)).count();
        }
        if conditional > 0 {
            notes.push(format!(
                "{}: {conditional} conditional jumps lead out of it; calls that end through them are shown as left \
                 without a return when that is noticed",
                function.name
            ));
        }
    }
    if sites.resumed.is_empty() && sites.tail_jumps.is_empty() {
        let source = crate::elf::ReturnSitesError::NoReturn { function: place.to_string(), jumps_out: 0 };
        return Err(LocateError::Returns { place: place.to_string(), source }.into());
    }
    let base = recognise_process(files).ok();
    let go = file == 0 && base.as_ref().is_some_and(|base| base.kind == RuntimeKind::Go);
    let mut keyed = KeyedBy::Thread;
    if go {
        sites.goroutines = Some(goroutine_sites(files)?);
        keyed = KeyedBy::Goroutine;
    }
    let rules = WindowRules {
        keyed,
        calls: true,
        unit: Unit::Call,
        stops: Stops::Thread,
        longer_than_ns,
        ..WindowRules::default()
    };
    let name = match (&place.what, found.as_slice()) {
        (What::FunctionsBeginning(_), _) => place.to_string(),
        (_, [one]) => one.name.clone(),
        _ => place.to_string(),
    };
    let mut recognised = with_own_windows(base, files, sites, rules, Decoder::Call(name), "function calls");
    recognised.notes.extend(notes);
    Ok(recognised)
}

/// Where Go's scheduler can be seen: Go's src/runtime/proc.go, the same names from 1.18 to 1.27.
fn goroutine_sites(files: &MappedFiles) -> Result<GoroutineSites, LocateError> {
    let site = |name: &str| {
        let place =
            Place { file: None, what: What::Function(name.to_owned()), returns: false, optional: false };
        super::locate(&place, files).map(|mut sites| sites.remove(0))
    };
    Ok(GoroutineSites {
        leaves: site("runtime.schedule")?,
        enters: site("runtime.execute")?,
        ends: site("runtime.goexit0")?,
    })
}

/// The process's runtime, if it has a known one, with other windows than its own.
fn with_own_windows(
    base: Option<Recognised>,
    files: &MappedFiles,
    sites: PauseSites,
    rules: WindowRules,
    decoder: Decoder,
    name: &str,
) -> Recognised {
    Recognised {
        kind: base.as_ref().map_or(RuntimeKind::Described, |base| base.kind),
        name: base.as_ref().map_or_else(|| name.to_owned(), |base| base.name.clone()),
        version: base.as_ref().map_or_else(|| UNKNOWN_VERSION.to_owned(), |base| base.version.clone()),
        sites,
        files: files.files.iter().map(Arc::clone).collect(),
        go_functions: base.and_then(|base| base.go_functions),
        notes: Vec::new(),
        rules,
        decoder,
    }
}
