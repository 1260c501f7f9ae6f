//! How the numbers of a comparison look.

use crate::{
    compare::{Measure, SideValue, Unit, Verdict},
    report::units::{self, UNKNOWN},
};

/// A number with three significant digits: `0.0123`, `12.3`, `1,234`.
pub(in crate::report) fn number(value: f64) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let value = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if value < 0.000_095 {
        return format!("{sign}<0.0001");
    }
    // Rounded first: 9.996 is 10.0.
    let digits = 2 - value.log10().floor() as i32;
    let scale = 10_f64.powi(digits);
    let rounded = (value * scale).round() / scale;
    let decimals = usize::try_from(2 - rounded.log10().floor() as i32).unwrap_or(0);
    if decimals == 0 {
        format!("{sign}{}", units::count(rounded as u64))
    } else {
        format!("{sign}{rounded:.decimals$}")
    }
}

/// A number and its unit, apart.
fn parts(unit: Unit, value: f64) -> (String, &'static str) {
    match unit {
        Unit::Count if value.fract() == 0.0 && value >= 0.0 => (units::count(value as u64), ""),
        Unit::Count | Unit::PerSecond | Unit::PerPause => (number(value), ""),
        Unit::Share => (number(value * 100.0), "%"),
        Unit::Ns | Unit::NsPerSecond | Unit::NsPerPause => {
            let sign = if value < 0.0 { "-" } else { "" };
            let ns = value.abs();
            if ns > 0.0 && ns < 99.5 {
                return (number(value), "ns");
            }
            let text = units::duration(ns.round() as u64);
            match text.split_once(' ') {
                Some((digits, unit)) => (format!("{sign}{digits}"), time_unit(unit)),
                None => (text, ""),
            }
        }
    }
}

/// The unit's name for as long as it is needed.
fn time_unit(name: &str) -> &'static str {
    units::UNIT_NAMES.iter().find(|known| **known == name).copied().unwrap_or("")
}

/// A value with its unit: `39.9 ms`, `0.0834 %`, `1,204`.
pub(in crate::report) fn value(unit: Unit, value: Option<f64>) -> String {
    let Some(value) = value else { return UNKNOWN.to_owned() };
    let (digits, name) = parts(unit, value);
    if name.is_empty() { digits } else { format!("{digits} {name}") }
}

/// Two values: `51.0..63.2 µs`; one where they are the same.
pub(in crate::report) fn range(unit: Unit, low: Option<f64>, high: Option<f64>) -> String {
    let (Some(low), Some(high)) = (low, high) else { return UNKNOWN.to_owned() };
    let ((low, low_name), (high, high_name)) = (parts(unit, low), parts(unit, high));
    let tail = if high_name.is_empty() { String::new() } else { format!(" {high_name}") };
    if low_name == high_name {
        if low == high { format!("{high}{tail}") } else { format!("{low}..{high}{tail}") }
    } else {
        format!("{low} {low_name}..{high}{tail}")
    }
}

/// The range of a side's runs; nothing when there is one run, or all are the same.
pub(in crate::report) fn range_of(unit: Unit, side: &SideValue) -> String {
    if side.runs.len() < 2 || side.least == side.most {
        return String::new();
    }
    range(unit, side.least, side.most)
}

/// A difference, with its sign; that of shares is in percentage points.
pub(in crate::report) fn difference(unit: Unit, value: Option<f64>) -> String {
    let Some(value) = value else { return UNKNOWN.to_owned() };
    let (digits, name) = parts(unit, value);
    let sign = if value > 0.0 { "+" } else { "" };
    match (unit, name) {
        (Unit::Share, _) => format!("{sign}{digits} points"),
        (_, "") => format!("{sign}{digits}"),
        (_, name) => format!("{sign}{digits} {name}"),
    }
}

/// `1.05 ×`.
pub(in crate::report) fn ratio(measure: &Measure) -> String {
    match measure.ratio {
        Some(ratio) => format!("{} ×", number(ratio)),
        None if measure.a.median == Some(0.0) && measure.b.median == Some(0.0) => "0 = 0".to_owned(),
        None if measure.a.median == Some(0.0) && measure.b.median.is_some() => "from 0".to_owned(),
        None => UNKNOWN.to_owned(),
    }
}

/// `0.97..1.31`; an end without a bound is `…`.
pub(in crate::report) fn ratio_interval(measure: &Measure) -> String {
    match measure.ratio_interval {
        Some([low, high]) if measure.ratio.is_some() => {
            let end = |end: Option<f64>| end.map_or_else(|| "…".to_owned(), number);
            format!("{}..{}", end(low), end(high))
        }
        _ => String::new(),
    }
}

/// What per: `per pause`, `per second`; nothing where the number is none of these.
pub(in crate::report) fn per(unit: Unit, window: &str) -> String {
    match unit {
        Unit::PerPause => format!("per {window}"),
        Unit::NsPerPause => format!("time per {window}"),
        Unit::PerSecond => "per second".to_owned(),
        Unit::NsPerSecond => "time per second".to_owned(),
        Unit::Count | Unit::Ns | Unit::Share => String::new(),
    }
}

/// The verdict for a table: what only would be one were it the only measure stands in brackets.
pub(in crate::report) fn short_verdict(measure: &Measure) -> String {
    match (measure.verdict, measure.alone) {
        (Verdict::NoDifferenceShown, Verdict::NoDifferenceShown) => UNKNOWN.to_owned(),
        (Verdict::NoDifferenceShown, alone) => format!("({})", alone.words()),
        (verdict, _) => verdict.words().to_owned(),
    }
}

/// A p: `0.029`, `<0.001`.
pub(in crate::report) fn p(p: f64) -> String {
    if p < 0.000_5 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (given, expected) in [
            (0.0, "0"),
            (0.012_34, "0.0123"),
            (0.999_6, "1.00"),
            (9.996, "10.0"),
            (12.34, "12.3"),
            (999.6, "1,000"),
            (1_234_567.0, "1,230,000"),
            (-2.5, "-2.50"),
            (1e-9, "<0.0001"),
            (f64::INFINITY, UNKNOWN),
        ] {
            assert_eq!(number(given), expected, "{given}");
        }
    }

    #[test]
    fn values_have_units() {
        assert_eq!(value(Unit::Ns, Some(51_000.0)), "51.0 µs");
        assert_eq!(value(Unit::NsPerPause, Some(0.25)), "0.250 ns");
        assert_eq!(value(Unit::Share, Some(0.000_834)), "0.0834 %");
        assert_eq!(value(Unit::Count, Some(1_204.0)), "1,204");
        assert_eq!(value(Unit::Count, None), UNKNOWN);
        assert_eq!(range(Unit::Ns, Some(51_000.0), Some(63_200.0)), "51.0..63.2 µs");
        assert_eq!(range(Unit::Ns, Some(900_000.0), Some(1_500_000.0)), "900 µs..1.50 ms");
        assert_eq!(range(Unit::Ns, Some(900_000.0), Some(900_000.0)), "900 µs");
        assert_eq!(difference(Unit::Ns, Some(-51_000.0)), "-51.0 µs");
        assert_eq!(difference(Unit::Share, Some(0.02)), "+2.00 points");
    }
}
