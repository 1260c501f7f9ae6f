//! Two sides compared, each of one or many runs: what differs, by how much, and whether the runs can bear a verdict.
//!
//! A run is one recording. Runs are what is independent of one another, pauses of one run are not: so a verdict rests on
//! how much runs differ. `docs/compare.md` describes the method and its reasons.

mod alike;
mod bootstrap;
mod column;
mod folded;
mod measure;
mod model;
mod permutation;
mod pick;
mod run;
mod side_by_side;
mod sides;
mod table;
#[cfg(test)]
mod tests;
mod verdict;

pub use folded::{DifferentialStack, differential};
pub use model::{
    Comparison, Group, Headline, Measure, Method, RunAbout, SCHEMA, Side, SideValue, Sides, Unit, Unlike,
    UnlikeValue, Verdict,
};
pub use pick::PickError;
pub use side_by_side::side_by_side;
pub use sides::{Compared, Error, Input, Options, compare};
