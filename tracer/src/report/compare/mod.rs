//! A comparison of two sides as JSON, as a page for browsers, and as a differential flame graph; as text it is one of
//! the pages of [`super::text`].

mod escape;
mod flame;
mod forest;
pub(super) mod format;
mod html;
mod json;
#[cfg(test)]
mod tests;

pub use flame::{FlameError, Per, flame};
pub use html::render as render_html;
pub use json::render as render_json;
