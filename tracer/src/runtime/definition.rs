//! A runtime as data: what identifies it, where its windows begin and end, and how to read what they are for. The
//! catalogue's own definitions and those of `--runtime-file` have the same form (docs/runtimes.md).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::place::Place;

/// One runtime.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Its name in machine-readable output.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// How many windows can be open at the same time.
    #[serde(default)]
    pub key: KeyedBy,
    /// Whether a window can begin inside a window; the outermost counts then.
    #[serde(default)]
    pub nested: bool,
    /// What stands still while a window is open.
    #[serde(default)]
    pub stops: Stops,
    /// Beginnings of the names of threads that work for windows besides their driver, as the kernel keeps them: 15 bytes.
    #[serde(default)]
    pub workers: Vec<String>,
    /// Which versions have been run in the tests.
    #[serde(default)]
    pub tested: Vec<String>,
    /// What to do when the places are not in a build of it.
    #[serde(default)]
    pub hint: Option<String>,
    /// What identifies it. Absent: only where the user names this definition.
    #[serde(default)]
    pub recognise: Option<Identity>,
    /// Where its version is.
    #[serde(default)]
    pub version: Option<VersionAt>,
    /// Where windows begin and end: the first of these whose places are all there is used.
    pub windows: Vec<WindowPlaces>,
}

/// How many windows can be open at the same time.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyedBy {
    /// One in a process.
    #[default]
    Process,
    /// One in each thread.
    Thread,
    /// One in each goroutine.
    Goroutine,
    /// One in each call of a function, also when calls of one thread are inside each other. The window opens at the function's
    /// entry and closes where it returns; other marks than these and `told` are not seen.
    Call,
}

/// What stands still while a window is open.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
pub enum Stops {
    /// All of the program's threads.
    #[default]
    #[serde(rename = "process")]
    Process,
    /// The thread that is in the window.
    #[serde(rename = "thread")]
    Thread,
    /// The thread that is in it, and those that wait for a lock that it holds.
    #[serde(rename = "lock")]
    Lock,
}

/// What identifies a runtime.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Exact names of functions (or `usdt:PROVIDER:NAME`), all of which one mapped file must hold.
    pub holds: Vec<String>,
}

/// Where a version is. Groups of the expression are joined with dots.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct VersionAt {
    /// A regular expression over the path of the file.
    #[serde(default)]
    pub path: Option<String>,
    /// A regular expression over the read-only data of the file.
    #[serde(default)]
    pub text: Option<String>,
}

/// Where windows begin and end. All places of a list are probed.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WindowPlaces {
    /// For which versions or builds, in words.
    #[serde(default)]
    pub note: Option<String>,
    /// What is not seen through these places, in words: the report says so.
    #[serde(default)]
    pub unseen: Option<String>,
    /// The window opens.
    pub requested: Vec<Place>,
    /// The world has stopped.
    #[serde(default)]
    pub stopped: Vec<Place>,
    /// What it is for is told, inside it.
    #[serde(default)]
    pub told: Vec<Place>,
    /// The restart begins.
    #[serde(default)]
    pub restarting: Vec<Place>,
    /// The window closes.
    pub resumed: Vec<Place>,
    /// How to read what it is for.
    #[serde(default)]
    pub reason: Option<ReasonAt>,
    /// Windows that were none.
    #[serde(default)]
    pub discard: Option<Discard>,
}

/// How to read what a window is for.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ReasonAt {
    /// At which mark.
    pub at: Mark,
    /// Which argument, from 0: of the function by the C calling convention, or of the tracepoint by its note.
    #[serde(default)]
    pub argument: usize,
    /// What the argument is.
    #[serde(default)]
    pub kind: ReasonKind,
    /// Names of numbers, of flags (as numbers with one bit), of functions, or of places.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// A beginning that is left out of names.
    #[serde(default)]
    pub prefix: Option<String>,
    /// A second argument at the same mark that says more: a number, appended to the name.
    #[serde(default)]
    pub because: Option<Because>,
    /// Functions and tracepoints that have the argument, where not all places of the mark do; empty: all.
    #[serde(default)]
    pub of: Vec<String>,
    /// The reason of windows that came by another place, or in which nothing was told; absent: it is unknown.
    #[serde(default)]
    pub otherwise: Option<String>,
    /// Beginnings of the reasons' names that are collections; absent: all are.
    #[serde(default)]
    pub gc: Option<Vec<String>>,
}

/// A number that says more of a reason.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Because {
    /// Which argument, from 0.
    pub argument: usize,
    /// Names of the numbers.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
}

/// A mark of a window.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Where it opens.
    Requested,
    /// Where its purpose is told.
    Told,
    /// Where the restart begins.
    Restarting,
    /// Where it closes.
    Resumed,
}

/// What an argument is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum ReasonKind {
    /// A number of 32 bits.
    #[default]
    Number,
    /// Bits, of which several can be set.
    Flags,
    /// The address of constant text in a mapped file.
    Text,
    /// The address of a function.
    Function,
    /// The address of a C++ object with virtual functions, in the first argument at `told`: its class.
    Class,
    /// No argument: the name of the function or tracepoint that was hit, where a mark has several.
    Place,
    /// No argument: the function that called the one that opened the window (at = "requested").
    Caller,
}

/// Windows that were none.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Discard {
    /// The function returned this, as 32 bits, at `resumed`.
    #[serde(default)]
    pub result: Option<u32>,
    /// They opened in one of these functions, and nothing was told in them: there was nothing to do.
    #[serde(default)]
    pub untold: Vec<String>,
}

/// A definition that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// Not of the form.
    #[error(
        "{shown_as} is no definition of a runtime: {source}\n`pauselens runtimes --show hotspot` prints one that is"
    )]
    Form {
        /// The file.
        shown_as: String,
        /// What is wrong, with the line.
        source: Box<toml::de::Error>,
    },
    /// A regular expression.
    #[error("{shown_as}: the expression {expression:?} can't be read: {source}")]
    Expression {
        /// The file.
        shown_as: String,
        /// The expression.
        expression: String,
        /// What is wrong.
        source: Box<regex::Error>,
    },
    /// A class that is not where one can be read.
    #[error(
        "{shown_as}: a reason of kind \"class\" is read from the first argument (argument = 0) where it is told (at = \"told\")"
    )]
    Class {
        /// The file.
        shown_as: String,
    },
    /// No windows.
    #[error("{shown_as} has no [[windows]]; at least one with `requested` and `resumed` is needed")]
    NoWindows {
        /// The file.
        shown_as: String,
    },
}

impl Definition {
    /// Reads one. `shown_as` is its name in messages.
    ///
    /// # Errors
    /// Where and why it is not of the form.
    pub fn parse(text: &str, shown_as: &str) -> Result<Self, DefinitionError> {
        let definition: Self = toml::from_str(text).map_err(|source| DefinitionError::Form {
            shown_as: shown_as.to_owned(),
            source: Box::new(source),
        })?;
        let empty = |window: &WindowPlaces| window.requested.is_empty() || window.resumed.is_empty();
        if definition.windows.is_empty() || definition.windows.iter().any(empty) {
            return Err(DefinitionError::NoWindows { shown_as: shown_as.to_owned() });
        }
        let no_class = |reason: &ReasonAt| {
            reason.kind == ReasonKind::Class && (reason.at != Mark::Told || reason.argument != 0)
        };
        if definition.windows.iter().filter_map(|window| window.reason.as_ref()).any(no_class) {
            return Err(DefinitionError::Class { shown_as: shown_as.to_owned() });
        }
        let version = definition.version.clone().unwrap_or_default();
        for expression in [version.path, version.text].into_iter().flatten() {
            self::expression(&expression).map_err(|source| DefinitionError::Expression {
                shown_as: shown_as.to_owned(),
                expression,
                source: Box::new(source),
            })?;
        }
        Ok(definition)
    }
}

/// Compiles an expression over bytes: of a path, or of data that need not be text.
pub(super) fn expression(text: &str) -> Result<regex::bytes::Regex, regex::Error> {
    regex::bytes::RegexBuilder::new(text).unicode(false).build()
}
