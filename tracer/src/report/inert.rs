//! The target's names made fit for the files of other programs: they act on nothing, and no two of them become one.
//!
//! A character that could act on a terminal, is not allowed in XML, or separates fields becomes `\xHH` (up to U+00FF) or
//! `\u{HEX}`. A backslash is left alone, unless such an escape would seem to begin with it: then it is `\x5c`. So every
//! escaped name has exactly one name that it stands for, and names without such characters are unchanged.

use std::{borrow::Cow, fmt::Write as _};

/// The name, with these characters escaped besides those that always are. An empty name becomes `[no name]`.
pub(super) fn inert<'a>(name: &'a str, separators: &[char]) -> Cow<'a, str> {
    if name.is_empty() {
        return Cow::Borrowed("[no name]");
    }
    let acts = |c: char| separators.contains(&c) || acts(c);
    if !name.contains(acts) && !name.contains('\\') {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 16);
    for (at, c) in name.char_indices() {
        let seems_escape = c == '\\' && begins_escape(&name[at + 1..]);
        match c {
            c if !acts(c) && !seems_escape => out.push(c),
            // Writing to a string can't fail.
            c if u32::from(c) <= 0xff => _ = write!(out, "\\x{:02x}", u32::from(c)),
            c => _ = write!(out, "\\u{{{:x}}}", u32::from(c)),
        }
    }
    Cow::Owned(out)
}

/// The same of at most so many characters: a longer one keeps both ends around `…`.
pub(super) fn short(name: &str, most: usize) -> String {
    let name = inert(name, &[]);
    let length = name.chars().count();
    if length <= most {
        return name.into_owned();
    }
    let tail = most.saturating_sub(1) / 2;
    let head = most.saturating_sub(1) - tail;
    name.chars().take(head).chain(['…']).chain(name.chars().skip(length - tail)).collect()
}

/// Whether a backslash before this would be read as the begin of an escape.
fn begins_escape(rest: &str) -> bool {
    let hexadecimal = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    rest.starts_with("u{")
        || rest.strip_prefix('x').is_some_and(|rest| rest.as_bytes().get(..2).is_some_and(hexadecimal))
}

/// Control characters, invisible ones that reorder or hide what stands next to them, and what XML 1.0 does not allow.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_such_characters_are_unchanged() {
        for name in [
            "main.(*G[go.shape.struct { A int; B <-chan int }]).Touch",
            r"App\xylo\Ünit",
            "a b & <c> \"d\" 12",
        ] {
            assert_eq!(inert(name, &[]), name);
        }
    }

    #[test]
    fn what_acts_is_escaped_and_an_empty_name_is_said() {
        assert_eq!(
            inert("a\x1b[2J\n;b\u{202e}\u{9b}\u{ffff}", &[';']),
            r"a\x1b[2J\x0a\x3bb\u{202e}\x9b\u{ffff}"
        );
        assert_eq!(inert("", &[]), "[no name]");
    }

    #[test]
    fn short_ones_keep_both_ends() {
        assert_eq!(short("abcdefghij", 10), "abcdefghij");
        assert_eq!(short("abcdefghijk", 10), "abcde…hijk");
    }

    #[test]
    fn no_two_names_become_one() {
        let names = [
            "\x0a",
            r"\x0a",
            r"\x5cx0a",
            r"\\x0a",
            r"\u{202e}",
            "\u{202e}",
            r"\\u{202e}",
            r"\x",
            r"\",
            r"\\",
            ";",
            r"\x3b",
        ];
        let escaped: std::collections::BTreeSet<_> = names.iter().map(|name| inert(name, &[';'])).collect();
        assert_eq!(escaped.len(), names.len(), "{escaped:?}");
        for name in names {
            assert_eq!(undone(&inert(name, &[';'])), name);
        }
    }

    /// What the documentation says how to read it.
    fn undone(mut escaped: &str) -> String {
        let mut out = String::new();
        while let Some(c) = escaped.chars().next() {
            let rest = &escaped[c.len_utf8()..];
            let (code, length) = if c == '\\' && rest.starts_with("u{") {
                let end = rest.find('}').unwrap();
                (u32::from_str_radix(&rest[2..end], 16).unwrap(), end + 1)
            } else if c == '\\' && begins_escape(rest) {
                (u32::from_str_radix(&rest[1..3], 16).unwrap(), 3)
            } else {
                (u32::from(c), 0)
            };
            out.push(char::from_u32(code).unwrap());
            escaped = &rest[length..];
        }
        out
    }
}
