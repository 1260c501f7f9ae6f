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

/// The union: in order, without overlaps.
#[must_use]
pub(super) fn union(mut intervals: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    intervals.sort_unstable();
    let mut union: Vec<(u64, u64)> = Vec::new();
    for (begin, end) in intervals.into_iter().filter(|(begin, end)| begin < end) {
        match union.last_mut() {
            Some((_, last)) if begin <= *last => *last = end.max(*last),
            _ => union.push((begin, end)),
        }
    }
    union
}

/// Total length of what two unions have in common.
#[must_use]
pub(super) fn common_length(a: &[(u64, u64)], b: &[(u64, u64)]) -> u64 {
    let (mut total, mut a, mut b) = (0, a.iter().peekable(), b.iter().peekable());
    while let (Some(first), Some(second)) = (a.peek(), b.peek()) {
        let (from, to) = (first.0.max(second.0), first.1.min(second.1));
        total += to.saturating_sub(from);
        if first.1 <= second.1 {
            a.next();
        } else {
            b.next();
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

    #[test]
    fn what_two_sets_have_in_common() {
        let a = union(vec![(30, 40), (10, 20), (15, 25), (7, 3)]);
        assert_eq!(a, [(10, 25), (30, 40)]);
        assert_eq!(common_length(&a, &union(vec![(0, 100)])), 25);
        assert_eq!(common_length(&a, &union(vec![(20, 32), (39, 50)])), 5 + 2 + 1);
        assert_eq!(common_length(&a, &[]), 0);
        assert_eq!(common_length(&union(vec![(0, 100)]), &a), 25);
    }
}
