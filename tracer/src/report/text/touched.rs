//! What the faults touched, and from which devices they read.

use crate::report::model::{ByRegion, DeviceReads, Pause, Place};
use crate::report::units;

use super::clean::shorten;
use super::page::{Page, Tone};
use super::words;

/// How many places are listed unless everything is wanted.
const MOST_PLACES: usize = 3;

/// Places that took less than one in so many of the time in faults are left out unless everything is wanted.
const NOTABLE: u64 = 20;

/// How many devices are listed unless everything is wanted.
const MOST_DEVICES: usize = 4;

pub(super) fn write(page: &mut Page, pause: &Pause) {
    places(page, 2, "touched", &pause.by_region, &pause.places, pause.in_faults_ns);
    let most = page.at_most(MOST_DEVICES);
    for reads in pause.reads.iter().take(most) {
        page.line(Tone::Plain, 2, 4, &device_in_words(reads));
    }
    if pause.reads.len() > most {
        page.line(Tone::Faint, 2, 4, &format!("… {} more", pause.reads.len() - most));
    }
}

/// Regions, and the places in them that took notable parts of the time in faults.
pub(super) fn places(
    page: &mut Page,
    indent: usize,
    title: &str,
    by_region: &ByRegion,
    places: &[Place],
    in_faults_ns: u64,
) {
    if !by_region.is_empty() {
        let regions = format!("{title}: {}", words::region_times(by_region));
        page.line(Tone::Plain, indent, indent + 2, &regions);
    }
    let least_ns = if page.verbose() { 0 } else { in_faults_ns / NOTABLE };
    let most = page.at_most(MOST_PLACES);
    for place in places.iter().filter(|place| place.total.ns >= least_ns).take(most) {
        page.line(Tone::Plain, indent + 2, indent + 4, &place_in_words(place));
    }
}

/// `~runtime_metadata, span sets: 37.1 ms (217)`.
fn place_in_words(place: &Place) -> String {
    let mark = if words::mostly_inferred(place.total) { words::INFERRED } else { "" };
    format!(
        "{mark}{}, {}: {} ({})",
        place.region.word(),
        shorten(&place.what, words::NAME_LENGTH),
        units::duration(place.total.ns),
        units::count(place.total.count),
    )
}

/// `read from vda2 (swap partition): 205 faults, 35.1 ms; 205 requests, 6.41 MiB, 1,435 pages of it read ahead`.
pub(super) fn device_in_words(reads: &DeviceReads) -> String {
    let serves = reads
        .serves
        .as_ref()
        .map_or_else(String::new, |serves| format!(" ({})", shorten(serves, words::NAME_LENGTH)));
    let inferred = match reads.inferred {
        0 => String::new(),
        n => format!(" ({} by inference)", units::count(n)),
    };
    let verb = reads.verb();
    let mut text = format!(
        "{verb} {}{serves}: {}{inferred}, {}",
        shorten(&reads.device, words::NAME_LENGTH),
        units::counted(reads.faults, "fault", "faults"),
        units::duration(reads.ns),
    );
    if let Some(requests) = reads.requests_in_words() {
        text.push_str(&format!("; {requests}"));
    }
    text
}
