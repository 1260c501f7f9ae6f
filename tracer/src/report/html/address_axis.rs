//! An axis for addresses: what was touched is spread over 47 bits, in a few places. Places far from each other become
//! segments, one above the other; what lies between them takes no room.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::model::Region;

/// Pages to one chunk, as a power of two: 2 MiB.
pub(super) const CHUNK_PAGES_LOG2: u32 = 9;

/// At most so many segments.
const MOST_SEGMENTS: usize = 14;

/// The first gap, in chunks, that parts two segments: 64 MiB. Doubled until there are few enough.
const LEAST_GAP: u64 = 32;

/// Each segment gets so much of the axis whatever its size, as a share of an even split.
const EVEN_SHARE: f64 = 0.5;

/// What was touched in one chunk.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// How many faults.
    pub(super) count: u64,
    /// The lowest page.
    pub(super) least_page: u64,
    /// The highest page.
    pub(super) most_page: u64,
    /// Faults by region.
    pub(super) regions: BTreeMap<Region, u64>,
}

/// A part of the axis without large gaps.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(super) struct Segment {
    /// First page (an address divided by 4096).
    pub(super) first_page: u64,
    /// Last page.
    pub(super) last_page: u64,
    /// Where it begins, from 0 (lowest address) to 1.
    pub(super) from: f64,
    /// Where it ends.
    pub(super) to: f64,
    /// The region of most of its faults.
    pub(super) region: Region,
    /// How many faults.
    pub(super) count: u64,
}

/// Lays out the axis.
pub(super) fn segments(chunks: &BTreeMap<u64, Chunk>) -> Vec<Segment> {
    let keys: Vec<u64> = chunks.keys().copied().collect();
    let mut gap = LEAST_GAP;
    while keys.windows(2).filter(|pair| pair[1] - pair[0] > gap).count() >= MOST_SEGMENTS {
        gap *= 2;
    }
    let mut segments: Vec<(Segment, BTreeMap<Region, u64>)> = Vec::new();
    let mut last_key = None;
    for (&key, chunk) in chunks {
        let goes_on = last_key.is_some_and(|last| key - last <= gap);
        last_key = Some(key);
        match segments.last_mut().filter(|_| goes_on) {
            Some((segment, regions)) => {
                segment.last_page = segment.last_page.max(chunk.most_page);
                segment.count += chunk.count;
                for (region, count) in &chunk.regions {
                    *regions.entry(*region).or_default() += count;
                }
            }
            None => segments.push((
                Segment {
                    first_page: chunk.least_page,
                    last_page: chunk.most_page,
                    from: 0.0,
                    to: 0.0,
                    region: Region::Unknown,
                    count: chunk.count,
                },
                chunk.regions.clone(),
            )),
        }
    }
    // Room by the root of the size: a heap does not push everything else out of sight.
    let weight = |segment: &Segment| ((segment.last_page - segment.first_page + 1) as f64).sqrt();
    let sum: f64 = segments.iter().map(|(segment, _)| weight(segment)).sum();
    let even = EVEN_SHARE / segments.len().max(1) as f64;
    let mut at = 0.0;
    for (segment, regions) in &mut segments {
        segment.from = at;
        at += even + (1.0 - EVEN_SHARE) * weight(segment) / sum;
        segment.to = at.min(1.0);
        segment.region =
            regions.iter().max_by_key(|(_, count)| **count).map_or(Region::Unknown, |(region, _)| *region);
    }
    segments.into_iter().map(|(segment, _)| segment).collect()
}

/// Where a page is on the axis.
pub(super) fn place(segments: &[Segment], page: u64) -> f64 {
    let Some(segment) =
        segments.iter().rev().find(|segment| page >= segment.first_page).or_else(|| segments.first())
    else {
        return 0.0;
    };
    let pages = (segment.last_page - segment.first_page + 1) as f64;
    let within = (page.clamp(segment.first_page, segment.last_page) - segment.first_page) as f64 + 0.5;
    segment.from + (segment.to - segment.from) * within / pages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(keys: impl IntoIterator<Item = u64>) -> BTreeMap<u64, Chunk> {
        let chunk = |key: u64| Chunk {
            count: 2,
            least_page: key << CHUNK_PAGES_LOG2,
            most_page: (key << CHUNK_PAGES_LOG2) + 3,
            regions: [(Region::Binary, 2)].into(),
        };
        keys.into_iter().map(|key| (key, chunk(key))).collect()
    }

    #[test]
    fn far_places_are_segments_in_order() {
        let axis = segments(&chunks([5, 6, 7, 500_000, 60_000_000]));
        assert_eq!(axis.len(), 3);
        assert_eq!((axis[0].count, axis[0].region), (6, Region::Binary));
        assert!(axis.windows(2).all(|pair| pair[0].to <= pair[1].from + 1e-9));
        assert!((axis[2].to - 1.0).abs() < 1e-9, "{axis:?}");
        let places: Vec<f64> = [5, 7, 500_000, 60_000_000]
            .into_iter()
            .map(|key: u64| place(&axis, key << CHUNK_PAGES_LOG2))
            .collect();
        assert!(places.is_sorted() && places.iter().all(|place| (0.0..=1.0).contains(place)), "{places:?}");
    }

    #[test]
    fn there_are_never_too_many() {
        let axis = segments(&chunks((0..5_000).map(|n| n * (40 + n))));
        assert!(!axis.is_empty() && axis.len() <= MOST_SEGMENTS, "{}", axis.len());
        assert!(segments(&BTreeMap::new()).is_empty());
        assert_eq!(place(&[], 7), 0.0);
    }
}
