//! Text of a recording in a page.

use crate::report::inert::inert;

/// Text made inert: markup is text, and what acts on what stands beside it is named.
pub(super) fn escape(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in inert(text, &[]).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            shown => out.push(shown),
        }
    }
    out
}
