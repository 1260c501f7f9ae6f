//! What makes names inert: in markup, and in the block of data.

use std::fmt::Write as _;

/// Text for markup, in an element or in quotes: no character of it can end either.
pub(super) fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// JSON that can stand in a script element: what could end it, or a line of it, is escaped. It is the same JSON.
pub(super) fn json(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 64);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                // Writing to a string can't fail.
                _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_what_it_stands_in() {
        let nasty = "</script><!-- <img src=x onerror=alert(1)>&amp;\u{2028}\"'";
        let marked = markup(nasty);
        assert!(!marked.contains(['<', '>', '"', '\'']), "{marked}");
        let encoded = serde_json::to_string(nasty).unwrap();
        let inert = json(&encoded);
        assert!(!inert.contains(['<', '>', '&', '\u{2028}']), "{inert}");
        assert_eq!(serde_json::from_str::<String>(&inert).unwrap(), nasty);
    }
}
