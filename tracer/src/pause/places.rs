//! What the driver's faults of one pause touched, added up by place, in bounded memory.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::kind::KindCount;
use crate::memory::{Placed, Region};

/// Places kept of one pause; further ones are added up, for each region under one name.
const KEPT: usize = 256;
/// That name.
const FURTHER: &str = "[further places, added up]";
/// In place of a place, for faults whose details were dropped.
const DROPPED: &str = "[details dropped]";
/// Offsets are given in these steps.
const PAGE_BYTES: u64 = 4096;

/// From the first page to the end of the last one, in bytes from a file's begin.
type Offsets = (u64, u64);

/// Faults at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceTotal {
    /// What it belongs to.
    pub region: Region,
    /// What it is within that.
    pub what: Arc<str>,
    /// In a file: the offsets in bytes from the first page that was touched to the end of the last one.
    pub offsets: Option<Offsets>,
    /// The faults.
    pub total: KindCount,
}

/// The places of one pause so far.
#[derive(Debug, Default)]
pub(super) struct Places {
    places: HashMap<(Region, Arc<str>), (KindCount, Option<Offsets>)>,
}

impl Places {
    pub(super) fn add(&mut self, placed: &Placed, ns: u64) {
        let mut key = (placed.region, Arc::clone(&placed.what));
        let mut page = placed.offset_bytes.map(|offset| offset - offset % PAGE_BYTES);
        if self.places.len() >= KEPT && !self.places.contains_key(&key) {
            key.1 = FURTHER.into();
            page = None;
        }
        let (total, offsets) = self.places.entry(key).or_default();
        total.count += 1;
        total.ns += ns;
        total.inferred += u64::from(placed.inferred);
        if let Some(page) = page {
            let (from, to) = offsets.unwrap_or((page, page));
            *offsets = Some((from.min(page), to.max(page.saturating_add(PAGE_BYTES))));
        }
    }

    /// All places, most time first; each region's add up to its total. What the details don't tell is unknown.
    pub(super) fn finish(self, by_region: &BTreeMap<Region, KindCount>) -> Vec<PlaceTotal> {
        let places = self.places.into_iter();
        let mut places: Vec<PlaceTotal> = places
            .map(|((region, what), (total, offsets))| PlaceTotal { region, what, offsets, total })
            .collect();
        let unknown = by_region.get(&Region::Unknown).copied().unwrap_or_default();
        let known = places.iter().filter(|place| place.region == Region::Unknown);
        let (count, ns) =
            known.fold((0, 0), |(count, ns), place| (count + place.total.count, ns + place.total.ns));
        if unknown.count > count {
            let total =
                KindCount { count: unknown.count - count, ns: unknown.ns.saturating_sub(ns), inferred: 0 };
            places.push(PlaceTotal { region: Region::Unknown, what: DROPPED.into(), offsets: None, total });
        }
        places.sort_by(|a, b| (b.total.ns, a.region, &a.what).cmp(&(a.total.ns, b.region, &b.what)));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(region: Region, what: &str, offset_bytes: Option<u64>) -> Placed {
        Placed { region, what: what.into(), offset_bytes, inferred: offset_bytes.is_none() }
    }

    #[test]
    fn places_add_up_to_their_regions_whatever_their_number() {
        let mut places = Places::default();
        let mut by_region: BTreeMap<Region, KindCount> = BTreeMap::new();
        for number in 0..1000_u64 {
            let region = if number % 3 == 0 { Region::MappedFile } else { Region::Library };
            let placed = placed(region, &format!("/file{}", number % 500), Some(number * 4096 + 5));
            places.add(&placed, number);
            let total = by_region.entry(region).or_default();
            total.count += 1;
            total.ns += number;
        }
        let dropped = KindCount { count: 7, ns: 70, inferred: 0 };
        by_region.insert(Region::Unknown, dropped);
        let places = places.finish(&by_region);
        assert!(places.len() <= KEPT + 3, "{}", places.len());
        assert!(places.is_sorted_by_key(|place| std::cmp::Reverse(place.total.ns)));
        for (region, total) in &by_region {
            let of_region = places.iter().filter(|place| place.region == *region);
            let sums =
                of_region.fold((0, 0), |(count, ns), place| (count + place.total.count, ns + place.total.ns));
            assert_eq!(sums, (total.count, total.ns), "{region:?}");
        }
        let further = places.iter().filter(|place| &*place.what == FURTHER).count();
        assert_eq!(further, 2);
        assert_eq!(
            places.iter().find(|place| &*place.what == DROPPED).map(|place| place.total),
            Some(dropped)
        );
    }

    #[test]
    fn offsets_span_the_pages_that_were_touched() {
        let mut places = Places::default();
        for offset in [0x5010, 0x3fff, 0x9000] {
            places.add(&placed(Region::Library, "/lib/a.so", Some(offset)), 1);
        }
        places.add(&placed(Region::RuntimeHeap, "heap arenas", None), 5);
        let places = places.finish(&BTreeMap::new());
        assert_eq!(places[0].offsets, None);
        assert_eq!((places[0].total.inferred, places[1].total.inferred), (1, 0));
        assert_eq!((places[1].offsets, places[1].total.count), (Some((0x3000, 0xa000)), 3));
    }
}
