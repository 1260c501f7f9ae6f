//! One line of `/proc/PID/stat` or `/proc/PID/task/TID/stat`.

/// The fields that are used here; see proc_pid_stat(5) for their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// `R`, `S`, `D`, `Z`, ... (field 3).
    pub state: char,
    /// Minor faults (field 10).
    pub minor: u64,
    /// Major faults (field 12).
    pub major: u64,
    /// Start of the process after boot, in clock ticks (field 22).
    pub start_ticks: u64,
}

/// Reads the line. `None` when it is not of the known form.
///
/// The name in the second field may hold blanks and parentheses, so the fields are counted from the last `)`.
#[must_use]
pub fn parse_stat(line: &str) -> Option<Stat> {
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // `fields[0]` is field 3 of the manual.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        minor: number(10)?,
        major: number(12)?,
        start_ticks: number(22)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_shifts_nothing() {
        let line = "4242 (a) b (c) S 1 4242 4242 0 -1 4194560 1234 5 67 8 1 2 0 0 20 0 3 0 987654 1 2";
        let stat = parse_stat(line).expect("a whole line");
        assert_eq!(stat, Stat { state: 'S', minor: 1234, major: 67, start_ticks: 987_654 });
    }

    #[test]
    fn a_short_line_is_refused() {
        assert_eq!(parse_stat("1 (x) S 1 2 3"), None);
        assert_eq!(parse_stat(""), None);
        assert_eq!(parse_stat("no parenthesis"), None);
    }
}
