//! Units: how durations, counts, shares and bytes look. Numbers stay plain everywhere else.
//!
//! Everything is computed with integers, so that rounding can never print a part as the whole or something as
//! nothing.

/// What stands where a value is not known.
pub const UNKNOWN: &str = "—";

/// How wide [`duration_column`] pads to.
pub const DURATION_WIDTH: usize = 8;

/// Units of time: nanoseconds in one, and the name. Each is used up to the next one's [`SWITCH`].
const TIMES: [(u64, &str); 7] = [
    (1, "ns"),
    (1_000, "µs"),
    (1_000_000, "ms"),
    (1_000_000_000, "s"),
    (60_000_000_000, "min"),
    (3_600_000_000_000, "h"),
    (86_400_000_000_000, "d"),
];

/// From how many of a unit on the next larger one is used, in the order of [`TIMES`].
const SWITCH: [u64; 7] = [1_000, 1_000, 1_000, 1_000, 120, 48, u64::MAX];

/// The names that stand behind a number: a line is never broken between the two.
pub(crate) const UNIT_NAMES: [&str; 16] =
    ["ns", "µs", "ms", "s", "min", "h", "d", "%", "×", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// A duration with three significant digits: `412 ns`, `51.0 µs`, `39.9 ms`, `1.05 s`, `16.7 min`.
#[must_use]
pub fn duration(ns: u64) -> String {
    let (digits, unit) = time_parts(ns);
    format!("{digits} {unit}")
}

/// A duration that may be unknown.
#[must_use]
pub fn duration_or_unknown(ns: Option<u64>) -> String {
    ns.map_or_else(|| UNKNOWN.to_owned(), duration)
}

/// A duration at constant width, right-aligned, for columns.
#[must_use]
pub fn duration_column(ns: Option<u64>) -> String {
    format!("{:>DURATION_WIDTH$}", duration_or_unknown(ns))
}

/// A part and its whole: `39.0 of 39.9 ms`, or `885 µs of 39.9 ms` when their units differ.
#[must_use]
pub fn duration_of(part_ns: u64, whole_ns: u64) -> String {
    let (part, part_unit) = time_parts(part_ns);
    let (whole, whole_unit) = time_parts(whole_ns);
    if part_unit == whole_unit {
        format!("{part} of {whole} {whole_unit}")
    } else {
        format!("{part} {part_unit} of {whole} {whole_unit}")
    }
}

/// A moment of the trace in seconds: `12.345`, `-0.002`. Beyond 11 days it is a rounded duration.
#[must_use]
pub fn seconds(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    if ns >= 1_000_000_000_000_000 {
        return format!("{sign}{}", duration(ns));
    }
    let ms = (ns + 500_000) / 1_000_000;
    format!("{sign}{}.{:03}", ms / 1_000, ms % 1_000)
}

/// A count with thousands separators: `1,204`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count for a column: exact below a million, then `1.20 M`; never wider than seven characters.
#[must_use]
pub fn count_column(n: u64) -> String {
    const STEPS: [(u64, &str); 5] = [
        (1_000_000, "M"),
        (1_000_000_000, "G"),
        (1_000_000_000_000, "T"),
        (1_000_000_000_000_000, "P"),
        (1_000_000_000_000_000_000, "E"),
    ];
    if n < 1_000_000 {
        return count(n);
    }
    let (digits, unit) = scaled(n, &STEPS, &[1_000, 1_000, 1_000, 1_000, u64::MAX]);
    format!("{digits} {unit}")
}

/// A count and its noun: `1 fault`, `228 faults`.
#[must_use]
pub fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { more })
}

/// A part's share of a whole: `97.8 %`. `100.0 %` only for all of it, `0.0 %` only for nothing; otherwise
/// `>99.9 %` and `<0.1 %`. The share of nothing is unknown.
#[must_use]
pub fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return UNKNOWN.to_owned();
    }
    let permille = (u128::from(part) * 1_000 + u128::from(whole) / 2) / u128::from(whole);
    if permille == 0 && part > 0 {
        "<0.1 %".to_owned()
    } else if permille >= 1_000 && part < whole {
        ">99.9 %".to_owned()
    } else if permille == 1_000 && part > whole {
        ">100.0 %".to_owned()
    } else if permille >= 10_000 {
        // Only a plain sum can be more than ten times the whole; its decimals say nothing.
        format!("{} %", count(u64::try_from(permille / 10).unwrap_or(u64::MAX)))
    } else {
        format!("{}.{} %", permille / 10, permille % 10)
    }
}

/// How many times the whole fits: `782 ×`; unknown for nothing.
#[must_use]
pub fn times(value: u64, unit: u64) -> String {
    if unit == 0 {
        return UNKNOWN.to_owned();
    }
    let hundredths = u128::from(value) * 100 / u128::from(unit);
    let number = match hundredths {
        0..1_000 => format!("{}.{:02}", hundredths / 100, hundredths % 100),
        1_000..10_000 => format!("{}.{}", hundredths / 100, hundredths % 100 / 10),
        _ => count(u64::try_from(hundredths / 100).unwrap_or(u64::MAX)),
    };
    format!("{number} ×")
}

/// A size: `512 B`, `24.0 MiB`.
#[must_use]
pub fn bytes(n: u64) -> String {
    const STEPS: [(u64, &str); 7] = [
        (1, "B"),
        (1 << 10, "KiB"),
        (1 << 20, "MiB"),
        (1 << 30, "GiB"),
        (1 << 40, "TiB"),
        (1 << 50, "PiB"),
        (1 << 60, "EiB"),
    ];
    let (digits, unit) = scaled(n, &STEPS, &[1_024, 1_024, 1_024, 1_024, 1_024, 1_024, u64::MAX]);
    format!("{digits} {unit}")
}

fn time_parts(ns: u64) -> (String, &'static str) {
    scaled(ns, &TIMES, &SWITCH)
}

/// Three significant digits in the smallest unit whose limit the *rounded* value stays below: 999,999 ns is
/// `1.00 ms`, not `1000 µs`.
fn scaled(value: u64, units: &[(u64, &'static str)], limits: &[u64]) -> (String, &'static str) {
    let value = u128::from(value);
    let mut last = (String::new(), "");
    for (&(size, name), &limit) in units.iter().zip(limits) {
        let size = u128::from(size);
        let round = |scale: u128| (value * scale + size / 2) / size;
        let whole = round(1);
        let digits = if size == 1 || round(10) >= 1_000 {
            count(u64::try_from(whole).unwrap_or(u64::MAX))
        } else if round(100) >= 1_000 {
            format!("{}.{}", round(10) / 10, round(10) % 10)
        } else {
            format!("{}.{:02}", round(100) / 100, round(100) % 100)
        };
        last = (digits, name);
        if whole < u128::from(limit) {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        for (ns, expected) in [
            (0, "0 ns"),
            (412, "412 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (9_994, "9.99 µs"),
            (9_995, "10.0 µs"),
            (51_000, "51.0 µs"),
            (99_949, "99.9 µs"),
            (99_950, "100 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (39_902_000, "39.9 ms"),
            (1_050_000_000, "1.05 s"),
            (600_000_000_000, "600 s"),
            (999_600_000_000, "16.7 min"),
            (7_200_000_000_000, "2.00 h"),
            (172_800_000_000_000, "2.00 d"),
            (u64::MAX, "213,504 d"),
        ] {
            assert_eq!(duration(ns), expected, "{ns}");
        }
    }

    #[test]
    fn columns_keep_their_width() {
        let mut ns = 1_u64;
        while ns < 8_000_000_000_000_000 {
            assert_eq!(duration_column(Some(ns)).chars().count(), DURATION_WIDTH, "{ns}");
            ns = ns * 3 / 2 + 1;
        }
        assert_eq!(duration_column(None), "       —");
        for n in [0, 999_999, 1_000_000, 999_500_000, 999_999_999, u64::MAX] {
            assert!(count_column(n).chars().count() <= 7, "{}", count_column(n));
        }
        assert_eq!(count_column(999_999), "999,999");
        assert_eq!(count_column(1_200_000), "1.20 M");
        assert_eq!(count_column(u64::MAX), "18.4 E");
    }

    #[test]
    fn shares_are_never_rounded_to_all_or_nothing() {
        for (part, whole, expected) in [
            (39_013_000, 39_902_000, "97.8 %"),
            (0, 10, "0.0 %"),
            (1, 10_000_000, "<0.1 %"),
            (u64::MAX - 1, u64::MAX, ">99.9 %"),
            (9_999, 10_000, ">99.9 %"),
            (10, 10, "100.0 %"),
            (100_001, 100_000, ">100.0 %"),
            (3, 2, "150.0 %"),
            (1_234, 1, "123,400 %"),
            (0, 0, UNKNOWN),
            (5, 0, UNKNOWN),
        ] {
            assert_eq!(share(part, whole), expected, "{part} of {whole}");
        }
    }

    #[test]
    fn parts_share_a_unit_where_they_can() {
        assert_eq!(duration_of(39_013_000, 39_902_000), "39.0 of 39.9 ms");
        assert_eq!(duration_of(889_000, 39_902_000), "889 µs of 39.9 ms");
    }

    #[test]
    fn counts_times_bytes_and_moments() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_204), "1,204");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(counted(1, "fault", "faults"), "1 fault");
        assert_eq!(counted(0, "fault", "faults"), "0 faults");
        assert_eq!(times(39_902, 51), "782 ×");
        assert_eq!(times(3, 2), "1.50 ×");
        assert_eq!(times(25, 2), "12.5 ×");
        assert_eq!(times(3, 0), UNKNOWN);
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(1_023), "1,023 B");
        assert_eq!(bytes(24 << 20), "24.0 MiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(seconds(12_345_600_000), "12.346");
        assert_eq!(seconds(-2_000_000), "-0.002");
        assert_eq!(seconds(i64::MIN), "-106,752 d");
    }
}
