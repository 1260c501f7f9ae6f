//! Breaking text into lines: between pieces, else between words, else anywhere, so that every line fits.

use crate::report::model::Kind;
use crate::report::units::UNIT_NAMES;

use super::words::INFERRED;

/// The text in lines, broken at blanks but never between a number and its unit.
pub(crate) fn wrap_text(text: &str, first_width: usize, rest_width: usize) -> Vec<String> {
    wrap(words(text), first_width, rest_width)
}

/// Pieces joined with blanks, broken between pieces; only a piece that is longer than a line is broken itself.
pub(super) fn wrap_pieces(pieces: &[String], first_width: usize, rest_width: usize) -> Vec<String> {
    let least = first_width.min(rest_width);
    let units = pieces
        .iter()
        .flat_map(|piece| if piece.chars().count() <= least { vec![piece.clone()] } else { words(piece) });
    wrap(units, first_width, rest_width)
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match words.last_mut() {
            Some(number) if number.ends_with(|c: char| c.is_ascii_digit()) && belongs_to_number(word) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Whether a word says what the number before it counts: a unit or a kind of fault.
fn belongs_to_number(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':', ')']).trim_start_matches(INFERRED);
    UNIT_NAMES.contains(&word) || Kind::ALL.iter().any(|kind| kind.word() == word)
}

fn wrap(units: impl IntoIterator<Item = String>, first_width: usize, rest_width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line: Option<(String, usize)> = None;
    for unit in units {
        let length = unit.chars().count();
        if let Some((text, used)) = &mut line {
            let width = if lines.is_empty() { first_width } else { rest_width };
            if *used + 1 + length <= width {
                text.push(' ');
                text.push_str(&unit);
                *used += 1 + length;
                continue;
            }
        }
        lines.extend(line.take().map(|(text, _)| text));
        line = Some(break_anywhere(&unit, length, &mut lines, first_width, rest_width));
    }
    lines.extend(line.map(|(text, _)| text));
    for line in &mut lines {
        line.truncate(line.trim_end_matches(' ').len());
    }
    lines
}

/// Puts what is too long for a line on lines of its own; what is left of it, and its length, begins the next.
fn break_anywhere(
    unit: &str,
    mut length: usize,
    lines: &mut Vec<String>,
    first_width: usize,
    rest_width: usize,
) -> (String, usize) {
    let mut rest = unit;
    loop {
        // A width of 0 would never end; the callers' indents leave more, this makes it sure.
        let width = if lines.is_empty() { first_width } else { rest_width }.max(1);
        if length <= width {
            return (rest.to_owned(), length);
        }
        let end = rest.char_indices().nth(width).map_or(rest.len(), |(index, _)| index);
        let (head, tail) = rest.split_at(end);
        lines.push(head.to_owned());
        (rest, length) = (tail, length - width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_at_words_but_not_before_a_unit() {
        assert_eq!(wrap_text("it took 39.0 ms in all", 12, 20), ["it took", "39.0 ms in all"]);
        assert_eq!(wrap_text("so (97.8 %), then", 9, 9), ["so", "(97.8 %),", "then"]);
        assert_eq!(wrap_text("in all 228 ~swap_in, 9", 12, 20), ["in all", "228 ~swap_in, 9"]);
        assert_eq!(wrap_text("", 10, 10), [""]);
    }

    #[test]
    fn breaks_a_long_word_anywhere() {
        assert_eq!(wrap_text("ab cdefghij k", 4, 4), ["ab", "cdef", "ghij", "k"]);
    }

    #[test]
    fn keeps_pieces_whole() {
        let pieces = ["a b ←".to_owned(), "c d ←".to_owned(), "e f g h i".to_owned()];
        assert_eq!(wrap_pieces(&pieces, 8, 8), ["a b ←", "c d ← e", "f g h i"]);
    }
}
