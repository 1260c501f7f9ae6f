//! Why no pauses can be traced in a file.

use std::path::PathBuf;

use crate::elf::{ElfAddress, ReturnSitesError, SymbolSource};

/// Why [`recognise`](super::recognise) gave no pause sites.
#[derive(Debug, thiserror::Error)]
pub enum RecogniseError {
    /// The file holds no runtime of the catalogue.
    #[error(
        "{path} and the libraries of the process hold no runtime whose pauses are known. Looked for: {looked_for}. \
         Windows between any two places can be traced with --enter and --exit, calls of a function with \
         --function; `nm -C {path}` lists the functions"
    )]
    NoKnownRuntime {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// What would have identified a runtime.
        looked_for: String,
    },
    /// The runtime is older than what can be traced.
    #[error(
        "{path} was built with {runtime} {found}; {needed} or later is needed. Rebuild it with a newer \
         toolchain; `{version_command} {path}` shows the version"
    )]
    TooOld {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// The runtime's name.
        runtime: &'static str,
        /// The version found.
        found: String,
        /// The oldest version that can be traced.
        needed: String,
        /// The command that shows a file's version.
        version_command: &'static str,
    },
    /// The file holds a runtime whose version, which the meaning of its registers depends on, can't be read.
    #[error(
        "{path} holds {runtime} code, but its version can't be read: {found}. It is needed to read the \
         reasons of pauses; `{version_command} {path}` shows it if there is one, and a rebuild puts it back"
    )]
    VersionUnreadable {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// The runtime's name.
        runtime: &'static str,
        /// What stands in the version's place.
        found: String,
        /// The command that shows a file's version.
        version_command: &'static str,
    },
    /// A function that begins or ends a pause is in none of the tables. Half a pair is never used.
    #[error(
        "{path} is a {runtime} program, but {} not in it. Candidates: {}. Tables tried: {}. \
         `nm {path}` lists what is left; use a file that is not stripped",
        absent(.missing), .candidates.join(", "), .tables_tried.join("; ")
    )]
    PauseFunctionNotFound {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// The runtime's name.
        runtime: &'static str,
        /// The functions that were not found.
        missing: Vec<String>,
        /// All functions that were looked for.
        candidates: Vec<String>,
        /// Every table that was tried, with the reason if it could not be read.
        tables_tried: Vec<String>,
    },
    /// One name stands for several functions, and which one runs the pauses can't be told.
    #[error(
        "{path} has several functions named {function}: {}. Exactly one is needed; `nm {path} | grep \
         {function}` shows them",
        listed(.addresses)
    )]
    Ambiguous {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// The name.
        function: String,
        /// Where they are.
        addresses: Vec<ElfAddress>,
    },
    /// Two tables put one function at different places.
    #[error(
        "{path}: {function} is at {first_address} by {first} and at {second_address} by {second}. A probe at \
         the wrong place would crash the program, so none is set. The file was changed after it was linked; \
         rebuild it"
    )]
    TablesDisagree {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// The function's name.
        function: String,
        /// One table.
        first: SymbolSource,
        /// The address there.
        first_address: ElfAddress,
        /// The other table.
        second: SymbolSource,
        /// The address there.
        second_address: ElfAddress,
    },
    /// The end of a pause can't be placed.
    #[error("{path}: the end of a pause can't be placed: {source}")]
    ReturnSites {
        /// The file's name, as shown to the user.
        path: PathBuf,
        /// Why.
        source: ReturnSitesError,
    },
    /// No candidate's places are all there.
    #[error(
        "{path} holds {runtime}, but not the places of its pauses. Tried, in this order: {}. Next: {hint}",
        numbered(.tried)
    )]
    PlacesNotFound {
        /// The file.
        path: PathBuf,
        /// The runtime's name for people.
        runtime: String,
        /// What each candidate lacks, and where a separate debug file was looked for.
        tried: Vec<String>,
        /// What would help.
        hint: String,
    },
    /// A place that the user named.
    #[error(transparent)]
    Place(#[from] super::LocateError),
}

fn absent(missing: &[String]) -> String {
    match missing {
        [one] => format!("{one} is"),
        several => format!("{} are", several.join(" and ")),
    }
}

fn listed(addresses: &[ElfAddress]) -> String {
    addresses.iter().map(ElfAddress::to_string).collect::<Vec<_>>().join(", ")
}

fn numbered(tried: &[String]) -> String {
    let numbered: Vec<String> =
        tried.iter().enumerate().map(|(index, what)| format!("({}) {what}", index + 1)).collect();
    numbered.join("; ")
}
