//! Tables: columns as wide as their cells, narrowed until they fit.

use super::clean::shorten;

/// One column.
#[derive(Debug)]
pub(super) struct Column {
    /// The head, in one or two lines; an empty upper line is no line.
    pub(super) head: (&'static str, &'static str),
    /// Which side the cells stand on.
    pub(super) side: Side,
    /// One cell per row.
    pub(super) cells: Vec<String>,
    /// What to do when the table is too wide.
    pub(super) when_tight: Tight,
}

/// Which side cells stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// What gives way in a table that is too wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tight {
    /// The column stays as it is.
    Keep,
    /// Its cells may be shortened to this many characters.
    Shorten(usize),
    /// It is left out; a smaller rank goes first.
    Drop(u8),
}

/// The table's lines and how many of them are heads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// Heads first.
    pub(super) lines: Vec<String>,
    /// How many heads.
    pub(super) heads: usize,
}

/// Lays the columns out: first with two blanks between them, then with one, then shortened, then without the
/// columns that may go. What is left is never wider than `width` unless nothing may give way.
pub(super) fn lay_out(mut columns: Vec<Column>, width: usize) -> Lines {
    loop {
        let natural: Vec<usize> = columns.iter().map(natural_width).collect();
        let least: Vec<usize> = columns.iter().zip(&natural).map(|(c, &n)| least_width(c, n)).collect();
        for (widths, blanks) in [(&natural, 2), (&natural, 1), (&least, 1)] {
            let total = widths.iter().sum::<usize>() + blanks * columns.len().saturating_sub(1);
            if total <= width {
                return draw(&columns, stretch(widths, &natural, width - total), blanks);
            }
        }
        let ranks = columns.iter().enumerate().filter_map(|(index, column)| match column.when_tight {
            Tight::Drop(rank) => Some((rank, index)),
            Tight::Keep | Tight::Shorten(_) => None,
        });
        match ranks.min() {
            Some((_, index)) => drop(columns.remove(index)),
            None => return draw(&columns, least, 1),
        }
    }
}

fn natural_width(column: &Column) -> usize {
    let cells = column.cells.iter().map(String::as_str);
    [column.head.0, column.head.1]
        .into_iter()
        .chain(cells)
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(0)
}

fn least_width(column: &Column, natural: usize) -> usize {
    match column.when_tight {
        Tight::Shorten(least) => natural.min(least.max(column.head.0.len()).max(column.head.1.len())),
        Tight::Keep | Tight::Drop(_) => natural,
    }
}

/// Gives shortened columns the room that is left.
fn stretch(widths: &[usize], natural: &[usize], mut room: usize) -> Vec<usize> {
    let mut out = widths.to_vec();
    for (width, &natural) in out.iter_mut().zip(natural) {
        let more = natural.saturating_sub(*width).min(room);
        *width += more;
        room -= more;
    }
    out
}

fn draw(columns: &[Column], widths: Vec<usize>, blanks: usize) -> Lines {
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    let upper: Vec<&str> = columns.iter().map(|column| column.head.0).collect();
    let lower: Vec<&str> = columns.iter().map(|column| column.head.1).collect();
    let mut lines = Vec::with_capacity(rows + 2);
    for head in [upper, lower] {
        if head.iter().any(|text| !text.is_empty()) {
            lines.push(row(columns, &widths, blanks, &head));
        }
    }
    let heads = lines.len();
    for index in 0..rows {
        let cells: Vec<&str> =
            columns.iter().map(|column| column.cells.get(index).map_or("", String::as_str)).collect();
        lines.push(row(columns, &widths, blanks, &cells));
    }
    Lines { lines, heads }
}

fn row(columns: &[Column], widths: &[usize], blanks: usize, cells: &[&str]) -> String {
    let mut line = String::new();
    for (index, ((column, &width), cell)) in columns.iter().zip(widths).zip(cells).enumerate() {
        if index > 0 {
            line.extend(std::iter::repeat_n(' ', blanks));
        }
        let cell = shorten(cell, width);
        let padding = std::iter::repeat_n(' ', width - cell.chars().count().min(width));
        match column.side {
            Side::Left => {
                line.push_str(&cell);
                line.extend(padding);
            }
            Side::Right => {
                line.extend(padding);
                line.push_str(&cell);
            }
        }
    }
    line.truncate(line.trim_end_matches(' ').len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        vec![
            Column {
                head: ("", "name"),
                side: Side::Left,
                cells: vec!["a long name".into(), "b".into()],
                when_tight: Tight::Shorten(5),
            },
            Column {
                head: ("in", "faults"),
                side: Side::Right,
                cells: vec!["1".into(), "22".into()],
                when_tight: Tight::Keep,
            },
            Column {
                head: ("", "more"),
                side: Side::Right,
                cells: vec!["x".into(), "y".into()],
                when_tight: Tight::Drop(1),
            },
        ]
    }

    #[test]
    fn gives_way_step_by_step() {
        let wide = lay_out(columns(), 25);
        assert_eq!(wide.heads, 2);
        assert_eq!(
            wide.lines,
            [
                "                 in",
                "name         faults  more",
                "a long name       1     x",
                "b                22     y",
            ]
        );
        assert_eq!(lay_out(columns(), 24).lines[2], "a long name      1    x");
        assert_eq!(lay_out(columns(), 20).lines[2], "a lo…ame      1    x");
        assert_eq!(lay_out(columns(), 15).lines[2], "a lo…ame      1");
        assert_eq!(lay_out(columns(), 5).lines[2], "a …me      1");
    }
}
