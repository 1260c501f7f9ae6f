//! Perf maps: a line for each function, `START SIZE NAME`, both numbers hexadecimal, the name up to the line's end.

use std::io::{self, BufRead};

use super::{at::next_line, wanted::Wanted};

/// A longer line is no line of a map.
const LONGEST_LINE: usize = 64 << 10;

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MapLines {
    /// Lines that name a function.
    pub(super) functions: u64,
    /// Lines that are of another form.
    pub(super) malformed: u64,
}

/// Reads a map. A line that is not of the form is counted and passed over; a later line replaces earlier ones that
/// overlap it.
pub(super) fn read_perf_map(reader: &mut impl BufRead, wanted: &mut Wanted) -> io::Result<MapLines> {
    let (mut lines, mut line) = (MapLines::default(), Vec::new());
    while let Some(whole) = next_line(reader, &mut line, LONGEST_LINE)? {
        match function(&line).filter(|_| whole) {
            Some((start, size_bytes, name)) => {
                lines.functions += 1;
                wanted.function(start, size_bytes, name);
            }
            None if line.trim_ascii().is_empty() => {}
            None => lines.malformed += 1,
        }
    }
    Ok(lines)
}

/// Start, size in bytes, and the name as it stands there: blanks, semicolons and brackets belong to it.
fn function(line: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (start, rest) = word(line)?;
    let (size_bytes, rest) = word(rest)?;
    let name = rest.trim_ascii();
    (!name.is_empty()).then_some(())?;
    Some((hexadecimal(start)?, hexadecimal(size_bytes)?, name))
}

fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace)?;
    Some(text.split_at(end))
}

/// Some writers put `0x` before their numbers.
fn hexadecimal(digits: &[u8]) -> Option<u64> {
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    // `from_str_radix` takes a sign too.
    digits.first().filter(|digit| digit.is_ascii_hexdigit())?;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], addresses: &[u64]) -> (Vec<Option<String>>, MapLines) {
        let mut wanted = Wanted::new(addresses.iter().copied());
        let lines = read_perf_map(&mut &text[..], &mut wanted).unwrap();
        (addresses.iter().map(|address| wanted.name(*address).map(str::to_owned)).collect(), lines)
    }

    #[test]
    fn names_are_whole_and_the_last_one_wins() {
        let text = b"7f00 10 first\n\
            7f10 20 LazyCompile:~go;to <anonymous> /a b/c.js:1:2\r\n\
            0x7f30 0x8 py::f:/x.py\n\
            7f08 10 replaced both ends\n\
            7f00 4 again\n";
        let (names, lines) = read(text, &[0x7f00, 0x7f04, 0x7f08, 0x7f17, 0x7f18, 0x7f2f, 0x7f30, 0x7f38]);
        let expected = [
            Some("again"),
            Some("first"),
            Some("replaced both ends"),
            Some("replaced both ends"),
            Some("LazyCompile:~go;to <anonymous> /a b/c.js:1:2"),
            Some("LazyCompile:~go;to <anonymous> /a b/c.js:1:2"),
            Some("py::f:/x.py"),
            None,
        ];
        assert_eq!(names, expected.map(|name| name.map(str::to_owned)));
        assert_eq!(lines, MapLines { functions: 5, malformed: 0 });
    }

    #[test]
    fn odd_lines_are_counted_and_stop_nothing() {
        let mut text = b"\n  \nnonsense\n10 zz name\n-10 5 name\n+10 5 name\n10 5\n10 5 \n10\n\xff\xfe 1 x\n\
            ffffffffffffffff 10 over the end\n10000000000000000 1 too large\n30 0 empty\n"
            .to_vec();
        text.extend_from_slice(b"20 5 ");
        text.resize(text.len() + 2 * LONGEST_LINE, b'x');
        text.extend_from_slice(b"\n40 5 name \xff\n50 5 cut o");
        let (names, lines) = read(&text, &[0x10, 0x20, 0x30, 0x40, 0x50, u64::MAX]);
        let expected = [None, None, None, Some("name \u{fffd}"), Some("cut o"), None];
        assert_eq!(names, expected.map(|name| name.map(str::to_owned)));
        // Those that end beyond the last address, or hold nothing, are of the form.
        assert_eq!(lines, MapLines { functions: 4, malformed: 10 });
    }
}
