//! Where Go's pauses begin and end.
//!
//! Two functions do all of it: whoever stops the world (both phases of a collection, `ReadMemStats`, a
//! goroutine profile, `GOMAXPROCS`, …) goes through `stopTheWorldWithSema` and `startTheWorldWithSema`. They
//! run on the thread's own stack (`systemstack`), so the stack is never moved under a probe at their entry.
//! Source: Go's `src/runtime/proc.go`, `mgc.go`.

use crate::{
    elf::{Function, GoFunctions, Image, PclntabError, SymbolSource, find_functions},
    runtime::{PauseSites, RecogniseError},
};

const STOP: &str = "runtime.stopTheWorldWithSema";
const START: &str = "runtime.startTheWorldWithSema";

/// Finds the sites: by ELF symbol first, then by Go's function table, and if both know a function they must
/// agree.
pub(super) fn pause_sites(
    image: &Image,
    functions: Result<&GoFunctions, &PclntabError>,
) -> Result<PauseSites, RecogniseError> {
    let names = [STOP, START];
    let mut found = find_functions(image, &names);
    if let Ok(functions) = functions {
        found.extend(functions.find(&names));
    }
    let (stop, start) = (only(image, &found, STOP)?, only(image, &found, START)?);
    let (Some(stop), Some(start)) = (stop, start) else {
        let missing = [(STOP, stop), (START, start)].into_iter().filter(|(_, found)| found.is_none());
        return Err(RecogniseError::PauseFunctionNotFound {
            path: image.shown_as().to_path_buf(),
            runtime: "Go",
            missing: missing.map(|(name, _)| name.to_owned()).collect(),
            candidates: names.map(str::to_owned).into(),
            tables_tried: tables_tried(functions),
        });
    };
    PauseSites::of(image, stop, start)
        .map_err(|source| RecogniseError::ReturnSites { path: image.shown_as().to_path_buf(), source })
}

/// The one function of that name, from the first table that has it.
fn only<'a>(
    image: &Image,
    found: &'a [Function],
    name: &str,
) -> Result<Option<&'a Function>, RecogniseError> {
    let named: Vec<&Function> = found.iter().filter(|function| function.name == name).collect();
    let Some(first) = named.first().copied() else { return Ok(None) };
    let Some(other) = named.iter().find(|function| function.address != first.address) else {
        return Ok(Some(first));
    };
    let (path, function) = (image.shown_as().to_path_buf(), name.to_owned());
    Err(if other.source == first.source {
        let addresses = named.iter().map(|function| function.address).collect();
        RecogniseError::Ambiguous { path, function, addresses }
    } else {
        RecogniseError::TablesDisagree {
            path,
            function,
            first: first.source,
            first_address: first.address,
            second: other.source,
            second_address: other.address,
        }
    })
}

fn tables_tried(functions: Result<&GoFunctions, &PclntabError>) -> Vec<String> {
    let of_go = match functions {
        Ok(_) => SymbolSource::Pclntab.to_string(),
        Err(error) => format!("{} ({error})", SymbolSource::Pclntab),
    };
    vec![SymbolSource::Symtab.to_string(), SymbolSource::Dynsym.to_string(), of_go]
}
