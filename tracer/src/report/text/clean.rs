//! Names from the target made fit for a terminal: control bytes and escape sequences come out inert.
//!
//! Letters, blanks, parentheses, stars, brackets, semicolons and angle brackets are left alone.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with everything that could move the cursor, change colours or hide text shown as an escape.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(acts_on_terminal) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if !acts_on_terminal(c) => out.push(c),
            // Writing to a string can't fail.
            c if u32::from(c) <= 0xff => _ = write!(out, "\\x{:02x}", u32::from(c)),
            c => _ = write!(out, "\\u{{{:x}}}", u32::from(c)),
        }
    }
    Cow::Owned(out)
}

/// Control characters, and the invisible ones that reorder or hide what stands next to them.
fn acts_on_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A clean name of at most `most` characters: a longer one keeps both ends around `…`.
pub(crate) fn shorten(name: &str, most: usize) -> String {
    let name = clean(name);
    let length = name.chars().count();
    if length <= most {
        return name.into_owned();
    }
    let room = most.saturating_sub(1);
    let tail = room / 2;
    let head = room - tail;
    let mut out: String = name.chars().take(head).collect();
    out.push('…');
    out.extend(name.chars().skip(length - tail));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_inert() {
        assert_eq!(clean("a\x1b[31mb\x07\r\n\t\u{9b}2J"), "a\\x1b[31mb\\x07\\r\\n\\t\\x9b2J");
        assert_eq!(clean("user\u{202e}txt.exe\u{200b}"), "user\\u{202e}txt.exe\\u{200b}");
    }

    #[test]
    fn names_are_unharmed() {
        let name = "main.(*G[go.shape.struct { A int; B <-chan int }]).Touch;func1 <init> µ 12";
        assert_eq!(clean(name), name);
        assert_eq!(shorten(name, 100), name);
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten("abcdefghijk", 10), "abcde…hijk");
        assert_eq!(shorten("abc", 1), "…");
        assert_eq!(shorten("abc", 0), "…");
    }
}
