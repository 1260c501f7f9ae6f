//! Interpreters and managed runtimes, run for real: the windows that pauselens sees are the collections that the runtime itself
//! counts, of the kinds and lengths that it reports; and a build without the places is refused, with all that was tried.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/attached.rs"]
mod attached;
mod dotnet;
#[path = "../support/go.rs"]
mod go;
mod lua;
mod node;
mod php;
mod python;
mod ruby;
#[path = "../support/scripting.rs"]
mod runtimes;
