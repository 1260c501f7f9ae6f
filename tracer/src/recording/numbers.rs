//! Numbers of a line: whether each can be what it says it is.
//!
//! Every reader of JSON can tell integers below 2^53 apart, and sums of a few thousand of them don't overflow; the recorder
//! writes no larger ones.

use memchr::memchr2;
use serde::Serialize;

/// The first integer that is too large.
pub(super) const LIMIT: u64 = 1 << 53;

/// The first sum that is too large: two such sums that are added are below [`LIMIT`].
pub(super) const SUM_LIMIT: u64 = LIMIT / 2;

/// Whether all numbers of sums are small enough.
pub(super) fn fit(sums: &impl Serialize) -> bool {
    serde_json::to_vec(sums).is_ok_and(|json| first_from(SUM_LIMIT, &json).is_none())
}

/// The first integer of 2^53 or more in a line of JSON, outside strings.
pub(super) fn too_large(line: &[u8]) -> Option<&str> {
    first_from(LIMIT, line)
}

fn first_from(limit: u64, line: &[u8]) -> Option<&str> {
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b'"' => at = behind_string(line, at + 1),
            b'0'..=b'9' => {
                let length = line[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let digits = &line[at..at + length];
                at += length;
                let is_whole = !matches!(line.get(at), Some(b'.' | b'e' | b'E'));
                if !is_whole {
                    // The digits behind the point, and the exponent, are no integers of their own.
                    let rest = line[at..].iter().take_while(|byte| is_of_number(**byte)).count();
                    at += rest;
                } else if let Ok(text) = std::str::from_utf8(digits)
                    && !text.parse::<u64>().is_ok_and(|number| number < limit)
                {
                    return Some(text);
                }
            }
            _ => at += 1,
        }
    }
    None
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
}

/// The place behind the string's closing quote.
fn behind_string(line: &[u8], mut at: usize) -> usize {
    while let Some(found) = line.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if line[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_found_outside_strings_only() {
        for fits in [
            r#"{"a":9007199254740991,"b":-9007199254740991}"#,
            r#"{"a":"99999999999999999999"}"#,
            r#"{"a":"\"99999999999999999999"}"#,
            r#"{"a":1.99999999999999999999,"b":0.5e300}"#,
            r#"{"a":"#,
            r#"""#,
            r#""\"#,
            "",
        ] {
            assert_eq!(too_large(fits.as_bytes()), None, "{fits}");
        }
        for (wrong, found) in [
            (r#"{"a":9007199254740992}"#, "9007199254740992"),
            (r#"{"a":-9007199254740992}"#, "9007199254740992"),
            (r#"{"a":"x\\","b":[99999999999999999999]}"#, "99999999999999999999"),
            ("9007199254740992", "9007199254740992"),
        ] {
            assert_eq!(too_large(wrong.as_bytes()), Some(found), "{wrong}");
        }
    }
}
