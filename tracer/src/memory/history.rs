//! The map of a process as it was read over time: a fault is looked up in the map as it was at the fault.

use std::collections::VecDeque;

use super::region::Placed;
use crate::target::Mapping;

/// Maps that are kept; details come in soon after the faults.
const KEPT: usize = 16;
/// And mappings in all of them, for processes with very many.
const MAPPINGS_KEPT: usize = 1 << 18;

/// From when to when something lasted, `CLOCK_MONOTONIC` in ns.
pub(super) type Span = (u64, u64);

/// A map that was the same in all readings between two times.
#[derive(Debug, Default)]
pub(super) struct Version {
    /// The end of the first reading: what lasted until then or begins later was there.
    first_ns: u64,
    /// The begin of the last reading.
    last_ns: u64,
    pub(super) mappings: Vec<Mapping>,
    /// Each mapping's place, once it was asked for.
    pub(super) placed: Vec<Option<Placed>>,
}

/// The map over time; the newest last.
#[derive(Debug, Default)]
pub(super) struct History {
    versions: VecDeque<Version>,
}

/// Which mapping held an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Which map.
    pub(super) version: usize,
    /// Which mapping in it; `None`: none.
    pub(super) mapping: Option<usize>,
    /// Whether the maps before and after agree on it.
    pub(super) certain: bool,
}

impl History {
    /// One map that is right at all times.
    pub(super) fn of(mappings: Vec<Mapping>) -> Self {
        let version =
            Version { first_ns: 0, last_ns: u64::MAX, placed: vec![None; mappings.len()], mappings };
        Self { versions: VecDeque::from([version]) }
    }

    /// The newest map.
    pub(super) fn latest(&self) -> &[Mapping] {
        self.versions.back().map_or(&[], |version| &version.mappings)
    }

    pub(super) fn latest_mut(&mut self) -> Option<&mut Version> {
        self.versions.back_mut()
    }

    pub(super) fn version_mut(&mut self, index: usize) -> Option<&mut Version> {
        self.versions.get_mut(index)
    }

    /// When the newest map was still seen, in ns.
    pub(super) fn read_ns(&self) -> u64 {
        self.versions.back().map_or(0, |version| version.last_ns)
    }

    /// Takes a map that was read between these times. Whether it differs from the one before.
    pub(super) fn take(&mut self, mappings: Vec<Mapping>, (begin_ns, end_ns): Span) -> bool {
        if let Some(latest) = self.versions.back_mut()
            && latest.mappings == mappings
        {
            latest.last_ns = begin_ns;
            return false;
        }
        let placed = vec![None; mappings.len()];
        self.versions.push_back(Version { first_ns: end_ns, last_ns: begin_ns, mappings, placed });
        let all = |versions: &VecDeque<Version>| {
            versions.iter().map(|version| version.mappings.len()).sum::<usize>()
        };
        while self.versions.len() > KEPT || (self.versions.len() > 2 && all(&self.versions) > MAPPINGS_KEPT) {
            self.versions.pop_front();
        }
        true
    }

    /// The mapping that held the address at that time: in the map that was seen before and after it, or in the two maps
    /// around it. Where they differ it is the one that has a mapping there (it was there when the fault was; before, or
    /// after), or else the later one.
    pub(super) fn at(&self, address: u64, (begin_ns, end_ns): Span) -> Option<Found> {
        let before = self.versions.iter().rposition(|version| version.first_ns <= begin_ns);
        let after = self.versions.iter().position(|version| version.last_ns >= end_ns);
        let found = |version: usize, certain| {
            let mapping = position(&self.versions.get(version)?.mappings, address);
            Some(Found { version, mapping, certain })
        };
        match (before, after) {
            (Some(before), Some(after)) if before == after => found(before, true),
            (Some(before), Some(after)) => {
                let (then, now) = (found(before, false)?, found(after, false)?);
                if same(self.mapping(then), self.mapping(now)) {
                    return Some(Found { certain: true, ..now });
                }
                Some(if now.mapping.is_none() && then.mapping.is_some() { then } else { now })
            }
            // The process has ended, or the map is read less often than it changes.
            (before, after) => found(after.or(before.map(|_| self.versions.len() - 1)).unwrap_or(0), false),
        }
    }

    /// The mapping that holds the address in the newest map.
    pub(super) fn now(&self, address: u64) -> Option<Found> {
        let version = self.versions.len().checked_sub(1)?;
        Some(Found { version, mapping: position(self.latest(), address), certain: true })
    }

    pub(super) fn mapping(&self, found: Found) -> Option<&Mapping> {
        self.versions.get(found.version)?.mappings.get(found.mapping?)
    }
}

/// Which mapping holds the address, of mappings in order.
pub(super) fn position(mappings: &[Mapping], address: u64) -> Option<usize> {
    let index = mappings.partition_point(|mapping| mapping.end <= address);
    mappings.get(index).is_some_and(|mapping| mapping.contains(address)).then_some(index)
}

/// Whether it is still the same memory; it may have grown, or have been cut at an end.
fn same(before: Option<&Mapping>, now: Option<&Mapping>) -> bool {
    let file_begin = |mapping: &Mapping| mapping.start.wrapping_sub(mapping.offset_bytes);
    match (before, now) {
        (Some(before), Some(now)) => {
            (before.backing, &before.file, &before.name) == (now.backing, &now.file, &now.name)
                && if now.is_file() {
                    file_begin(before) == file_begin(now)
                } else {
                    before.start == now.start
                }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::parse_maps;

    const A: &[u8] = b"1000-2000 rw-p 0 fe:0 7 /a\n3000-4000 rw-p 0 0:0 0\n5000-6000 rw-p 0 fe:0 8 /b\n";
    const B: &[u8] = b"1000-2000 rw-p 0 0:0 0\n3000-8000 rw-p 0 0:0 0\n9000-a000 rw-p 0 fe:0 9 /c\n";

    /// A was seen from 10 to 40, B from 61 to 80.
    fn history() -> History {
        let mut history = History::default();
        for (text, read, differs) in [
            (A, (9, 10), true),
            (A, (20, 21), false),
            (A, (40, 41), false),
            (B, (60, 61), true),
            (B, (80, 81), false),
        ] {
            assert_eq!(history.take(parse_maps(text), read), differs);
        }
        history
    }

    fn named(history: &History, address: u64, span: Span) -> (Option<&str>, bool) {
        let found = history.at(address, span).unwrap();
        (history.mapping(found).and_then(|mapping| mapping.name.to_str()), found.certain)
    }

    #[test]
    fn a_fault_is_looked_up_in_the_map_of_its_time() {
        let history = history();
        let table = [
            // While A was seen, and while B was.
            (0x1000, (15, 16), Some("/a"), true),
            (0x1000, (10, 40), Some("/a"), true),
            (0x1000, (65, 80), Some(""), true),
            (0x9000, (15, 16), None, true),
            // Between them: what is the same in both is certain, and so is what has grown.
            (0x3000, (45, 50), Some(""), true),
            (0x1000, (45, 50), Some(""), false),
            // It has come, or it has gone; it was there when there was a fault.
            (0x9000, (45, 50), Some("/c"), false),
            (0x5000, (45, 50), Some(""), false),
            (0x5000, (15, 50), Some(""), false),
            // After the last reading, and before the first.
            (0x3000, (75, 90), Some(""), false),
            (0x3000, (5, 12), Some(""), false),
            (0x9000, (90, 91), Some("/c"), false),
        ];
        for (address, span, name, certain) in table {
            assert_eq!(named(&history, address, span), (name, certain), "{address:#x} {span:?}");
        }
    }

    #[test]
    fn what_has_gone_is_looked_up_where_it_was() {
        let mut history = History::default();
        history.take(parse_maps(A), (9, 10));
        history.take(parse_maps(b"1000-2000 rw-p 0 fe:0 7 /a\n"), (30, 31));
        assert_eq!(named(&history, 0x5000, (15, 16)), (Some("/b"), false));
        assert_eq!(named(&history, 0x1000, (15, 16)), (Some("/a"), true));
    }

    #[test]
    fn a_file_that_was_mapped_anew_elsewhere_is_another_mapping() {
        let then = parse_maps(b"1000-3000 r--p 1000 fe:0 7 /a\n");
        for (now, expected) in [
            (&b"1000-2000 r--p 1000 fe:0 7 /a\n"[..], true),
            (b"2000-4000 r--p 2000 fe:0 7 /a\n", true),
            (b"1000-3000 r--p 2000 fe:0 7 /a\n", false),
            (b"1000-3000 r--p 1000 fe:0 8 /a\n", false),
        ] {
            let now = parse_maps(now);
            assert_eq!(same(then.first(), now.first()), expected, "{now:?}");
        }
    }

    #[test]
    fn old_maps_are_given_up() {
        let mut history = History::default();
        for number in 0..100_u64 {
            let text = format!("1000-{:x} rw-p 0 0:0 0\n", 0x2000 + number * 0x1000);
            history.take(parse_maps(text.as_bytes()), (number * 10, number * 10 + 1));
        }
        assert_eq!(history.versions.len(), KEPT);
        assert_eq!(history.latest()[0].end, 0x2000 + 99 * 0x1000);
        assert!(!history.at(0x1000, (5, 6)).unwrap().certain, "the map of that time is gone");
    }
}
