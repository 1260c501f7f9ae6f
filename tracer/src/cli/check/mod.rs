//! `pauselens check`: each need tested by itself.

mod finding;
mod host;
mod probes;
mod process;
mod verb;

pub(super) use verb::check;
