//! Which memory the faults of the worst pause touched, as evidence.

use crate::report::model::{KindTotal, Place, Region};
use crate::report::units;

use super::basis::Basis;
use super::kind_rule::mostly_inferred;
use super::thresholds::{NOTABLE_PERCENT, at_least};

/// How many places are named.
const MOST_PLACES: usize = 2;

/// The region that took most of the worst pause's time in faults, when one did.
pub(super) fn main_region(basis: &Basis<'_>) -> Option<(Region, KindTotal)> {
    let (region, total) = basis.worst.by_region.iter().max_by_key(|(_, total)| total.ns)?;
    let known = *region != Region::Unknown && total.ns > basis.worst.in_faults_ns / 2;
    known.then_some((*region, *total))
}

/// The main region, and the places that took a part worth naming.
pub(super) fn evidence(basis: &Basis<'_>) -> Vec<String> {
    let in_faults_ns = basis.worst.in_faults_ns;
    let region = main_region(basis).map(|(region, total)| {
        let inferred = if mostly_inferred(total) { " (inferred from the memory's layout)" } else { "" };
        format!(
            "{} of the time in faults was on {}{inferred}",
            units::share(total.ns, in_faults_ns),
            region.words()
        )
    });
    let places = basis
        .worst
        .places
        .iter()
        .filter(|place| at_least(place.total.ns, NOTABLE_PERCENT, in_faults_ns))
        .take(MOST_PLACES)
        .map(place);
    region.into_iter().chain(places).collect()
}

fn place(place: &Place) -> String {
    let inferred = if mostly_inferred(place.total) { " (inferred)" } else { "" };
    format!(
        "{} took {} in {}: {}{inferred}",
        units::counted(place.total.count, "fault", "faults"),
        units::duration(place.total.ns),
        place.region.words(),
        place.what
    )
}
