//! Sets of time intervals: the wall time that several threads spend in faults is their union, never their sum.

/// Total length of the union of `[begin, end)` intervals, in the unit of the bounds. Sorts them.
#[must_use]
pub(super) fn union_length(intervals: &mut [(u64, u64)]) -> u64 {
    intervals.sort_unstable();
    let mut total = 0;
    let mut covered_to = 0;
    for (begin, end) in intervals.iter() {
        let from = (*begin).max(covered_to);
        if *end > from {
            total += end - from;
            covered_to = *end;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_count_once() {
        assert_eq!(union_length(&mut []), 0);
        assert_eq!(union_length(&mut [(10, 20)]), 10);
        assert_eq!(union_length(&mut [(10, 20), (15, 30), (5, 8)]), 23);
        assert_eq!(union_length(&mut [(10, 40), (15, 20), (40, 41), (9, 9)]), 31);
        assert_eq!(union_length(&mut [(7, 3), (1, 2)]), 1);
    }
}
