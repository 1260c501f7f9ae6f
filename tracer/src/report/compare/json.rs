//! A comparison as JSON: exactly the fields of its model.

use crate::compare::Comparison;

/// The comparison as indented JSON with a line end.
///
/// # Errors
/// Never for a [`Comparison`] as it is today; the serialiser's signature is passed on rather than hidden.
pub fn render(comparison: &Comparison) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(comparison)?;
    text.push('\n');
    Ok(text)
}
