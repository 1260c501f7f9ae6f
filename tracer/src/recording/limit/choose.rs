//! Which pauses are kept, and how, so that what is kept has a given size: a pure function of what is there.

use super::{
    levels::Levels,
    survey::{Sizes, Survey},
};

/// A line with totals only takes about so much.
const TOTALS_BYTES: u64 = 900;
/// What pauses that are kept whole may take of all, in percent; with those that are kept without their faults; with
/// those whose totals are kept.
const WHOLE_PERCENT: u64 = 70;
/// The worst one may take more.
const WORST_PERCENT: u64 = 95;
const LINES_PERCENT: u64 = 85;
const TOTALS_PERCENT: u64 = 95;

/// Levels for lines of so many bytes. `fixed_bytes`: of them, what is not of pauses and stays.
pub(super) fn choose(survey: &Survey, bytes: u64, fixed_bytes: u64) -> Levels {
    let room = bytes.saturating_sub(fixed_bytes);
    let share = |percent: u64| room / 100 * percent;
    if let Some(above_ns) = within_the_worst(survey, share(WHOLE_PERCENT), share(WORST_PERCENT)) {
        let whole = survey.worst.iter().take_while(|pause| pause.ns >= above_ns);
        let used = whole.map(|pause| pause.line_bytes + pause.fault_bytes).sum();
        return beside(survey, room, used, above_ns);
    }
    let whole = |sizes: &Sizes| {
        sizes.line_bytes + sizes.fault_bytes + sizes.line_stack_bytes.max(sizes.fault_stack_bytes)
    };
    let line = |sizes: &Sizes| sizes.line_bytes + sizes.line_stack_bytes;
    let totals = |sizes: &Sizes| (sizes.pauses * TOTALS_BYTES).min(sizes.line_bytes);
    let mut groups = survey.groups.iter().rev().peekable();
    let mut used = 0;
    // Each goes on where the one before has stopped.
    let mut least = u64::MAX;
    let mut take = |most: u64, size: &dyn Fn(&Sizes) -> u64| {
        while let Some((group, sizes)) = groups.next_if(|(_, sizes)| used + size(sizes) <= most) {
            used += size(sizes);
            least = *group;
        }
        // With the last group all are taken, also those that are shorter than any so far.
        if groups.peek().is_none() {
            least = 0;
        }
        least
    };
    Levels {
        with_faults_ns: take(share(WHOLE_PERCENT), &whole),
        in_full_ns: take(share(LINES_PERCENT), &line),
        listed_ns: take(share(TOTALS_PERCENT), &totals),
    }
}

/// Levels for lines of so many bytes, of which some are used by pauses from a length on, which are kept whole.
pub(super) fn beside(survey: &Survey, room: u64, mut used: u64, with_faults_ns: u64) -> Levels {
    let share = |percent: u64| room / 100 * percent;
    let mut least = |most: u64, of: &dyn Fn(&Sizes) -> u64| {
        let mut least = with_faults_ns;
        let mut used_with = used;
        for (group, sizes) in survey.groups.iter().rev() {
            used_with += of(sizes);
            if used_with > most {
                return least;
            }
            least = least.min(*group);
            used = used_with;
        }
        0
    };
    let in_full_ns = least(share(LINES_PERCENT), &|sizes| sizes.line_bytes + sizes.line_stack_bytes);
    let totals = |sizes: &Sizes| (sizes.pauses * TOTALS_BYTES).min(sizes.line_bytes);
    let listed_ns = in_full_ns.min(least(share(TOTALS_PERCENT), &totals));
    Levels { with_faults_ns, in_full_ns, listed_ns }
}

/// From which length on pauses can be kept whole, when not even the few that are known one by one all can.
fn within_the_worst(survey: &Survey, most: u64, most_for_one: u64) -> Option<u64> {
    let mut used = 0;
    let mut above_ns = survey.worst.first()?.ns.saturating_add(1);
    for (number, pause) in survey.worst.iter().enumerate() {
        used += pause.line_bytes + pause.fault_bytes;
        if used > if number == 0 { most_for_one } else { most } {
            // Of those that are equally long none is kept.
            return Some(if above_ns == pause.ns { pause.ns.saturating_add(1) } else { above_ns });
        }
        above_ns = pause.ns;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(groups: &[(u64, u64, u64, u64)]) -> Survey {
        let mut survey = Survey::default();
        for (group, pauses, line_bytes, fault_bytes) in groups {
            let sizes = Sizes {
                pauses: *pauses,
                line_bytes: *line_bytes,
                fault_bytes: *fault_bytes,
                ..Sizes::default()
            };
            survey.groups.insert(*group, sizes);
        }
        survey
    }

    #[test]
    fn the_longest_are_kept_as_far_as_they_fit() {
        let survey = survey(&[
            (10, 1000, 2_000_000, 0),
            (20, 1000, 2_000_000, 5_000),
            (500, 10, 20_000, 40_000),
            (900, 1, 3_000, 9_000),
        ]);
        let levels = |bytes| {
            let Levels { with_faults_ns, in_full_ns, listed_ns } = choose(&survey, bytes, 1_000);
            (with_faults_ns, in_full_ns, listed_ns)
        };
        const NONE: u64 = u64::MAX;
        assert_eq!(levels(10_000_000), (0, 0, 0));
        assert_eq!(levels(4_000_000), (20, 20, 0));
        assert_eq!(levels(2_500_000), (500, 20, 20));
        assert_eq!(levels(1_200_000), (500, 500, 20));
        assert_eq!(levels(500_000), (500, 500, 500));
        assert_eq!(levels(40_000), (900, 500, 500));
        assert_eq!(levels(18_000 + 1_000), (900, 900, 900));
        assert_eq!(levels(10_000), (NONE, 900, 900));
        assert_eq!(levels(2_100), (NONE, NONE, 900));
        assert_eq!(levels(900), (NONE, NONE, NONE));
    }
}
