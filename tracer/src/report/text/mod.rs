//! The report for a person at a terminal: [`render`] and its [`Style`], and one file per part of the page.

mod breakdown;
mod budget;
mod clean;
mod document;
mod exposure;
mod exposures;
mod findings;
mod headline;
mod nothing;
mod page;
mod partial;
mod plan;
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

pub use document::render;
pub use exposure::render as render_exposure;
pub use exposures::swapped;
pub use style::Style;
