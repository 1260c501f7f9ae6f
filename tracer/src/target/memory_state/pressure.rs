//! Pressure stall information: the kernel's `/proc/pressure/memory`, and `memory.pressure` of a cgroup.
//!
//! Two lines, `some` and `full`, each with averages in percent and a total in microseconds (Documentation/accounting/psi.rst).

use super::model::{Pressure, Stalls};

/// No larger number is exact in every reader of JSON: 104 days of stalls, in ns.
const EXACT: u64 = 1 << 53;

/// From the file's contents; `None` when they are in no form that is known, or pressure is not accounted for.
pub(super) fn parse(text: &[u8]) -> Option<Pressure> {
    let text = std::str::from_utf8(text).ok()?;
    let line = |name: &str| {
        let fields = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        stalls(fields)
    };
    Some(Pressure { some: line("some")?, full: line("full") })
}

fn stalls(fields: &str) -> Option<Stalls> {
    let field =
        |name: &str| fields.split_whitespace().find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    Some(Stalls {
        avg10_percent: field("avg10")?.parse().ok().filter(|percent: &f64| percent.is_finite())?,
        total_ns: field("total")?.parse::<u64>().ok()?.checked_mul(1000).filter(|ns| *ns < EXACT)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lines_are_read_and_what_is_missing_is_absent() {
        let text = b"some avg10=1.25 avg60=0.00 avg300=0.00 total=411\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        let some = Stalls { avg10_percent: 1.25, total_ns: 411_000 };
        let full = Stalls { avg10_percent: 0.0, total_ns: 7_000 };
        assert_eq!(parse(text), Some(Pressure { some, full: Some(full) }));
        // Kernels before 5.13 have no `full` line for the CPU; for memory it can be cut off.
        assert_eq!(parse(b"some avg10=1.25 total=411\nfull"), Some(Pressure { some, full: None }));
        for odd in [
            "",
            "some avg10=x total=1",
            "some avg10=inf total=1",
            "some total=1",
            "some avg10=1 total=9007199254741",
            "somewhat avg10=1 total=1",
        ] {
            assert_eq!(parse(odd.as_bytes()), None, "{odd}");
        }
    }
}
