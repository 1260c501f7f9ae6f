//! Where the demonstration's pauses begin and end.

use crate::{
    elf::{Function, Image, SymbolSource, find_functions},
    runtime::{PauseSites, RecogniseError},
};

/// Stops the world; its first argument is the reason's number.
pub(super) const STOP: &str = "pauselens_demo_stop_world";
/// Restarts the world.
pub(super) const START: &str = "pauselens_demo_start_world";

/// Finds the sites; `Ok(None)` if neither function is in the file.
pub(super) fn pause_sites(image: &Image) -> Result<Option<PauseSites>, RecogniseError> {
    let found = find_functions(image, &[STOP, START]);
    let (stop, start) = (only(image, &found, STOP)?, only(image, &found, START)?);
    let path = || image.shown_as().to_path_buf();
    let (stop, start) = match (stop, start) {
        (None, None) => return Ok(None),
        (Some(stop), Some(start)) => (stop, start),
        (stop, _) => {
            return Err(RecogniseError::PauseFunctionNotFound {
                path: path(),
                runtime: "pauselens-demo",
                missing: vec![if stop.is_none() { STOP } else { START }.to_owned()],
                candidates: vec![STOP.to_owned(), START.to_owned()],
                tables_tried: [SymbolSource::Symtab, SymbolSource::Dynsym]
                    .map(|table| table.to_string())
                    .into(),
            });
        }
    };
    let sites = PauseSites::of(image, stop, start);
    sites.map(Some).map_err(|source| RecogniseError::ReturnSites { path: path(), source })
}

fn only<'a>(
    image: &Image,
    found: &'a [Function],
    name: &str,
) -> Result<Option<&'a Function>, RecogniseError> {
    let mut named = found.iter().filter(|function| function.name == name);
    let first = named.next();
    match (first, named.next()) {
        (Some(one), Some(other)) => Err(RecogniseError::Ambiguous {
            path: image.shown_as().to_path_buf(),
            function: name.to_owned(),
            addresses: vec![one.address, other.address],
        }),
        _ => Ok(first),
    }
}
