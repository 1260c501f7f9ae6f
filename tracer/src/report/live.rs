//! The one line that stands on the terminal while a trace runs.

use super::{model::Unit, units};

/// The numbers of [`live_line`]. All are of the trace so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// What they are called.
    pub unit: Unit,
    /// Completed pauses.
    pub pauses: u64,
    /// The longest of them; `None` before the first.
    pub worst_ns: Option<u64>,
    /// Sum of their lengths.
    pub paused_ns: u64,
    /// The part of it that the drivers spent in faults.
    pub in_faults_ns: u64,
    /// Details dropped, all causes together.
    pub dropped: u64,
}

/// One line of at most 80 columns, without a line end.
#[must_use]
pub fn live_line(live: &Live) -> String {
    let mut line = format!(
        "{}, worst {}, in faults {}",
        match live.pauses {
            1 => format!("1 {}", live.unit.one()),
            n => format!("{} {}", units::count_column(n), live.unit.many()),
        },
        units::duration_or_unknown(live.worst_ns),
        // The two numbers may be read at different moments; the part can't be more than the whole.
        units::share(live.in_faults_ns.min(live.paused_ns), live.paused_ns),
    );
    if live.dropped > 0 {
        line.push_str(&format!(", {} details dropped", units::count_column(live.dropped)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_known() {
        assert_eq!(live_line(&Live::default()), "0 pauses, worst —, in faults —");
        let live = Live {
            unit: Unit::Pause,
            pauses: 1_204,
            worst_ns: Some(39_902_000),
            paused_ns: 101_000_000,
            in_faults_ns: 39_013_000,
            dropped: 0,
        };
        assert_eq!(live_line(&live), "1,204 pauses, worst 39.9 ms, in faults 38.6 %");
        let live = Live { pauses: 1, dropped: 7, ..live };
        assert_eq!(live_line(&live), "1 pause, worst 39.9 ms, in faults 38.6 %, 7 details dropped");
        let calls = Live { unit: Unit::Call, pauses: 2, worst_ns: Some(1_000), ..Live::default() };
        assert_eq!(live_line(&calls), "2 calls, worst 1.00 µs, in faults —");
    }

    #[test]
    fn fits_eighty_columns_whatever_the_numbers() {
        for paused_ns in [0, 1, u64::MAX] {
            let live = Live {
                unit: Unit::Window,
                pauses: u64::MAX,
                worst_ns: Some(u64::MAX),
                paused_ns,
                in_faults_ns: u64::MAX,
                dropped: u64::MAX,
            };
            let line = live_line(&live);
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
