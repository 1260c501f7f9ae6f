//! The report for a person at a terminal: [`render`] and its [`Style`], and one file per part of the page.

mod breakdown;
mod budget;
mod call;
mod clean;
mod comparison;
mod document;
pub(crate) mod entries;
mod exposure;
mod exposures;
mod findings;
mod headline;
mod memory;
mod nothing;
mod page;
mod partial;
mod plan;
mod processes;
mod reconcile;
mod spent;
mod stack;
mod stopping;
mod style;
mod table;
#[cfg(test)]
mod tests;
mod touched;
mod waits;
mod words;
mod workers;
mod worst;
mod wrap;

pub(crate) use clean::{clean, shorten};
pub use comparison::render as render_comparison;
pub use document::{brief, render};
pub use exposure::render as render_exposure;
pub use exposures::swapped;
pub(crate) use page::Tone;
pub use processes::render as render_processes;
pub use style::Style;
pub(crate) use words::{reason_word, state as state_words};
pub(crate) use wrap::wrap_text;
