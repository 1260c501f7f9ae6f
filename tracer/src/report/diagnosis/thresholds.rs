//! How much it takes for a rule to speak. In percent; all of them are compared with whole numbers.

/// A part of the worst pause, or of all paused time, that is worth a finding. Below it no cause is claimed: with
/// five kinds of fault and the time outside faults, a smaller part is seldom what makes a pause long.
pub(super) const NOTABLE_PERCENT: u64 = 20;

/// A part that outweighs everything else together: faults that explain less than this of the worst pause are not
/// its explanation, and `mostly` is said of a code path or thread only from here on.
pub(super) const MOST_PERCENT: u64 = 50;

/// A part that leaves room for nothing else of weight: a fault that covers so much of a phase was its cause, whatever
/// else is said of the phase.
pub(super) const NEARLY_ALL_PERCENT: u64 = 90;

/// Whether `part` is at least `percent` of `whole`; never of nothing.
pub(super) fn at_least(part: u64, percent: u64, whole: u64) -> bool {
    whole > 0 && u128::from(part) * 100 >= u128::from(whole) * u128::from(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_belongs_to_it() {
        assert!(at_least(20, 20, 100));
        assert!(!at_least(19, 20, 100));
        assert!(!at_least(0, 20, 0));
        assert!(at_least(u64::MAX, 100, u64::MAX));
    }
}
