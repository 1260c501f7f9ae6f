//! What is tried when the file is full, one after the other, until what is kept is small enough.
//!
//! First the longest pauses that together need no more than some of the file, so that it is not full again soon. When those
//! would be none, the worst one alone, with what is left for lines; then the next one, as the worst one has turned out to be
//! too large. In the end nothing but sums. How many bytes lines will take in the file is an estimate, except for faults
//! that were many: an attempt fails when it comes to more than it may.

use super::{
    choose::{beside, choose},
    levels::{Keeps, Levels},
    survey::{Survey, Worst},
};

/// What is not fixed is brought to this share of its room, in percent, and accepted up to that one.
const AIM_PERCENT: u64 = 40;
const ACCEPTED_PERCENT: u64 = 50;
/// The next attempt has this share of it.
const LESS_PERCENT: u64 = 60;
/// So often. Then nothing is kept but sums.
const ATTEMPTS: u32 = 8;
/// In so many of them, a pause that has not ended and has very many faults is kept; then those are left out.
const KEEPING_OPEN: u32 = 2;
/// Faults of one pause may take this share of the room.
pub(super) const LARGEST_PERCENT: u64 = 90;
/// Attempts with one pause that takes nearly all: the share of what it leaves that lines are brought to, in percent, and up
/// to where the file may be full, in percent of its limit. The rest is for the time until it is full again.
const FOR_ONE: [(u64, u64); 2] = [(AIM_PERCENT, 90), (AIM_PERCENT / 4, 95)];

/// A file that is full.
#[derive(Clone, Copy, Debug)]
pub(super) struct Full {
    /// What the file must not exceed, and what it would have.
    pub(super) most_bytes: u64,
    pub(super) bytes: u64,
    /// Of its lines; of them those that stay, and faults of pauses that have not ended.
    pub(super) line_bytes: u64,
    pub(super) fixed_lines: u64,
    pub(super) open_lines: u64,
}

impl Full {
    /// What the file holds in so many bytes.
    pub(super) fn in_lines(&self, in_file: u64) -> u64 {
        proportional(in_file, self.line_bytes, self.bytes)
    }

    fn in_file(&self, in_lines: u64) -> u64 {
        proportional(in_lines, self.bytes, self.line_bytes)
    }
}

fn proportional(part: u64, other_whole: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(part) * u128::from(other_whole) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) keeps: Keeps,
    /// A pause that has not ended is not kept when its faults are too many to wait for its end.
    pub(super) drops_open: bool,
    /// With more than this it has failed.
    pub(super) most_bytes: u64,
}

/// All attempts.
#[derive(Debug)]
pub(super) struct Attempts<'a> {
    survey: &'a Survey,
    full: Full,
    before: Keeps,
    tried: u32,
    aim_percent: u64,
    alone: Option<Alone>,
    /// Faults that take as much have turned out to be too many: of any pause, and of one of which the size is known.
    not_bytes: u64,
    too_large_bytes: u64,
}

/// The pause that was kept alone in the last attempts.
#[derive(Clone, Copy, Debug)]
struct Alone {
    bytes: u64,
    is_known: bool,
    tried: usize,
}

impl<'a> Attempts<'a> {
    /// `before`: what was kept before: what is gone stays gone. `too_large_bytes`: faults that take as much were not
    /// possible before.
    pub(super) fn new(survey: &'a Survey, full: Full, before: Keeps, too_large_bytes: u64) -> Self {
        Self {
            survey,
            full,
            before,
            tried: 0,
            aim_percent: AIM_PERCENT,
            alone: None,
            not_bytes: too_large_bytes,
            too_large_bytes,
        }
    }

    /// Faults that take as much as this have turned out to be too many.
    pub(super) fn too_large_bytes(&self) -> u64 {
        self.too_large_bytes
    }

    /// The longest pause of which there are faults that may stay, what they take, and the length above which pauses are
    /// whole if it is the only one.
    fn worst(&self, largest_bytes: u64) -> Option<(&'a Worst, u64, u64)> {
        let mut above_ns = None;
        for worst in self.survey.worst.iter().filter(|worst| worst.fault_bytes > 0) {
            let bytes = worst.file_bytes.unwrap_or_else(|| self.full.in_file(worst.fault_bytes));
            if bytes <= largest_bytes {
                return Some((worst, bytes, above_ns.unwrap_or(worst.ns).saturating_add(1)));
            }
            // Those that are larger are left out for their size, where that is known.
            if worst.file_bytes.is_none() {
                above_ns.get_or_insert(worst.ns);
            }
        }
        None
    }

    /// Never above what the longest pause has, so that one that is still longer has its chance.
    fn not_above_all(&self, levels: Levels) -> Levels {
        let Some(longest) = self.survey.worst.first() else { return levels };
        let above = Levels::above(longest.ns);
        Levels {
            with_faults_ns: levels.with_faults_ns.min(above.with_faults_ns),
            in_full_ns: levels.in_full_ns.min(above.in_full_ns),
            listed_ns: levels.listed_ns.min(above.listed_ns),
        }
    }

    fn after_what_was(&self, levels: Levels) -> Levels {
        let before = self.before.levels;
        Levels {
            with_faults_ns: levels.with_faults_ns.max(before.with_faults_ns),
            in_full_ns: levels.in_full_ns.max(before.in_full_ns),
            listed_ns: levels.listed_ns.max(before.listed_ns),
        }
    }

    fn attempt(&mut self) -> Attempt {
        let full = self.full;
        let fixed = full.in_file(full.fixed_lines).min(full.most_bytes);
        let room = full.most_bytes - fixed;
        let largest_bytes = (room / 100 * LARGEST_PERCENT).min(self.not_bytes.saturating_sub(1));
        let aim = room / 100 * self.aim_percent;
        let worst = self.worst(largest_bytes);
        let drops_open = self.tried > KEEPING_OPEN;
        let open = if drops_open { 0 } else { full.open_lines };
        let levels = choose(self.survey, full.in_lines(fixed + aim), full.fixed_lines + open);
        let alone = worst.filter(|(worst, _, _)| levels.with_faults_ns > worst.ns);
        let tried = self.alone.take().map_or(0, |alone| alone.tried);
        let attempt = |levels, one, drops_open, most_bytes| {
            let levels = self.after_what_was(self.not_above_all(levels));
            Attempt { keeps: Keeps { levels, one, largest_bytes }, drops_open, most_bytes }
        };
        let Some((worst, bytes, above_ns)) = alone else {
            let one = worst.map(|(worst, _, _)| worst.key);
            let most_bytes = fixed + room / 100 * ACCEPTED_PERCENT;
            return attempt(levels, one, drops_open, most_bytes);
        };
        let stacks: u64 = self
            .survey
            .groups
            .range(Survey::group(Some(worst.ns))..)
            .map(|(_, sizes)| sizes.fault_stack_bytes)
            .sum();
        let kept = bytes + full.in_file(stacks + open);
        let rest = room.saturating_sub(kept);
        let (aim_percent, full_percent) = FOR_ONE[tried.min(FOR_ONE.len() - 1)];
        // What is known to be wanted goes before what is open.
        let drops_open = drops_open || tried > 0;
        let levels = beside(self.survey, full.in_lines(rest / 100 * aim_percent), 0, above_ns);
        let attempt = attempt(levels, Some(worst.key), drops_open, full.most_bytes / 100 * full_percent);
        self.alone = Some(Alone { bytes, is_known: worst.file_bytes.is_some(), tried: tried + 1 });
        attempt
    }

    /// The last attempt has failed.
    fn failed(&mut self) {
        match self.alone {
            None => self.aim_percent = self.aim_percent * LESS_PERCENT / 100,
            Some(alone) if alone.tried == FOR_ONE.len() => {
                self.not_bytes = alone.bytes;
                if alone.is_known {
                    self.too_large_bytes = alone.bytes;
                }
                self.alone = None;
            }
            Some(_) => {}
        }
    }
}

impl Iterator for Attempts<'_> {
    type Item = Attempt;

    fn next(&mut self) -> Option<Attempt> {
        if self.tried > 0 {
            self.failed();
        }
        self.tried += 1;
        match self.tried {
            ..=ATTEMPTS => Some(self.attempt()),
            tried if tried == ATTEMPTS + 1 => {
                let levels = Levels::above(self.survey.worst.first().map_or(0, |worst| worst.ns));
                let levels = self.after_what_was(levels);
                let keeps = Keeps { levels, one: None, largest_bytes: self.before.largest_bytes };
                Some(Attempt { keeps, drops_open: true, most_bytes: self.full.most_bytes })
            }
            _ => None,
        }
    }
}
